/**
 * Smooth motion from a stream of frames.
 *
 * Frames come about 30 times a second and never quite evenly. They are shown a little late, each at a moment
 * that goes by simulated time rather than by when it happened to arrive, with every pose in between. What is
 * farther from its last place than it can have driven was put there: it jumps.
 */
import type { Pose } from "../wire/sim.ts";

/** Name of the car among the bodies: no object can have it. */
export const CAR = "$car";

export interface Frame {
  /** Simulated seconds. */
  time: number;
  paused: boolean;
  bodies: ReadonlyMap<string, Pose>;
}

interface Stamped extends Frame {
  /** When it is shown, in the page's milliseconds, without the delay. */
  stamp: number;
}

/** A moment between two frames. */
export interface Moment {
  time: number;
  from: Frame;
  to: Frame;
  /** 0 at `from`, 1 at `to`. */
  part: number;
}

const KEPT = 12;
const MIN_DELAY_MS = 35;
const MAX_DELAY_MS = 160;
/** A stamp this far from the arrival is given up: the stream stood still or ran ahead. */
const MAX_DRIFT_MS = 120;
/** How much of the difference to the arrival a stamp takes over. */
const PULL = 0.12;

/** Faster than anything moves by itself, m/s and rad/s, and what a jump needs at least. */
const FAST_MPS = 7;
const FAST_RADPS = 25;
const JUMP_M = 0.12;
const JUMP_RAD = 0.6;

export class Playback {
  #frames: Stamped[] = [];
  #intervalMs = 33;
  /** Simulated seconds in a real one, as the frames come. */
  #rate = 1;

  /** How late frames are shown. */
  get delayMs(): number {
    return Math.min(MAX_DELAY_MS, Math.max(MIN_DELAY_MS, 1.4 * this.#intervalMs));
  }

  clear(): void {
    this.#frames = [];
  }

  /** Takes a frame that arrived just now. */
  push(frame: Frame, nowMs: number): void {
    const last = this.#frames.at(-1);
    if (!last || frame.time < last.time) {
      // Another world, or the same one anew: nothing leads from there to here.
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
      if (Math.abs(expected - nowMs) < MAX_DRIFT_MS) stamp = expected + PULL * (nowMs - expected);
    }
    this.#frames.push({ ...frame, stamp: Math.max(stamp, last.stamp + 1) });
    if (this.#frames.length > KEPT) this.#frames.shift();
  }

  /** What is to be shown now. */
  at(nowMs: number): Moment | null {
    const frames = this.#frames;
    const first = frames[0];
    if (!first) return null;
    const shown = nowMs - this.delayMs;
    let to = frames.findIndex((frame) => frame.stamp > shown);
    if (to === 0) return { time: first.time, from: first, to: first, part: 1 };
    if (to < 0) to = frames.length;
    const from = frames[to - 1];
    const next = frames[to] ?? from;
    const span = next.stamp - from.stamp;
    const part = span > 0 ? (shown - from.stamp) / span : 1;
    return { time: from.time + part * (next.time - from.time), from, to: next, part };
  }
}

/** The pose of a body at a moment; none if it is in neither frame. */
export function poseAt(moment: Moment, name: string): Pose | null {
  const [a, b] = [moment.from.bodies.get(name), moment.to.bodies.get(name)];
  if (!a || !b) return b ?? a ?? null;
  if (a === b) return b;
  return between(a, b, moment.part, Math.abs(moment.to.time - moment.from.time));
}

/** A pose on the way from one to another that took so many simulated seconds. */
export function between(a: Pose, b: Pose, part: number, seconds: number): Pose {
  if (part >= 1) return b;
  if (part <= 0) return a;
  const distance = Math.hypot(b.x - a.x, b.y - a.y, b.z - a.z);
  const turn = angle(a.q, b.q);
  if (distance > JUMP_M + FAST_MPS * seconds || turn > JUMP_RAD + FAST_RADPS * seconds) return a;
  const mix = (from: number, to: number) => from + part * (to - from);
  const mixed = <K extends "x" | "y" | "z" | "roll" | "pitch">(key: K) => mix(a[key], b[key]);
  return {
    x: mixed("x"),
    y: mixed("y"),
    z: mixed("z"),
    roll: mixed("roll"),
    pitch: mixed("pitch"),
    yaw: wrap(a.yaw + part * wrap(b.yaw - a.yaw)),
    q: turned(a.q, b.q, part),
  };
}

/** An angle in −π..π. */
export function wrap(angle: number): number {
  return Math.atan2(Math.sin(angle), Math.cos(angle));
}

type Quaternion = Pose["q"];

function dot(a: Quaternion, b: Quaternion): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/** Angle between two turns. */
function angle(a: Quaternion, b: Quaternion): number {
  return 2 * Math.acos(Math.min(1, Math.abs(dot(a, b))));
}

/** The straight way between two turns that are near to each other. */
function turned(a: Quaternion, b: Quaternion, part: number): Quaternion {
  const sign = dot(a, b) < 0 ? -1 : 1;
  const mix = (i: number) => a[i] + part * (sign * b[i] - a[i]);
  const q: Quaternion = [mix(0), mix(1), mix(2), mix(3)];
  const length = Math.sqrt(dot(q, q)) || 1;
  return [q[0] / length, q[1] / length, q[2] / length, q[3] / length];
}
