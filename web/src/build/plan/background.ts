/**
 * The part of the top view below the objects: field, grid, road, decals and fence. It is drawn into
 * a separate canvas and cached, because it does not change while the pointer hovers or an object is
 * dragged.
 */
import type { Road } from "../client.ts";
import { decalsOf, isEqual, type ProjectDocument } from "../document.ts";
import type { PictureCache } from "../pictures-cache.ts";
import type { SnapSettings } from "../snapping.ts";
import { paintDecals, paintFence, paintField, paintRoad } from "./paint-field.ts";
import { paintGrid } from "./paint-marks.ts";
import type { Viewport } from "./viewport.ts";

/** What the background depends on, except the road. */
interface Look {
  field: unknown;
  fence: unknown;
  track: unknown;
  decals: unknown;
  view: readonly number[];
}

/** Sets a transformation so that the unit of a context is a metre of the field. */
export function useMetres(context: CanvasRenderingContext2D, viewport: Viewport, ratio: number): void {
  const { x, y } = viewport.toScreen({ x: 0, y: 0 });
  const scale = ratio * viewport.scale;
  context.setTransform(scale, 0, 0, -scale, ratio * x, ratio * y);
}

export class Background {
  readonly #canvas = document.createElement("canvas");
  readonly #context: CanvasRenderingContext2D | null;
  #look: Look | null = null;
  #road: Road | null = null;

  constructor(settings: CanvasRenderingContext2DSettings) {
    this.#context = this.#canvas.getContext("2d", settings);
  }

  /** Clears the cached background, because a picture of the project was loaded. */
  clear(): void {
    this.#look = null;
  }

  /** Draws the background over a whole canvas. */
  paint(
    target: CanvasRenderingContext2D,
    project: ProjectDocument,
    road: Road | null,
    pictures: PictureCache,
    viewport: Viewport,
    snap: SnapSettings,
    ratio: number,
  ): void {
    const { width, height } = target.canvas;
    const grid = snap.grid ? snap.step : 0;
    const { field, fence, track } = project;
    const view = [width, height, viewport.width, viewport.height, viewport.scale, viewport.x, viewport.y, ratio, grid];
    const look = { field, fence, track, decals: decalsOf(project), view };
    const context = this.#context;
    if (!context) return;
    if (road !== this.#road || !isEqual(look, this.#look)) {
      this.#canvas.width = width; // This also clears the canvas.
      this.#canvas.height = height;
      useMetres(context, viewport, ratio);
      paintField(context, project, pictures);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      if (grid > 0) paintGrid(context, project, viewport, grid);
      useMetres(context, viewport, ratio);
      if (road) paintRoad(context, project, road);
      paintDecals(context, project, pictures);
      paintFence(context, project);
      [this.#look, this.#road] = [look, road];
    }
    target.setTransform(1, 0, 0, 1, 0, 0);
    target.globalCompositeOperation = "copy";
    target.drawImage(this.#canvas, 0, 0);
    target.globalCompositeOperation = "source-over";
  }
}
