/** Colours of the driven line by speed: from blue (slow) over red to yellow (fast). */
import type { CarTrack } from "../net/tracks.ts";

/**
 * Colours at equal distances. Their lightness increases, so the order is visible without colours
 * too.
 */
const STOPS: readonly (readonly [number, number, number])[] = [
  [79, 110, 247],
  [154, 92, 222],
  [226, 86, 142],
  [248, 142, 74],
  [255, 224, 92],
];
/**
 * Smallest range of the scale. With a smaller range, the noise of a constant speed would be
 * visible.
 */
const MIN_SPAN_MPS = 0.4;
/** Number of steps from the colour of the slowest part of a line to that of the fastest part. */
const COLOURS = 24;
/** A line has at most about this many points. */
const MAX_POINTS = 6000;
const MIN_STEP_M = 0.01;

/** Range of speeds, in m/s. */
export interface SpeedScale {
  low: number;
  high: number;
}

/** A part of the line in one colour. */
export interface LinePart {
  colour: string;
  points: [number, number][];
}

/** The colour of a fraction from 0 (slow) to 1 (fast). */
export function speedColour(fraction: number): string {
  const at = Math.min(1, Math.max(0, fraction)) * (STOPS.length - 1);
  const i = Math.min(STOPS.length - 2, Math.floor(at));
  const channel = (c: 0 | 1 | 2) => Math.round(STOPS[i][c] + (at - i) * (STOPS[i + 1][c] - STOPS[i][c]));
  return `rgb(${channel(0)}, ${channel(1)}, ${channel(2)})`;
}

/** The scale of a run: from the 5th to the 98th percentile of its speeds while it moves. */
export function speedScale(speeds: ArrayLike<number>): SpeedScale {
  const moving = Array.from(speeds, Math.abs).filter((speed) => speed > 0.02).sort((a, b) => a - b);
  if (moving.length === 0) return { low: 0, high: MIN_SPAN_MPS };
  const at = (part: number) => moving[Math.round(part * (moving.length - 1))];
  const high = Math.ceil(10 * at(0.98)) / 10;
  const low = Math.min(Math.floor(10 * at(0.05)) / 10, high - MIN_SPAN_MPS);
  return low < 0 ? { low: 0, high: Math.max(high, MIN_SPAN_MPS) } : { low, high };
}

/** Splits the driven line into parts of one colour. A teleport interrupts the line. */
export function colouredLine(car: CarTrack, jumps: readonly number[], scale: SpeedScale): LinePart[] {
  const step = Math.max(MIN_STEP_M, lengthOf(car) / MAX_POINTS);
  const colourOf = (i: number) => {
    const fraction = (Math.abs(car.speed[i]) - scale.low) / (scale.high - scale.low);
    return speedColour(Math.round(fraction * COLOURS) / COLOURS);
  };
  const parts: LinePart[] = [];
  let part: LinePart | null = null;
  let nextJump = 0;
  let last = 0;
  for (let i = 0; i < car.time.length; i++) {
    let jumped = false;
    // A teleport takes place at a tick. The first sample at or after it has the new position.
    while (nextJump < jumps.length && jumps[nextJump] <= car.time[i]) {
      nextJump++;
      jumped = true;
    }
    const far = Math.hypot(car.x[i] - car.x[last], car.y[i] - car.y[last]);
    if (jumped && far > 0.1) part = null;
    else if (part && far < step && i < car.time.length - 1) continue;
    const colour = colourOf(i);
    if (!part || part.colour !== colour) {
      // The new part starts where the old one ends, so that the line has no gap.
      const from: [number, number][] = part ? [[car.x[last], car.y[last]]] : [];
      part = { colour, points: from };
      parts.push(part);
    }
    part.points.push([car.x[i], car.y[i]]);
    last = i;
  }
  return parts;
}

function lengthOf({ x, y }: CarTrack): number {
  let length = 0;
  for (let i = 1; i < x.length; i++) length += Math.hypot(x[i] - x[i - 1], y[i] - y[i - 1]);
  return length;
}
