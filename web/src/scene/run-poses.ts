/** Poses and values of a recorded run at any moment. */
import type { CarColumn, PoseColumns, RunTracks } from "../net/tracks.ts";
import type { LightState, Pose } from "../wire/sim.ts";
import { interpolate, wrap } from "./playback.ts";

/**
 * Objects have one row per change. If the gap between two rows is longer than this, the object
 * stood still until shortly before the second row.
 */
const MAX_GAP_S = 0.05;
/** A contact is shown for at least this long. */
const MIN_CONTACT_S = 0.4;

/** Angles of the car's joints, in radians. */
export interface JointAngles {
  wheels: readonly number[];
  steerLeft: number;
  steerRight: number;
  pan: number;
  tilt: number;
}

/** Index of the last time at or before `time`; 0 if there is none. `times` is sorted. */
export function indexAt(times: ArrayLike<number>, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

/** The last entry at or before `time`; undefined if there is none. `entries` is sorted. */
export function latest<T extends { time: number }>(entries: readonly T[], time: number): T | undefined {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle].time <= time) low = middle + 1;
    else high = middle;
  }
  return entries[low - 1];
}

export class RunPoses {
  constructor(readonly tracks: RunTracks) {}

  car(time: number): Pose {
    const { car } = this.tracks;
    const i = indexAt(car.time, time);
    const fraction = this.#fraction(i, time);
    if (fraction === 0) return rowPose(car, i);
    return interpolate(rowPose(car, i), rowPose(car, i + 1), fraction, car.time[i + 1] - car.time[i]);
  }

  joints(time: number): JointAngles {
    const angle = (name: CarColumn) => this.#angle(name, time);
    return {
      wheels: [angle("wheel0"), angle("wheel1"), angle("wheel2"), angle("wheel3")],
      steerLeft: angle("steer_left"),
      steerRight: angle("steer_right"),
      pan: angle("pan"),
      tilt: angle("tilt"),
    };
  }

  /** A column of the car, interpolated. */
  value(name: CarColumn, time: number): number {
    const { car } = this.tracks;
    const i = indexAt(car.time, time);
    const column = car[name];
    const fraction = this.#fraction(i, time);
    return fraction === 0 ? column[i] : column[i] + fraction * (column[i + 1] - column[i]);
  }

  /** The pose of an object; null if the object never moved. */
  object(name: string, time: number): Pose | null {
    const rows = this.tracks.objects.get(name);
    if (!rows) return null;
    const i = indexAt(rows.time, time);
    const seconds = (rows.time[i + 1] ?? Number.POSITIVE_INFINITY) - rows.time[i];
    if (seconds > MAX_GAP_S || seconds <= 0) return rowPose(rows, i);
    const fraction = Math.max(0, (time - rows.time[i]) / seconds);
    return interpolate(rowPose(rows, i), rowPose(rows, i + 1), fraction, seconds);
  }

  light(name: string, time: number): LightState | null {
    return latest(this.tracks.lights.get(name) ?? [], time)?.state ?? null;
  }

  /** Names of the objects that the car touches. */
  contacts(time: number): string[] {
    const touching = this.tracks.contacts.filter(
      (one) => one.time <= time && time <= one.time + Math.max(MIN_CONTACT_S, one.duration),
    );
    return [...new Set(touching.map((one) => one.name))];
  }

  brightness(time: number): number {
    return latest(this.tracks.brightness, time)?.value ?? 1;
  }

  /** The text over the 3D view; empty if there is none. */
  overlay(time: number): { text: string; size: number } {
    const last = latest(this.tracks.overlays, time);
    return last && time < last.time + last.ttl ? { text: last.text, size: last.size } : { text: "", size: 1 };
  }

  /**
   * Position between sample i and the next one, from 0 to 1. If the car was teleported between
   * them, the position is 0 until the next sample.
   */
  #fraction(i: number, time: number): number {
    const { car, jumps } = this.tracks;
    const [from, to] = [car.time[i], car.time[i + 1]];
    if (to === undefined || !(to > from) || time <= from) return 0;
    const jump = jumps.length > 0 ? jumps[indexAt(jumps, to)] : Number.NaN;
    return jump >= from && jump <= to ? 0 : (time - from) / (to - from);
  }

  /** An angle, interpolated along the shorter direction. */
  #angle(name: CarColumn, time: number): number {
    const { car } = this.tracks;
    const i = indexAt(car.time, time);
    const column = car[name];
    const fraction = this.#fraction(i, time);
    return fraction === 0 ? column[i] : column[i] + fraction * wrap(column[i + 1] - column[i]);
  }
}

function rowPose(rows: PoseColumns, i: number): Pose {
  const q = [rows.qx[i], rows.qy[i], rows.qz[i], rows.qw[i]];
  const [x, y, z, w] = q;
  const yaw = Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
  return { x: rows.x[i], y: rows.y[i], z: rows.z[i], roll: 0, pitch: 0, yaw, q };
}
