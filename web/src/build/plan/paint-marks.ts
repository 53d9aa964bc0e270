/** Draws what the editor adds to the top view: grid, nodes, problems, selection and guides. */
import type { Finding, Road } from "../client.ts";
import type { ProjectDocument } from "../document.ts";
import { cornersOf, type Extent, type Point } from "../geometry.ts";
import { frameOf, isRound, itemsOf, nodeKey, START, type ItemKey } from "../items.ts";
import { sampleNear } from "../road-shapes.ts";
import type { Guide } from "../snapping.ts";
import { drawnFrame, selectionFrame, type Handle } from "./handles.ts";
import { rulerStep, type Viewport } from "./viewport.ts";

type Context = CanvasRenderingContext2D;

/** Colours of the page. They follow the dark or light theme. */
export interface Palette {
  surface: string;
  line: string;
  edge: string;
  text: string;
  muted: string;
  accent: string;
  red: string;
  amber: string;
}

/** Draws the lines of the grid on the field. */
export function paintGrid(context: Context, document: ProjectDocument, viewport: Viewport, step: number): void {
  const [width, height] = document.field.size;
  const [low, high] = [viewport.toScreen({ x: 0, y: 0 }), viewport.toScreen({ x: width, y: height })];
  const shown = step * viewport.scale >= 9 ? step : rulerStep(viewport.scale, 14);
  const lines = (length: number, draw: (at: number) => void, major: boolean) => {
    for (let i = 0; i * shown <= length + 1e-9; i++) {
      const isMajor = Math.abs(((i * shown) % 1) - Math.round((i * shown) % 1)) < 1e-6;
      if (isMajor === major) draw(i * shown);
    }
  };
  for (const major of [false, true]) {
    context.strokeStyle = major ? "rgb(255 255 255 / 26%)" : "rgb(255 255 255 / 11%)";
    context.lineWidth = 1;
    context.beginPath();
    lines(width, (x) => segment(context, viewport.toScreen({ x, y: 0 }).x, low.y, "down", high.y), major);
    lines(height, (y) => segment(context, low.x, viewport.toScreen({ x: 0, y }).y, "across", high.x), major);
    context.stroke();
  }
}

/** Adds a sharp horizontal or vertical line to the current path. */
export function segment(context: Context, x: number, y: number, way: "down" | "across", to: number): void {
  // A line that is one pixel wide is sharp if it runs through the centres of the pixels.
  const [px, py] = [Math.round(x) + 0.5, Math.round(y) + 0.5];
  context.moveTo(px, py);
  context.lineTo(way === "down" ? px : to, way === "down" ? to : py);
}

/** Draws the nodes of the track. */
export function paintNodes(
  context: Context,
  document: ProjectDocument,
  viewport: Viewport,
  selection: ReadonlySet<ItemKey>,
  palette: Palette,
): void {
  document.track.nodes.forEach((node, i) => {
    const { x, y } = viewport.toScreen(node);
    const isSelected = selection.has(nodeKey(i));
    context.beginPath();
    context.arc(x, y, isSelected ? 7.5 : 5.5, 0, 2 * Math.PI);
    context.fillStyle = isSelected ? palette.accent : "#fff";
    context.fill();
    context.lineWidth = 2.5;
    context.strokeStyle = isSelected ? "#fff" : "#0b5f9f";
    context.stroke();
  });
}

/** Draws arrows in the direction of travel. */
export function paintArrows(context: Context, road: Road, viewport: Viewport): void {
  const every = Math.max(1, Math.round(90 / viewport.scale / Math.max(1e-6, road.length / road.centre.length)));
  context.fillStyle = "rgb(255 255 255 / 55%)";
  for (let i = Math.ceil(every / 2); i + 1 < road.centre.length; i += every) {
    const [x, y] = road.centre[i];
    const [nx, ny] = road.centre[i + 1];
    const at = viewport.toScreen({ x, y });
    const angle = -Math.atan2(ny - y, nx - x);
    const size = Math.min(8, 0.16 * road.centre[i][2] * viewport.scale);
    context.save();
    context.translate(at.x, at.y);
    context.rotate(angle);
    context.beginPath();
    context.moveTo(size, 0);
    context.lineTo(-0.6 * size, 0.7 * size);
    context.lineTo(-0.25 * size, 0);
    context.lineTo(-0.6 * size, -0.7 * size);
    context.closePath();
    context.fill();
    context.restore();
  }
}

