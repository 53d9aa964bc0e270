/**
 * Interpolates between the frames of the event stream, so that motion is smooth.
 *
 * While bodies move, frames arrive about 30 times per second, with jitter. They are shown with a
 * short delay. The time at which a frame is shown follows the simulated time rather than the time
 * of arrival. A body that moved farther between two frames than any body can move in that time was
 * teleported, so its pose is not interpolated.
 */
import type { Pose } from "../wire/sim.ts";

/** Name of the car among the bodies. No object can have this name. */
export const CAR = "$car";

/** Poses of all bodies at one simulated time. */
export interface PoseFrame {
  /** Simulated seconds. */
  time: number;
  paused: boolean;
  bodies: ReadonlyMap<string, Pose>;
}

interface TimedFrame extends PoseFrame {
  /** Time on the page's clock, in milliseconds. The frame is shown `delayMs` after this time. */
  stamp: number;
}

/** Two frames and a position between them. */
export interface FramePair {
  /** Interpolated simulated time, in seconds. */
  time: number;
  from: PoseFrame;
  to: PoseFrame;
  /** Position between the frames: 0 at `from`, 1 at `to`. */
  fraction: number;
}

const MAX_FRAMES = 12;
const MIN_DELAY_MS = 35;
const MAX_DELAY_MS = 160;
/**
 * If a frame arrives earlier or later than expected by more than this, its stamp is the time of
 * arrival. The stream was then interrupted or ran ahead, so the expected time is wrong.
 */
const MAX_DRIFT_MS = 120;
/** Weight of the time of arrival in the stamp. The expected time has the remaining weight. */
const ARRIVAL_WEIGHT = 0.12;

/** No body moves or turns faster than this, except by a teleport. */
const FAST_MPS = 7;
const FAST_RADPS = 25;
/** Smaller changes between two frames are never a teleport. */
const JUMP_M = 0.12;
const JUMP_RAD = 0.6;

export class Playback {
  #frames: TimedFrame[] = [];
  /** Mean time between two frames. */
  #intervalMs = 33;
  /** Mean number of simulated seconds per real second. */
  #rate = 1;

  /** Delay with which frames are shown. It grows with the interval between frames. */
  get delayMs(): number {
    return Math.min(MAX_DELAY_MS, Math.max(MIN_DELAY_MS, 1.4 * this.#intervalMs));
  }

  clear(): void {
    this.#frames = [];
  }

  /** Adds a frame that has just arrived. */
  push(frame: PoseFrame, nowMs: number): void {
    const last = this.#frames.at(-1);
    if (!last || frame.time < last.time) {
      // This is the first frame, or the world was switched or respawned. So there is nothing to
      // interpolate from.
      this.#frames = [{ ...frame, stamp: nowMs - this.delayMs }];
      return;
    }
    const arrived = Math.max(1, nowMs - last.stamp);
    if (arrived < 250) this.#intervalMs += 0.1 * (arrived - this.#intervalMs);
    const passed = frame.time - last.time;
    let stamp = nowMs;
    if (passed > 0 && !frame.paused) {
      const rate = passed / (arrived / 1000);
      this.#rate += 0.1 * (Math.min(rate, 200) - this.#rate);
      const expected = last.stamp + (1000 * passed) / Math.max(this.#rate, 0.01);
      if (Math.abs(expected - nowMs) < MAX_DRIFT_MS) stamp = expected + ARRIVAL_WEIGHT * (nowMs - expected);
    }
    this.#frames.push({ ...frame, stamp: Math.max(stamp, last.stamp + 1) });
    if (this.#frames.length > MAX_FRAMES) this.#frames.shift();
  }

  /** The frames to show now; null before the first frame. */
  at(nowMs: number): FramePair | null {
    const frames = this.#frames;
    const first = frames[0];
    if (!first) return null;
    const shown = nowMs - this.delayMs;
    let to = frames.findIndex((frame) => frame.stamp > shown);
    if (to === 0) return { time: first.time, from: first, to: first, fraction: 1 };
    if (to < 0) to = frames.length;
    const from = frames[to - 1];
    const next = frames[to] ?? from;
    const span = next.stamp - from.stamp;
    const fraction = span > 0 ? (shown - from.stamp) / span : 1;
    return { time: from.time + fraction * (next.time - from.time), from, to: next, fraction };
  }
}

/** The interpolated pose of a body; null if neither frame contains the body. */
export function poseAt(pair: FramePair, name: string): Pose | null {
  const [a, b] = [pair.from.bodies.get(name), pair.to.bodies.get(name)];
  if (!a || !b) return b ?? a ?? null;
  if (a === b) return b;
  return interpolate(a, b, pair.fraction, Math.abs(pair.to.time - pair.from.time));
}

/**
 * The pose between `a` (fraction 0) and `b` (fraction 1). `seconds` is the simulated time between
 * `a` and `b`. If the body was teleported, returns `a` for every fraction below 1.
 */
export function interpolate(a: Pose, b: Pose, fraction: number, seconds: number): Pose {
  if (fraction >= 1) return b;
  if (fraction <= 0) return a;
  const distance = Math.hypot(b.x - a.x, b.y - a.y, b.z - a.z);
  const turn = angle(a.q, b.q);
  if (distance > JUMP_M + FAST_MPS * seconds || turn > JUMP_RAD + FAST_RADPS * seconds) return a;
  const mix = (from: number, to: number) => from + fraction * (to - from);
  const mixed = <K extends "x" | "y" | "z" | "roll" | "pitch">(key: K) => mix(a[key], b[key]);
  return {
    x: mixed("x"),
    y: mixed("y"),
    z: mixed("z"),
    roll: mixed("roll"),
    pitch: mixed("pitch"),
    yaw: wrap(a.yaw + fraction * wrap(b.yaw - a.yaw)),
    q: nlerp(a.q, b.q, fraction),
  };
}

/** The same angle in the range −π to π. */
export function wrap(angle: number): number {
  return Math.atan2(Math.sin(angle), Math.cos(angle));
}

type Quaternion = Pose["q"];

function dot(a: Quaternion, b: Quaternion): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/** Angle between two rotations, in radians. */
function angle(a: Quaternion, b: Quaternion): number {
  return 2 * Math.acos(Math.min(1, Math.abs(dot(a, b))));
}

/** Normalized linear interpolation. It is accurate enough for two similar rotations. */
function nlerp(a: Quaternion, b: Quaternion, fraction: number): Quaternion {
  const sign = dot(a, b) < 0 ? -1 : 1;
  const mix = (i: number) => a[i] + fraction * (sign * b[i] - a[i]);
  const q: Quaternion = [mix(0), mix(1), mix(2), mix(3)];
  const length = Math.sqrt(dot(q, q)) || 1;
  return [q[0] / length, q[1] / length, q[2] / length, q[3] / length];
}
