/** The part of the field that the top view shows. The y axis of the field points up. */
import type { Extent, Point } from "../geometry.ts";

/** Limits of the scale, in pixels per metre. */
const MIN_SCALE = 4;
const MAX_SCALE = 3000;
/** Width of the rulers at the left and the upper edge, in pixels. */
export const RULER_PX = 24;

export class Viewport {
  /** Size of the canvas, in CSS pixels. */
  width = 1;
  height = 1;
  /** Pixels per metre. */
  scale = 100;
  /** The point of the field in the middle of the canvas. */
  x = 0;
  y = 0;

  toScreen({ x, y }: Point): Point {
    return { x: this.width / 2 + (x - this.x) * this.scale, y: this.height / 2 - (y - this.y) * this.scale };
  }

  toWorld({ x, y }: Point): Point {
    return { x: this.x + (x - this.width / 2) / this.scale, y: this.y - (y - this.height / 2) / this.scale };
  }

  /** Converts pixels to metres. */
  metres(pixels: number): number {
    return pixels / this.scale;
  }

  panBy(dx: number, dy: number): void {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
  }

  /** Zooms so that the point of the field below `at` stays there. */
  zoomAt(at: Point, factor: number): void {
    const before = this.toWorld(at);
    this.scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, this.scale * factor));
    const after = this.toWorld(at);
    this.x += before.x - after.x;
    this.y += before.y - after.y;
  }

  /** Shows an extent as large as possible in the area that the rulers leave free. */
  fit({ minX, minY, maxX, maxY }: Extent, marginPx = 28): void {
    const [w, h] = [this.width - RULER_PX - 2 * marginPx, this.height - RULER_PX - 2 * marginPx];
    const scale = Math.min(Math.max(1, w) / Math.max(0.1, maxX - minX), Math.max(1, h) / Math.max(0.1, maxY - minY));
    this.scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));
    this.x = (minX + maxX) / 2 - RULER_PX / 2 / this.scale;
    this.y = (minY + maxY) / 2 + RULER_PX / 2 / this.scale;
  }

  /** Moves the view so that a point of the field is in the middle. */
  centreOn({ x, y }: Point): void {
    this.x = x;
    this.y = y;
  }
}

/**
 * The distance between two labelled marks of a ruler, in metres: the smallest length that covers at
 * least `leastPx` pixels and is 1, 2 or 5 times a power of ten.
 */
export function rulerStep(scale: number, leastPx = 64): number {
  const least = leastPx / scale;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least) ?? 10 * power;
}
