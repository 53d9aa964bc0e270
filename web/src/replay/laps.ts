/**
 * Laps, sectors, and the difference in time between two runs.
 *
 * The position of a car is the position of its front along the centre line, because the judging
 * scripts of the shipped worlds also end a lap with the front of the car. The first lap starts when
 * the car starts to move, as in those scripts. Each lap has three sectors of equal length.
 */
import type { CarTrack } from "../net/tracks.ts";
import { indexAt } from "../scene/run-poses.ts";
import type { RouteLines } from "../wire/sim.ts";

export const SECTORS = 3;
/** A car that is farther than this from its start has started to move. */
const MOVED_M = 0.03;
/**
 * A run that ends at most this far before the end of a lap has completed the lap. The last sample
 * of the run can be just before that point, because the computed position of the front is exact
 * only if the car is parallel to the centre line.
 */
const AT_LINE_M = 0.05;
/** An incomplete lap is listed if the car drove at least this fraction of it. */
const LISTED_PART = 0.02;

/** The facts about the route that laps need, in metres. */
export interface LapRoute {
  length: number;
  /** Whether the road is a loop. */
  closed: boolean;
  /** Distance from the car's pose to its front. */
  front: number;
}

/** Times in simulated seconds. */
export interface Lap {
  /** Number of the lap, from 1. */
  number: number;
  start: number;
  /** Duration of each sector; null if the car did not complete it. */
  sectors: (number | null)[];
  /** Duration of the lap; null if the car did not complete it. */
  time: number | null;
}

/**
 * The route of a world; null if it has none. `front` is the distance from the car's pose to its
 * front.
 */
export function lapRoute(route: RouteLines | null | undefined, front: number): LapRoute | null {
  const points = route?.waypoints ?? [];
  let length = 0;
  for (let i = 1; i < points.length; i++) {
    // The last point of a road that is not a loop only closes the list of points.
    if (i === points.length - 1 && !route?.closed) break;
    length += Math.hypot(points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1]);
  }
  return route && length > 0 ? { length, closed: route.closed, front } : null;
}

/** The progress of a car along the route. */
export class Progress {
  /** Simulated time at which the car starts to move; null if it never does. */
  readonly start: number | null;
  /** The farthest position up to each sample: metres from the start line, counted over all laps. */
  readonly farthest: Float64Array;

  constructor(
    readonly car: CarTrack,
    readonly route: LapRoute,
  ) {
    this.start = startOf(car);
    this.farthest = farthestOf(car, route);
  }

  /** The farthest position up to a time. */
  at(time: number): number {
    const i = indexAt(this.car.time, time);
    const [a, b] = [this.farthest[i], this.farthest[i + 1] ?? this.farthest[i]];
    const span = (this.car.time[i + 1] ?? time) - this.car.time[i];
    return span > 0 ? a + (b - a) * Math.min(1, (time - this.car.time[i]) / span) : a;
  }

  /** The time at which the car first was at a position; null if it never got there. */
  timeAt(position: number): number | null {
    const { farthest, car } = this;
    let [low, high] = [0, farthest.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (farthest[middle] >= position) high = middle;
      else low = middle + 1;
    }
    if (low === farthest.length) return null;
    if (low === 0) return car.time[0];
    const step = farthest[low] - farthest[low - 1];
    return car.time[low - 1] + ((position - farthest[low - 1]) / step) * (car.time[low] - car.time[low - 1]);
  }
}

function startOf({ time, x, y }: CarTrack): number | null {
  const i = time.findIndex((_, i) => Math.hypot(x[i] - x[0], y[i] - y[0]) > MOVED_M);
  return i < 0 ? null : time[i];
}

function farthestOf({ along }: CarTrack, { length, closed, front }: LapRoute): Float64Array {
  const farthest = new Float64Array(along.length);
  const first = along.find((value) => !Number.isNaN(value)) ?? 0;
  let before = first;
  // On a loop, a car shortly before the start line has a position near the length of the loop. It
  // has not driven that far, so the position becomes negative.
  let position = closed && first > length / 2 ? first - length + front : first + front;
  let most = position;
  along.forEach((now, i) => {
    if (!Number.isNaN(now)) {
      let step = now - before;
      if (closed) step -= length * Math.round(step / length);
      position += step;
      before = now;
    }
    most = Math.max(most, position);
    farthest[i] = most;
  });
  return farthest;
}

/** The laps of a run, in order. The last one may be incomplete. */
export function lapsOf(progress: Progress): Lap[] {
  const { start, farthest, route, car } = progress;
  if (start === null) return [];
  const laps: Lap[] = [];
  const end = farthest[farthest.length - 1];
  for (let lap = 0; end >= (lap + LISTED_PART) * route.length; lap++) {
    if (!route.closed && lap > 0) break;
    const from: number = lap === 0 ? start : (passed(lap) ?? start);
    const times = [from, ...Array.from({ length: SECTORS }, (_, i) => passed(lap + (i + 1) / SECTORS))];
    laps.push({
      number: lap + 1,
      start: from,
      sectors: Array.from({ length: SECTORS }, (_, i) => difference(times[i + 1], times[i])),
      time: difference(times[SECTORS], from),
    });
    if (times[SECTORS] === null) break;
  }
  return laps;

  /**
   * Time of the first sample at or after a position, which is given in laps. Null if the car never
   * passed the position, or if it was already there at the start. Samples are not interpolated,
   * because a judging script also sees only samples.
   */
  function passed(position: number): number | null {
    const metres = position * route.length;
    if (farthest[0] >= metres) return null;
    const i = farthest.findIndex((value) => value >= metres);
    if (i >= 0) return car.time[i];
    const atLine = Number.isInteger(position) && end >= metres - AT_LINE_M;
    return atLine ? car.time[car.time.length - 1] : null;
  }
}

function difference(to: number | null, from: number | null): number | null {
  return to === null || from === null ? null : to - from;
}

/**
 * The time difference between two runs at `time`: the time of `run` since its start, minus the
 * time that `other` needed to get as far. Negative if `run` is ahead. Null before the start of
 * `run`, if a run never starts, or if `other` never gets as far.
 */
export function gapAt(run: Progress, other: Progress, time: number): number | null {
  if (run.start === null || other.start === null || time < run.start) return null;
  const there = other.timeAt(run.at(time));
  return there === null ? null : time - run.start - Math.max(0, there - other.start);
}

/** The gap at every sample of a run; NaN where there is none. */
export function gapsOf(run: Progress, other: Progress): Float32Array {
  return Float32Array.from(run.car.time, (time) => gapAt(run, other, time) ?? Number.NaN);
}
