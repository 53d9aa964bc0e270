import { describe, expect, it } from "vitest";
import { interpolate, CAR, Playback, poseAt, wrap, type PoseFrame } from "../../src/scene/playback.ts";
import type { Pose } from "../../src/wire/sim.ts";

function pose(x: number, yaw = 0): Pose {
  return { x, y: 0, z: 0, roll: 0, pitch: 0, yaw, q: [0, 0, Math.sin(yaw / 2), Math.cos(yaw / 2)] };
}

function frame(time: number, x: number, paused = false): PoseFrame {
  return { time, paused, bodies: new Map([[CAR, pose(x)]]) };
}

const shown = (playback: Playback, now: number) => {
  const pair = playback.at(now);
  return pair && poseAt(pair, CAR)?.x;
};

describe("playback", () => {
  it("returns null before the first frame, and shows that frame at once", () => {
    const playback = new Playback();
    expect(playback.at(0)).toBeNull();
    playback.push(frame(1, 3), 100);
    expect(shown(playback, 100)).toBe(3);
  });

  it("moves evenly despite jitter of the frames", () => {
    const playback = new Playback();
    // The car drives 1 m/s. There are 30 frames per second, each up to 8 ms early or late.
    const jitter = [0, 7, -5, 3, -8, 6, -2, 8, -7, 1];
    const steps: number[] = [];
    let last: number | null = null;
    let k = 0;
    for (let now = 0; now < 3000; now += 1000 / 60) {
      while (now >= (k * 1000) / 30 + jitter[k % jitter.length]) {
        playback.push(frame(k / 30, k / 30), now);
        k++;
      }
      const x = shown(playback, now);
      if (now > 1000 && typeof x === "number") {
        if (last !== null) steps.push(x - last);
        last = x;
      }
    }
    const mean = steps.reduce((a, b) => a + b) / steps.length;
    expect(mean).toBeCloseTo(1 / 60, 3);
    expect(Math.min(...steps)).toBeGreaterThan(0.4 * mean);
    expect(Math.max(...steps)).toBeLessThan(1.7 * mean);
  });

  it("delays frames by less than 0.12 s", () => {
    const playback = new Playback();
    for (let k = 0; k <= 60; k++) playback.push(frame(k / 30, k / 30), (k * 1000) / 30);
    const x = shown(playback, 2000) ?? 0;
    expect(2 - x).toBeGreaterThan(0);
    expect(2 - x).toBeLessThan(0.12);
  });

  it("reaches the last frame and stays there", () => {
    const playback = new Playback();
    playback.push(frame(0, 0), 0);
    playback.push(frame(0.033, 0.02), 33);
    expect(shown(playback, 5000)).toBe(0.02);
  });

  it("does not interpolate a teleport", () => {
    const playback = new Playback();
    playback.push(frame(0, 0), 0);
    playback.push(frame(0.033, 0.01), 33);
    playback.push(frame(0.066, 4), 66);
    const seen = new Set<number>();
    for (let now = 33; now < 300; now += 3) seen.add(Math.round((shown(playback, now) ?? 0) * 10));
    expect([...seen].sort()).toEqual([0, 40]);
  });

  it("drops older frames when the time goes back, as on a respawn", () => {
    const playback = new Playback();
    playback.push(frame(50, 5), 0);
    playback.push(frame(0, 1), 500);
    expect(shown(playback, 500)).toBe(1);
    expect(playback.at(500)?.time).toBe(0);
  });

  it("shows changes while the simulation is paused", () => {
    const playback = new Playback();
    playback.push(frame(2, 1, true), 0);
    playback.push(frame(2, 1.05, true), 300);
    playback.push(frame(2, 1.1, true), 350);
    const x = shown(playback, 1000);
    expect(x).toBe(1.1);
  });

  it("follows a real-time factor of 10", () => {
    const playback = new Playback();
    for (let k = 0; k <= 90; k++) playback.push(frame(k / 3, k / 3), (k * 1000) / 30);
    const [a, b] = [shown(playback, 2800) ?? 0, shown(playback, 2900) ?? 0];
    expect(b - a).toBeCloseTo(1, 1);
  });
});

describe("interpolate", () => {
  it("rotates in the shorter direction", () => {
    const middle = interpolate(pose(0, 3.1), pose(0, -3.1), 0.5, 0.1);
    expect(Math.abs(middle.yaw)).toBeCloseTo(Math.PI, 3);
    expect(Math.hypot(...middle.q)).toBeCloseTo(1, 9);
    expect(Math.abs(middle.q[2])).toBeGreaterThan(0.999);
  });

  it("interpolates a fast rotation, but not half a turn within one frame", () => {
    expect(interpolate(pose(0, 0), pose(0, 0.3), 0.5, 0.033).yaw).toBeCloseTo(0.15, 6);
    expect(interpolate(pose(0, 0), pose(0, 3), 0.9, 0.033).yaw).toBe(0);
  });

  it("wraps angles", () => {
    expect(wrap(3 * Math.PI)).toBeCloseTo(Math.PI, 9);
    expect(wrap(-0.5)).toBeCloseTo(-0.5, 9);
  });
});
