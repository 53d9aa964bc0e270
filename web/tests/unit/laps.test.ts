import { describe, expect, it } from "vitest";
import { parseTracks } from "../../src/net/tracks.ts";
import { gapAt, gapsOf, lapRoute, lapsOf, Progress, type LapRoute } from "../../src/replay/laps.ts";
import { driveLoop, encodeRun } from "../run-file.js";

const LOOP: LapRoute = { length: 9, closed: true, front: 0.1 };

function progressOf(options: Omit<Parameters<typeof driveLoop>[0], "length">, route = LOOP): Progress {
  return new Progress(parseTracks(encodeRun(driveLoop({ length: 9, ...options }))).car, route);
}

describe("route", () => {
  const square = [
    [0, 0],
    [3, 0],
    [3, 3],
    [0, 3],
    [0, 0],
  ];
  it("has the length of its centre line", () => {
    expect(lapRoute({ closed: true, waypoints: square }, 0.1)).toEqual({ length: 12, closed: true, front: 0.1 });
    // The last point of a road that is not a loop only closes the list.
    expect(lapRoute({ closed: false, waypoints: square }, 0)?.length).toBe(9);
    expect(lapRoute(null, 0)).toBeNull();
    expect(lapRoute({ closed: true, waypoints: [] }, 0)).toBeNull();
  });
});

describe("laps and sectors", () => {
  it("start when the car moves and end when its front is at the line", () => {
    // The front is 5 cm before the start line. The car waits for a second, then drives at 1 m/s.
    const [lap, ...more] = lapsOf(progressOf({ from: 9 - 0.15, wait: 1, seconds: 10.06, speed: 1 }));
    expect(more).toEqual([]);
    expect(lap.start).toBeCloseTo(1.04, 5);
    expect(lap.sectors.map((time) => time?.toFixed(2))).toEqual(["3.02", "3.00", "3.00"]);
    expect(lap.time).toBeCloseTo(9.02, 5);
  });

  it("are listed for each lap, and the last may be incomplete", () => {
    const laps = lapsOf(progressOf({ from: 8.91, seconds: 14, speed: 1 }));
    expect(laps.map((lap) => lap.number)).toEqual([1, 2]);
    expect(laps[0].time).toBeCloseTo(8.96, 5);
    expect(laps[1].sectors[0]).toBeCloseTo(3, 5);
    expect(laps[1].sectors.slice(1)).toEqual([null, null]);
    expect(laps[1].time).toBeNull();
  });

  it("count a lap whose last sample is just before the line", () => {
    const just = lapsOf(progressOf({ from: 8.9, seconds: 8.96, speed: 1 }));
    expect(just).toHaveLength(1);
    expect(just[0].time).not.toBeNull();
    expect(lapsOf(progressOf({ from: 8.9, seconds: 8.9, speed: 1 }))[0].time).toBeNull();
  });

  it("do not exist if the car never moves, or hardly", () => {
    expect(lapsOf(progressOf({ seconds: 3, speed: 0 }))).toEqual([]);
    expect(lapsOf(progressOf({ from: 8.8, seconds: 3, speed: 0.03 }))).toEqual([]);
  });

  it("are one lap on a road that is no loop", () => {
    const laps = lapsOf(progressOf({ seconds: 12, speed: 0.7 }, { ...LOOP, closed: false }));
    expect(laps).toHaveLength(1);
  });

  it("ignore driving back: the farthest position counts", () => {
    const progress = progressOf({ seconds: 6, speed: (time) => (time < 4 ? 1 : -1) });
    expect(progress.at(6)).toBeCloseTo(progress.at(4), 1);
    expect(progress.timeAt(20)).toBeNull();
  });
});

describe("difference in time", () => {
  const ghost = progressOf({ from: 8.9, wait: 0.5, seconds: 12, speed: 1 });

  it("is 0 for the same drive, also if it starts later", () => {
    const late = progressOf({ from: 8.9, wait: 2, seconds: 12, speed: 1 });
    expect(gapAt(late, ghost, 1)).toBeNull();
    for (const time of [3, 6, 9]) expect(gapAt(late, ghost, time)).toBeCloseTo(0, 3);
  });

  it("grows where the run is slower, and is negative where it is faster", () => {
    const slow = progressOf({ from: 8.9, wait: 0.5, seconds: 12, speed: 0.5 });
    expect(gapAt(slow, ghost, 4.5)).toBeCloseTo(2, 1);
    expect(gapAt(slow, ghost, 8.5)).toBeCloseTo(4, 1);
    const fast = progressOf({ from: 8.9, wait: 0.5, seconds: 5, speed: 2 });
    expect(gapAt(fast, ghost, 4.5)).toBeCloseTo(-4, 1);
  });

  it("grows while the run stands, and ends where the ghost never was", () => {
    const stopped = progressOf({ from: 8.9, seconds: 8, speed: (time) => (time < 3 ? 1 : 0) });
    expect(gapAt(stopped, ghost, 7)! - gapAt(stopped, ghost, 5)!).toBeCloseTo(2, 5);
    const farther = progressOf({ from: 8.9, seconds: 20, speed: 1 });
    expect(gapAt(farther, ghost, 19)).toBeNull();
    const gaps = gapsOf(farther, ghost);
    expect(gaps).toHaveLength(1001);
    expect([gaps[0], gaps[1000]]).toEqual([Number.NaN, Number.NaN]);
  });
});
