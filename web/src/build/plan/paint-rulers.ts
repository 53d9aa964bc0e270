/** Draws the rulers of the top view. */
import type { Point } from "../geometry.ts";
import { segment, type Palette } from "./paint-marks.ts";
import { RULER_PX, rulerStep, type Viewport } from "./viewport.ts";

type Context = CanvasRenderingContext2D;

/** Draws the rulers at the left and the upper edge, with a mark at the position of the pointer. */
export function paintRulers(context: Context, viewport: Viewport, pointer: Point | null, palette: Palette): void {
  const { width, height } = viewport;
  context.fillStyle = palette.surface;
  context.fillRect(0, 0, width, RULER_PX);
  context.fillRect(0, 0, RULER_PX, height);
  context.strokeStyle = palette.line;
  context.lineWidth = 1;
  context.beginPath();
  segment(context, 0, RULER_PX, "across", width);
  segment(context, RULER_PX, 0, "down", height);
  context.stroke();
  const step = rulerStep(viewport.scale);
  context.fillStyle = palette.muted;
  context.strokeStyle = palette.edge;
  context.font = "11px system-ui, sans-serif";
  paintTicks(context, viewport, step, "x");
  paintTicks(context, viewport, step, "y");
  if (pointer) {
    const at = viewport.toScreen(pointer);
    context.strokeStyle = palette.accent;
    context.lineWidth = 2;
    context.beginPath();
    segment(context, at.x, 0, "down", RULER_PX);
    segment(context, 0, at.y, "across", RULER_PX);
    context.stroke();
  }
  context.fillStyle = palette.surface;
  context.fillRect(0, 0, RULER_PX, RULER_PX);
}

function paintTicks(context: Context, viewport: Viewport, step: number, axis: "x" | "y"): void {
  const length = axis === "x" ? viewport.width : viewport.height;
  const ends = [viewport.toWorld({ x: 0, y: 0 })[axis], viewport.toWorld({ x: length, y: length })[axis]];
  const first = Math.ceil(Math.min(...ends) / (step / 5));
  const last = Math.floor(Math.max(...ends) / (step / 5));
  const decimals = step < 0.1 ? 2 : step < 1 ? 1 : 0;
  context.beginPath();
  for (let i = first; i <= last; i++) {
    const value = (i * step) / 5;
    const at = viewport.toScreen({ x: value, y: value })[axis];
    if (at < RULER_PX) continue;
    const isMajor = i % 5 === 0;
    const from = isMajor ? RULER_PX - 9 : RULER_PX - 5;
    if (axis === "x") segment(context, at, from, "down", RULER_PX);
    else segment(context, from, at, "across", RULER_PX);
    if (isMajor) rulerText(context, axis, at, value.toFixed(decimals));
  }
  context.lineWidth = 1;
  context.stroke();
}

function rulerText(context: Context, axis: "x" | "y", at: number, text: string): void {
  context.textAlign = "center";
  context.textBaseline = "middle";
  if (axis === "x") {
    context.fillText(text, at, 8);
    return;
  }
  context.save();
  context.translate(8, at);
  context.rotate(-Math.PI / 2);
  context.fillText(text, 0, 0);
  context.restore();
}

