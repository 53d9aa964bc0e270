import { describe, expect, it } from "vitest";
import type { Road } from "../../src/build/client.ts";
import { alongOf, pointAlong } from "../../src/build/road-line.ts";
import { placeOnRoad } from "../../src/build/track-commands.ts";

function road(points: [number, number][], closed: boolean, length: number): Road {
  return {
    centre: points.map(([x, y]) => [x, y, 1]),
    left: points,
    right: points,
    closed,
    length,
    start: { x: 0, y: 0, yaw: 0 },
    tightest: null,
    overlaps: [],
    nodes_s: [],
  };
}

describe("distances along a road", () => {
  it("were wrong on an open road, whose samples are closer before the start line", () => {
    const before = Array.from({ length: 6 }, (_, i) => (0.26 * i) / 6);
    const after = Array.from({ length: 76 }, (_, i) => 0.26 + (3.74 * i) / 75);
    const open = road([...before, ...after].map((x) => [x, 0]), false, 4);
    for (const x of [0, 0.1, 0.26, 0.3, 1.234, 4]) {
      const place = placeOnRoad(open, { x, y: 0.2 });
      expect(place && alongOf(open, place)).toBeCloseTo(x, 9);
      expect(pointAlong(open, x).x).toBeCloseTo(x, 9);
    }
    expect(pointAlong(open, -1).x).toBe(0);
    expect(pointAlong(open, 5).x).toBeCloseTo(4, 9);
  });

  it("go around a closed road", () => {
    const closed = road(
      [
        [0, 0],
        [4, 0],
        [4, 1],
        [0, 1],
      ],
      true,
      10,
    );
    expect(pointAlong(closed, 9.5)).toEqual({ x: 0, y: 0.5 });
    expect(pointAlong(closed, 10)).toEqual({ x: 0, y: 0 });
    const place = placeOnRoad(closed, { x: -0.1, y: 0.25 });
    expect(place && alongOf(closed, place)).toBeCloseTo(9.75, 9);
  });

  it("reach the length of the road, which is longer than its chords", () => {
    const bent = road(
      [
        [0, 0],
        [1, 0],
        [1, 1],
      ],
      false,
      2.2,
    );
    expect(alongOf(bent, { at: 2, x: 1, y: 1, distance: 0 })).toBeCloseTo(2.2, 9);
    expect(pointAlong(bent, 1.1)).toEqual({ x: 1, y: 0 });
  });
});
