/** Points, rectangles and polylines in the plane of the field, in metres. */

export interface Point {
  x: number;
  y: number;
}

/** A rectangle with sides along x and y. */
export interface Extent {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

/** A rotated rectangle. */
export interface Frame {
  x: number;
  y: number;
  yaw: number;
  halfWidth: number;
  halfHeight: number;
}

export function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** A point rotated around a centre. */
export function rotated(point: Point, centre: Point, angle: number): Point {
  const [s, c] = [Math.sin(angle), Math.cos(angle)];
  const [x, y] = [point.x - centre.x, point.y - centre.y];
  return { x: centre.x + c * x - s * y, y: centre.y + s * x + c * y };
}

/** The corners of a frame, counter-clockwise, from the lower left one in the frame's own axes. */
export function cornersOf({ x, y, yaw, halfWidth, halfHeight }: Frame): Point[] {
  return [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ].map(([i, k]) => rotated({ x: x + i * halfWidth, y: y + k * halfHeight }, { x, y }, yaw));
}

export function isInside(frame: Frame, point: Point, margin = 0): boolean {
  const own = rotated(point, frame, -frame.yaw);
  return (
    Math.abs(own.x - frame.x) <= frame.halfWidth + margin && Math.abs(own.y - frame.y) <= frame.halfHeight + margin
  );
}

/** The smallest extent around points; null without points. */
export function extentOf(points: readonly Point[]): Extent | null {
  if (points.length === 0) return null;
  const extent = { minX: Infinity, minY: Infinity, maxX: -Infinity, maxY: -Infinity };
  for (const { x, y } of points) {
    extent.minX = Math.min(extent.minX, x);
    extent.minY = Math.min(extent.minY, y);
    extent.maxX = Math.max(extent.maxX, x);
    extent.maxY = Math.max(extent.maxY, y);
  }
  return extent;
}

export function centreOf(extent: Extent): Point {
  return { x: (extent.minX + extent.maxX) / 2, y: (extent.minY + extent.maxY) / 2 };
}

/** The nearest place on a polyline. */
export interface LinePlace extends Point {
  /** Index of the point before the place, plus the fraction of the way to the next point. */
  at: number;
  distance: number;
}

/**
 * The place on a polyline that is nearest to a point; null if the line has fewer than two points.
 */
export function nearestOnLine(
  line: readonly (readonly number[])[],
  closed: boolean,
  point: Point,
): LinePlace | null {
  let best: LinePlace | null = null;
  const count = closed ? line.length : line.length - 1;
  if (line.length < 2) return null;
  for (let i = 0; i < count; i++) {
    const [ax, ay] = line[i];
    const [bx, by] = line[(i + 1) % line.length];
    const [dx, dy] = [bx - ax, by - ay];
    const square = dx * dx + dy * dy;
    const t = square === 0 ? 0 : Math.min(1, Math.max(0, ((point.x - ax) * dx + (point.y - ay) * dy) / square));
    const [x, y] = [ax + t * dx, ay + t * dy];
    const far = Math.hypot(point.x - x, point.y - y);
    if (!best || far < best.distance) best = { x, y, at: i + t, distance: far };
  }
  return best;
}

/** The remainder of a division, never negative; 0 if the divisor is not positive. */
export function modulo(value: number, by: number): number {
  return by > 0 ? ((value % by) + by) % by : 0;
}
