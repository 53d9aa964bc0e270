/**
 * Shapes that are drawn on the road: edge lines, dashes and the start line. The server's builder
 * computes the road itself; these functions only follow its lines.
 */
import type { Road } from "./client.ts";

type Pair = readonly [number, number];

/** A closed polygon. */
export type Polygon = Pair[];

/** The lines at both edges. `outer` is on the border, and `inner` is shifted inwards by `width`. */
export function edgeLines(road: Road, width: number): { outer: Pair[]; inner: Pair[] }[] {
  const sides = [
    [road.left, road.right],
    [road.right, road.left],
  ] as const;
  return sides.map(([own, other]) => ({
    outer: own.map(([x, y]) => [x, y] as const),
    inner: own.map(([x, y], i) => {
      const [ox, oy] = other[i] ?? [x, y];
      const far = Math.hypot(ox - x, oy - y) || 1;
      return [x + ((ox - x) / far) * width, y + ((oy - y) / far) * width] as const;
    }),
  }));
}

/** The dashes of the centre line, each as a line along its middle. */
export function dashes(road: Road, dash: number, gap: number): Pair[][] {
  const points = road.closed ? [...road.centre, road.centre[0]] : road.centre;
  const parts: Pair[][] = [];
  let part: Pair[] | null = null;
  let rest = dash;
  for (let i = 0; i + 1 < points.length; i++) {
    const [ax, ay] = points[i];
    const [bx, by] = points[i + 1];
    const length = Math.hypot(bx - ax, by - ay);
    let done = 0;
    if (i === 0) parts.push((part = [[ax, ay]]));
    while (length - done > rest) {
      done += rest;
      const at: Pair = [ax + ((bx - ax) * done) / length, ay + ((by - ay) * done) / length];
      if (part) {
        part.push(at);
        part = gap > 0 ? null : (parts.push([at]), parts[parts.length - 1]);
        rest = gap > 0 ? gap : dash;
      } else {
        parts.push((part = [at]));
        rest = dash;
      }
    }
    rest -= length - done;
    part?.push([bx, by]);
  }
  return parts.filter(({ length }) => length > 1);
}

/** Length of the start line along the road. */
const START_M = 0.1;
/** Number of rows of squares of the start line. */
const START_ROWS = 2;

/** The white and the black squares of the start line. */
export function startSquares(road: Road): { polygon: Polygon; isWhite: boolean }[] {
  const { x, y, yaw } = road.start;
  const width = widthNear(road, x, y);
  const [ahead, left] = [[Math.cos(yaw), Math.sin(yaw)] as const, [-Math.sin(yaw), Math.cos(yaw)] as const];
  const columns = Math.max(2, 2 * Math.round(width / START_M));
  const [long, wide] = [START_M / START_ROWS, width / columns];
  const corner = (row: number, column: number): Pair => {
    const [a, l] = [(row - START_ROWS / 2) * long, (column - columns / 2) * wide];
    return [x + a * ahead[0] + l * left[0], y + a * ahead[1] + l * left[1]];
  };
  return Array.from({ length: START_ROWS * columns }, (_, i) => {
    const [row, column] = [i % START_ROWS, Math.floor(i / START_ROWS)];
    const polygon = [corner(row, column), corner(row + 1, column), corner(row + 1, column + 1), corner(row, column + 1)];
    return { polygon, isWhite: (row + column) % 2 === 0 };
  });
}

/** Width of the road at the sample that is nearest to a point. */
export function widthNear(road: Road, x: number, y: number): number {
  return road.centre[sampleNear(road, x, y)]?.[2] ?? 0.5;
}

/** Index of the sample of the centre line that is nearest to a point. */
export function sampleNear(road: Road, x: number, y: number): number {
  let [best, least] = [0, Infinity];
  road.centre.forEach(([cx, cy], i) => {
    const far = (cx - x) ** 2 + (cy - y) ** 2;
    if (far < least) [best, least] = [i, far];
  });
  return best;
}
