/** The top view: a canvas with the field from above. A frame is drawn only after a change. */
import { isSoftwareRenderer } from "../../scene/quality.ts";
import { t } from "../../strings.ts";
import { h } from "../../ui/dom.ts";
import type { Preview } from "../client.ts";
import { objectsOf, type ProjectDocument } from "../document.ts";
import { centreOf, type Point } from "../geometry.ts";
import { extentOfItems, itemsOf, START } from "../items.ts";
import type { PictureCache } from "../pictures-cache.ts";
import type { EditorSession } from "../session.ts";
import { Background, useMetres } from "./background.ts";
import type { Drag } from "./drags.ts";
import { handlesOf, type Handle } from "./handles.ts";
import {
  label,
  paintArrows,
  paintBand,
  paintGuides,
  paintNodes,
  paintPen,
  paintProblems,
  paintSelection,
  type Palette,
} from "./paint-marks.ts";
import { paintRulers } from "./paint-rulers.ts";
import { paintObjects } from "./paint-things.ts";
import { Viewport } from "./viewport.ts";

/** The names of selected objects are shown if a metre has at least this many pixels. */
const NAMES_SCALE = 60;

export class PlanView {
  readonly canvas = h("canvas", {
    class: "plan-canvas",
    tabindex: 0,
    role: "application",
    "aria-label": t.build.planLabel,
    "data-testid": "plan",
  });
  readonly viewport = new Viewport();
  /** The point of the field below the pointer; null if the pointer is elsewhere. */
  pointer: Point | null = null;
  drag: Drag | null = null;
  /** Number of frames drawn so far. */
  frames = 0;
  /**
   * Whether the whole field is shown. If so, the view is fitted again when the canvas changes its
   * size.
   */
  #isFitted = true;
  #isDirty = true;
  #palette: Palette | null = null;
  readonly #context: CanvasRenderingContext2D | null;
  readonly #background: Background;

  constructor(
    readonly session: EditorSession,
    readonly pictures: PictureCache,
  ) {
    // Without a graphics card, the browser's 2D rasterizer draws a canvas several times faster than
    // its emulation of a graphics card. This option selects the rasterizer.
    const settings: CanvasRenderingContext2DSettings = { willReadFrequently: isSoftwareRenderer() };
    this.#context = this.canvas.getContext("2d", settings);
    this.#background = new Background(settings);
    for (const signal of [session.document, session.preview, session.selection, session.pen, session.snap, session.tool]) {
      (signal as { watch(listener: () => void): void }).watch(() => this.invalidate());
    }
    new ResizeObserver(() => this.#resize()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.#palette = null;
      this.invalidate();
    });
    requestAnimationFrame(() => this.#frame());
  }

  /** Requests a new frame. */
  invalidate(): void {
    this.#isDirty = true;
  }

  /** Draws everything again, because a picture was loaded. */
  refresh(): void {
    this.#background.clear();
    this.invalidate();
  }

  get handles(): Handle[] {
    const { document, preview, selection, tool } = this.session;
    if (tool.value !== "select" || this.session.pen.value) return [];
    return handlesOf(document.value, preview.value, selection.value, this.viewport);
  }

  /** Shows the whole field. */
  fit(): void {
    const [maxX, maxY] = this.session.document.value.field.size;
    this.viewport.fit({ minX: 0, minY: 0, maxX, maxY });
    this.#isFitted = true;
    this.invalidate();
  }

  panBy(dx: number, dy: number): void {
    this.viewport.panBy(dx, dy);
    this.#isFitted = false;
    this.invalidate();
  }

  zoom(factor: number, at: Point = { x: this.viewport.width / 2, y: this.viewport.height / 2 }): void {
    this.viewport.zoomAt(at, factor);
    this.#isFitted = false;
    this.invalidate();
  }

  /** Moves the view to a point. Zooms in if the scale is too small for names. */
  goTo(point: Point): void {
    this.viewport.centreOn(point);
    this.#isFitted = false;
    if (this.viewport.scale < NAMES_SCALE) this.viewport.scale = NAMES_SCALE;
    this.invalidate();
  }

  /** Moves the view to the selection. */
  goToSelection(): void {
    const { document, selection, preview } = this.session;
    const extent = extentOfItems(itemsOf(document.value, selection.value));
    if (extent) this.goTo(centreOf(extent));
    else if (selection.value.has(START) && preview.value?.road) this.goTo(preview.value.road.start);
  }

  /** Converts the position of an event on the page to coordinates of the canvas. */
  local(event: { clientX: number; clientY: number }): Point {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    const ratio = devicePixelRatio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const { viewport } = this;
    viewport.width = width;
    viewport.height = height;
    if (this.#isFitted) this.fit();
    // Draws immediately. Otherwise the canvas would be empty until the next frame.
    this.#draw();
  }

  #frame(): void {
    requestAnimationFrame(() => this.#frame());
    if (this.#isDirty) this.#draw();
  }

  #draw(): void {
    const context = this.#context;
    if (!context || this.canvas.clientWidth === 0) return;
    this.#isDirty = false;
    this.frames++;
    const palette = (this.#palette ??= readPalette(this.canvas));
    const { document, preview } = this.session;
    const { viewport, pictures } = this;
    const ratio = devicePixelRatio;
    const road = preview.value?.road ?? null;
    this.#background.paint(context, document.value, road, pictures, viewport, this.session.snap.value, ratio);
    useMetres(context, viewport, ratio);
    paintObjects(context, document.value, pictures, viewport);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.#drawMarks(context, document.value, preview.value, palette);
    paintRulers(context, viewport, this.pointer, palette);
  }

  /** Draws handles and marks, in pixels. */
  #drawMarks(
    context: CanvasRenderingContext2D,
    document: ProjectDocument,
    preview: Preview | null,
    palette: Palette,
  ): void {
    const { viewport } = this;
    const selection = this.session.selection.value;
    const points = this.session.pen.value;
    if (preview?.road) {
      paintArrows(context, preview.road, viewport);
      paintProblems(context, preview.road, preview.findings, viewport, palette, t.build.radiusMark);
    }
    if (points) paintPen(context, points, this.pointer, viewport, palette);
    else paintNodes(context, document, viewport, selection, palette);
    if (viewport.scale >= NAMES_SCALE) this.#drawNames(context, document);
    paintSelection(context, document, viewport, selection, this.handles, palette);
    if (this.drag?.guides) paintGuides(context, this.drag.guides, viewport, palette);
    if (this.drag?.band) paintBand(context, this.drag.band, viewport, palette);
  }

  #drawNames(context: CanvasRenderingContext2D, document: ProjectDocument): void {
    for (const { name, x, y } of objectsOf(document)) {
      if (!this.session.selection.value.has(`object:${name}`)) continue;
      const at = this.viewport.toScreen({ x, y });
      const extent = extentOfItems(itemsOf(document, [`object:${name}`]));
      const below = extent ? (y - extent.minY) * this.viewport.scale : 0;
      label(context, at.x, at.y + below + 24, name, "#0b5f9f");
    }
  }
}

function readPalette(element: Element): Palette {
  // `getPropertyValue` of a custom property returns the text `light-dark(…)`. Therefore the
  // function reads the colours from an element that uses them.
  const probe = h("span", { hidden: true });
  element.parentElement?.append(probe);
  const read = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const palette = {
    surface: read("--surface"),
    line: read("--line"),
    edge: read("--edge"),
    text: read("--text"),
    muted: read("--muted"),
    accent: read("--accent"),
    red: read("--red-solid"),
    amber: read("--amber-solid"),
  };
  probe.remove();
  return palette;
}
