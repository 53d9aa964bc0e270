import { describe, expect, it } from "vitest";
import { rulerStep, Viewport } from "../../src/build/plan/viewport.ts";
import { snap, type SnapSettings } from "../../src/build/snapping.ts";

const ALL: SnapSettings = { grid: true, step: 0.5, road: true, items: true };
const NONE = { lines: [], extents: [] };

describe("snapping", () => {
  it("moves a point to the grid", () => {
    expect(snap({ x: 1.3, y: 0.7 }, null, NONE, ALL, 0.1)).toEqual({ x: 1.5, y: 0.5, guides: [], to: "grid" });
    expect(snap({ x: 1.3, y: 0.7 }, null, NONE, { ...ALL, grid: false }, 0.1)).toMatchObject({ x: 1.3, y: 0.7, to: "none" });
  });

  it("moves a point to the road only if it is near", () => {
    const line = {
      points: [
        [0, 0],
        [4, 0],
      ],
      closed: false,
    };
    const targets = { lines: [line], extents: [] };
    expect(snap({ x: 1.23, y: 0.08 }, null, targets, ALL, 0.1)).toEqual({ x: 1.23, y: 0, guides: [], to: "road" });
    expect(snap({ x: 1.23, y: 0.2 }, null, targets, ALL, 0.1).to).toBe("grid");
    expect(snap({ x: 1.23, y: 0.08 }, null, targets, { ...ALL, road: false }, 0.1).to).toBe("grid");
  });

  it("aligns edges with other items before the grid, and shows a guide", () => {
    const other = { minX: 2, maxX: 3, minY: 0, maxY: 1 };
    const extent = { minX: 3.04, maxX: 3.44, minY: 3.3, maxY: 3.7 };
    const found = snap({ x: 3.24, y: 3.5 }, extent, { lines: [], extents: [other] }, ALL, 0.1);
    expect(found.x).toBeCloseTo(3.2);
    expect(found.y).toBe(3.5);
    expect(found.guides).toEqual([{ axis: "x", at: 3 }]);
    expect(found.to).toBe("item");
  });
});

describe("the viewport", () => {
  it("converts between field and screen, and keeps the point below the pointer when it zooms", () => {
    const viewport = new Viewport();
    Object.assign(viewport, { width: 800, height: 600 });
    viewport.fit({ minX: 0, minY: 0, maxX: 8, maxY: 6 });
    const at = { x: 200, y: 100 };
    const world = viewport.toWorld(at);
    expect(viewport.toScreen(world).x).toBeCloseTo(at.x);
    viewport.zoomAt(at, 1.7);
    expect(viewport.toWorld(at).x).toBeCloseTo(world.x);
    expect(viewport.toWorld(at).y).toBeCloseTo(world.y);
    viewport.zoomAt(at, 1e9);
    expect(viewport.scale).toBeLessThanOrEqual(3000);
  });

  it("shows a whole field beside the rulers", () => {
    const viewport = new Viewport();
    Object.assign(viewport, { width: 800, height: 600 });
    viewport.fit({ minX: 0, minY: 0, maxX: 8, maxY: 6 });
    for (const corner of [
      { x: 0, y: 0 },
      { x: 8, y: 6 },
    ]) {
      const { x, y } = viewport.toScreen(corner);
      expect(x).toBeGreaterThan(24);
      expect(y).toBeGreaterThan(24);
      expect(x).toBeLessThan(800);
      expect(y).toBeLessThan(600);
    }
  });

  it("has rulers with round numbers", () => {
    expect([10, 50, 100, 200, 700, 3000].map((scale) => rulerStep(scale))).toEqual([10, 2, 1, 0.5, 0.1, 0.05]);
  });
});
