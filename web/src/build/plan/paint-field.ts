/** Draws floor, fence, decals and road of the top view, in metres. */
import type { Road } from "../client.ts";
import { decalsOf, DEFAULTS, type ProjectDocument } from "../document.ts";
import { groundTile, TILE_PX } from "../ground.ts";
import type { PictureCache } from "../pictures-cache.ts";
import { edgeLines, startSquares } from "../road-shapes.ts";

type Context = CanvasRenderingContext2D;
type Points = readonly (readonly number[])[];

export const ASPHALT = "#3f4043";
const PAINT = "#f4f4f0";
const FENCE_M = 0.03;

/** Adds a line through points to the current path. */
export function trace(context: Context, points: Points, closed: boolean): void {
  points.forEach(([x, y], i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
  if (closed) context.closePath();
}

export function paintField(context: Context, document: ProjectDocument, pictures: PictureCache): void {
  const [width, height] = document.field.size;
  context.save();
  context.shadowColor = "rgb(0 0 0 / 35%)";
  context.shadowBlur = 24;
  context.fillStyle = "#687382";
  context.fillRect(0, 0, width, height);
  context.restore();
  context.fillStyle = floor(context, document, pictures);
  context.fillRect(0, 0, width, height);
}

function floor(context: Context, document: ProjectDocument, pictures: PictureCache): CanvasPattern | string {
  const ground = document.field.ground ?? "carpet";
  const tile = typeof ground === "string" ? groundTile(ground) : pictures.get(ground.picture);
  const pattern = tile && context.createPattern(tile, "repeat");
  if (!pattern) return "#687382";
  // A tile covers one square metre. The y axis of a picture points down.
  const [w, h] = tile instanceof HTMLImageElement ? [tile.naturalWidth, tile.naturalHeight] : [TILE_PX, TILE_PX];
  pattern.setTransform(new DOMMatrix([1 / w, 0, 0, -1 / h, 0, 1]));
  return pattern;
}

export function paintFence(context: Context, document: ProjectDocument): void {
  if (!document.fence) return;
  const [width, height] = document.field.size;
  context.strokeStyle = document.fence.colour ?? DEFAULTS.fenceColour;
  context.lineWidth = FENCE_M;
  context.strokeRect(-FENCE_M / 2, -FENCE_M / 2, width + FENCE_M, height + FENCE_M);
}

export function paintDecals(context: Context, document: ProjectDocument, pictures: PictureCache): void {
  for (const { picture, x, y, yaw, width, height } of decalsOf(document)) {
    context.save();
    context.translate(x, y);
    context.rotate(yaw ?? 0);
    const image = pictures.get(picture);
    if (image) {
      context.scale(1, -1);
      context.drawImage(image, -width / 2, -height / 2, width, height);
    } else {
      context.fillStyle = "rgb(255 255 255 / 22%)";
      context.fillRect(-width / 2, -height / 2, width, height);
    }
    context.restore();
  }
}

export function paintRoad(context: Context, document: ProjectDocument, road: Road): void {
  const { outer_line: outer, centre_line: centre, start_line: hasStart } = document.track;
  context.fillStyle = ASPHALT;
  fillStrip(context, road.left, road.right, road.closed);
  const edge = outer?.width ?? DEFAULTS.outerLine;
  if (edge > 0) {
    context.fillStyle = outer?.colour ?? PAINT;
    for (const line of edgeLines(road, edge)) fillStrip(context, line.outer, line.inner, road.closed);
  }
  if (centre) {
    context.strokeStyle = centre.colour ?? PAINT;
    context.lineWidth = centre.width ?? DEFAULTS.centreLine.width;
    const gap = centre.gap ?? DEFAULTS.centreLine.gap;
    context.setLineDash(gap > 0 ? [centre.dash ?? DEFAULTS.centreLine.dash, gap] : []);
    context.beginPath();
    trace(context, road.centre, road.closed);
    context.stroke();
    context.setLineDash([]);
  }
  if (hasStart ?? true) {
    for (const { polygon, isWhite } of startSquares(road)) {
      context.fillStyle = isWhite ? PAINT : "#18181a";
      context.beginPath();
      trace(context, polygon, true);
      context.fill();
    }
  }
}

/** Fills the area between two lines. */
function fillStrip(context: Context, one: Points, two: Points, closed: boolean): void {
  // Draws one quadrilateral per sample. A single polygon of both lines would have holes where the
  // road overlaps itself. All quadrilaterals have the same direction; otherwise two overlapping
  // ones would cancel each other out.
  const count = closed ? one.length : one.length - 1;
  context.beginPath();
  for (let i = 0; i < count; i++) {
    const k = i + 1 === one.length ? 0 : i + 1;
    const [a, b, c, d] = [one[i], one[k], two[k], two[i]];
    // The cross product of the diagonals is twice the signed area.
    const isLeft = (c[0] - a[0]) * (d[1] - b[1]) - (c[1] - a[1]) * (d[0] - b[0]) >= 0;
    const [second, last] = isLeft ? [b, d] : [d, b];
    context.moveTo(a[0], a[1]);
    context.lineTo(second[0], second[1]);
    context.lineTo(c[0], c[1]);
    context.lineTo(last[0], last[1]);
    context.closePath();
  }
  context.fill();
}