/**
 * Rules about the shape of the road. Their findings share one mark, which is at the tightest bend.
 */
const ROAD_RULES = ["bend-too-tight", "border-folds"];

/** Draws overlaps of the road, and the places of findings. */
export function paintProblems(
  context: Context,
  road: Road,
  findings: readonly Finding[],
  viewport: Viewport,
  palette: Palette,
  text: (radius: string) => string,
): void {
  context.fillStyle = "rgb(229 72 60 / 45%)";
  for (const [x, y] of road.overlaps) {
    const at = viewport.toScreen({ x, y });
    context.beginPath();
    context.arc(at.x, at.y, Math.max(6, 0.12 * viewport.scale), 0, 2 * Math.PI);
    context.fill();
  }
  const { tightest } = road;
  if (tightest && findings.some(({ rule }) => ROAD_RULES.includes(rule))) {
    const at = viewport.toScreen(tightest);
    const width = road.centre[sampleNear(road, tightest.x, tightest.y)]?.[2] ?? 0.5;
    ring(context, at, Math.max(16, 0.62 * width * viewport.scale), palette.red);
    label(context, at.x, at.y - Math.max(16, 0.62 * width * viewport.scale) - 12, text(tightest.radius.toFixed(2)), palette.red);
  }
  for (const { location, severity, rule } of findings) {
    if (ROAD_RULES.includes(rule) || typeof location.x !== "number" || typeof location.y !== "number") continue;
    ring(context, viewport.toScreen({ x: location.x, y: location.y }), 15, severity === "error" ? palette.red : palette.amber);
  }
}

function ring(context: Context, { x, y }: Point, radius: number, colour: string): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.lineWidth = 3;
  context.strokeStyle = colour;
  context.setLineDash([7, 5]);
  context.stroke();
  context.setLineDash([]);
}

/** A text on a coloured, rounded background, centred at a point. */
export function label(context: Context, x: number, y: number, text: string, colour: string): void {
  context.font = "600 12px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  const width = context.measureText(text).width + 16;
  context.fillStyle = colour;
  context.beginPath();
  context.roundRect(x - width / 2, y - 10, width, 20, 10);
  context.fill();
  context.fillStyle = "#fff";
  context.fillText(text, x, y + 0.5);
}

/** Draws the outlines of the selected items, the frame around them, and all handles. */
export function paintSelection(
  context: Context,
  document: ProjectDocument,
  viewport: Viewport,
  selection: ReadonlySet<ItemKey>,
  handles: readonly Handle[],
  palette: Palette,
): void {
  context.strokeStyle = palette.accent;
  context.lineWidth = 2;
  for (const item of itemsOf(document, selection)) {
    if (item.kind === "node") continue;
    const frame = frameOf(item);
    context.beginPath();
    if (isRound(item)) {
      const at = viewport.toScreen(frame);
      context.arc(at.x, at.y, frame.halfWidth * viewport.scale + 2, 0, 2 * Math.PI);
    } else {
      path(context, cornersOf(frame).map((corner) => viewport.toScreen(corner)));
    }
    context.stroke();
  }
  const frame = selectionFrame(document, selection);
  if (frame) {
    const wide = drawnFrame(frame, viewport);
    context.setLineDash([4, 4]);
    context.lineWidth = 1;
    context.beginPath();
    path(context, cornersOf(wide).map((corner) => viewport.toScreen(corner)));
    context.stroke();
    context.setLineDash([]);
    const rotate = handles.find(({ kind }) => kind === "rotate");
    if (rotate) {
      const from = viewport.toScreen(frame);
      context.beginPath();
      context.moveTo(from.x, from.y);
      context.lineTo(rotate.x, rotate.y);
      context.stroke();
    }
  }
  for (const handle of handles) paintHandle(context, handle, palette, selection.has(START));
}

