/**
 * Snapping: moves a dragged point to the grid, to the lines of the road, or to the edges and
 * centres of other items. The result contains guides, which the top view draws.
 */
import { nearestOnLine, type Extent, type Point } from "./geometry.ts";

export interface SnapSettings {
  grid: boolean;
  /** Distance between two lines of the grid, in metres. */
  step: number;
  road: boolean;
  items: boolean;
}

export interface SnapTargets {
  /** Centre line and borders of the road. */
  lines: { points: readonly (readonly number[])[]; closed: boolean }[];
  /** The areas of the other items. */
  extents: readonly Extent[];
}

/** A line in the top view that a point was aligned to: all points with this x, or with this y. */
export interface Guide {
  axis: "x" | "y";
  at: number;
}

export interface Snapped extends Point {
  guides: Guide[];
  /** What the point was moved to. */
  to: "none" | "grid" | "road" | "item";
}

/**
 * Snaps a point. `extent` is the area that is dragged together with the point: its edges and its
 * centre are aligned with other items. Without it, the point itself is aligned. An item or the road
 * has an effect only within `tolerance` metres. Items have priority over the road, and the road has
 * priority over the grid.
 */
export function snap(
  point: Point,
  extent: Extent | null,
  targets: SnapTargets,
  settings: SnapSettings,
  tolerance: number,
): Snapped {
  const result: Snapped = { x: point.x, y: point.y, guides: [], to: "none" };
  const free = { x: true, y: true };
  if (settings.items) {
    for (const axis of ["x", "y"] as const) {
      const found = alignment(point, extent, targets.extents, axis, tolerance);
      if (!found) continue;
      result[axis] += found.by;
      result.guides.push({ axis, at: found.at });
      result.to = "item";
      free[axis] = false;
    }
  }
  if (settings.road && free.x && free.y) {
    const place = nearestOnLines(point, targets, tolerance);
    if (place) return { x: place.x, y: place.y, guides: [], to: "road" };
  }
  if (settings.grid && settings.step > 0) {
    for (const axis of ["x", "y"] as const) {
      if (free[axis]) result[axis] = Math.round(result[axis] / settings.step) * settings.step;
    }
    if (result.to === "none") result.to = "grid";
  }
  return result;
}

function nearestOnLines(point: Point, { lines }: SnapTargets, tolerance: number): Point | null {
  let best: { x: number; y: number; distance: number } | null = null;
  for (const { points, closed } of lines) {
    const place = nearestOnLine(points, closed, point);
    if (place && place.distance <= tolerance && (!best || place.distance < best.distance)) best = place;
  }
  return best;
}

/**
 * Returns the smallest move along an axis that aligns an edge or the centre of `extent` with an
 * edge or the centre of another item. Without `extent`, aligns `point`. Returns null if every such
 * move is longer than `tolerance`.
 */
function alignment(
  point: Point,
  extent: Extent | null,
  others: readonly Extent[],
  axis: "x" | "y",
  tolerance: number,
): { by: number; at: number } | null {
  const placesOf = (e: Extent) =>
    axis === "x" ? [(e.minX + e.maxX) / 2, e.minX, e.maxX] : [(e.minY + e.maxY) / 2, e.minY, e.maxY];
  const own = extent ? placesOf(extent) : [point[axis]];
  let best: { by: number; at: number } | null = null;
  for (const other of others) {
    for (const at of placesOf(other)) {
      for (const from of own) {
        const by = at - from;
        if (Math.abs(by) <= tolerance && (!best || Math.abs(by) < Math.abs(best.by) - 1e-9)) best = { by, at };
      }
    }
  }
  return best;
}