function path(context: Context, points: readonly Point[]): void {
  points.forEach(({ x, y }, i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  context.closePath();
}

function paintHandle(context: Context, handle: Handle, palette: Palette, startSelected: boolean): void {
  const { x, y } = handle;
  context.lineWidth = 2;
  context.beginPath();
  if (handle.kind === "insert") {
    context.fillStyle = "rgb(11 95 159 / 78%)";
    context.arc(x, y, 7, 0, 2 * Math.PI);
    context.fill();
    context.strokeStyle = "#fff";
    context.lineWidth = 1.6;
    context.beginPath();
    context.moveTo(x - 3.5, y);
    context.lineTo(x + 3.5, y);
    context.moveTo(x, y - 3.5);
    context.lineTo(x, y + 3.5);
    context.stroke();
    return;
  }
  if (handle.kind === "start") {
    paintFlag(context, handle, startSelected ? palette.accent : "#18181a");
    return;
  }
  if (handle.kind === "scale") context.rect(x - 5, y - 5, 10, 10);
  else context.arc(x, y, handle.kind === "rotate" ? 8 : 6.5, 0, 2 * Math.PI);
  context.fillStyle = handle.kind === "rotate" ? palette.accent : "#fff";
  context.fill();
  context.strokeStyle = handle.kind === "rotate" ? "#fff" : palette.accent;
  context.stroke();
}

/** Draws the handle of the start line: a disc with a chequered pattern. */
function paintFlag(context: Context, { x, y }: Point, colour: string): void {
  context.fillStyle = colour;
  context.beginPath();
  context.arc(x, y, 10, 0, 2 * Math.PI);
  context.fill();
  context.strokeStyle = "#fff";
  context.lineWidth = 1.8;
  context.stroke();
  context.fillStyle = "#fff";
  for (const [i, k] of [
    [0, 0],
    [2, 0],
    [1, 1],
    [0, 2],
    [2, 2],
  ]) {
    context.fillRect(x - 4.5 + 3 * i, y - 4.5 + 3 * k, 3, 3);
  }
}

/** Draws the guide lines that a dragged item was aligned to. */
export function paintGuides(context: Context, guides: readonly Guide[], viewport: Viewport, palette: Palette): void {
  context.strokeStyle = palette.accent;
  context.lineWidth = 1;
  context.setLineDash([6, 4]);
  context.beginPath();
  for (const { axis, at } of guides) {
    const { x, y } = viewport.toScreen({ x: at, y: at });
    if (axis === "x") segment(context, x, 0, "down", viewport.height);
    else segment(context, 0, y, "across", viewport.width);
  }
  context.stroke();
  context.setLineDash([]);
}

/** Draws the rectangle that selects items. */
export function paintBand(context: Context, band: Extent, viewport: Viewport, palette: Palette): void {
  const [a, b] = [viewport.toScreen({ x: band.minX, y: band.maxY }), viewport.toScreen({ x: band.maxX, y: band.minY })];
  context.fillStyle = palette.accent;
  context.globalAlpha = 0.14;
  context.fillRect(a.x, a.y, b.x - a.x, b.y - a.y);
  context.globalAlpha = 1;
  context.strokeStyle = palette.accent;
  context.lineWidth = 1;
  context.strokeRect(Math.round(a.x) + 0.5, Math.round(a.y) + 0.5, Math.round(b.x - a.x), Math.round(b.y - a.y));
}

/** Draws the points of a line that is being drawn, and a segment to the pointer. */
export function paintPen(
  context: Context,
  points: readonly Point[],
  pointer: Point | null,
  viewport: Viewport,
  palette: Palette,
): void {
  const all = pointer ? [...points, pointer] : points;
  context.strokeStyle = palette.accent;
  context.lineWidth = 2;
  context.setLineDash([6, 5]);
  context.beginPath();
  all.forEach((point, i) => {
    const { x, y } = viewport.toScreen(point);
    if (i === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  });
  context.stroke();
  context.setLineDash([]);
  points.forEach((point, i) => {
    const { x, y } = viewport.toScreen(point);
    context.beginPath();
    context.arc(x, y, i === 0 ? 8 : 5.5, 0, 2 * Math.PI);
    context.fillStyle = i === 0 ? palette.accent : "#fff";
    context.fill();
    context.strokeStyle = i === 0 ? "#fff" : "#0b5f9f";
    context.lineWidth = 2.5;
    context.stroke();
  });
}
