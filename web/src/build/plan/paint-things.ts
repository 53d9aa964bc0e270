/** Draws the objects of the top view as seen from above, in metres. */
import { colourOf, objectsOf, sizeOf, type FieldObject, type ProjectDocument } from "../document.ts";
import type { PictureCache } from "../pictures-cache.ts";
import type { Viewport } from "./viewport.ts";

type Context = CanvasRenderingContext2D;

export function paintObjects(
  context: Context,
  document: ProjectDocument,
  pictures: PictureCache,
  viewport: Viewport,
): void {
  for (const object of objectsOf(document)) {
    context.save();
    context.translate(object.x, object.y);
    context.rotate(object.yaw ?? 0);
    // The length of the shadow indicates the height of the object.
    const height = sizeOf(object)[2];
    context.shadowColor = "rgb(0 0 0 / 45%)";
    context.shadowBlur = Math.min(18, 0.08 * viewport.scale);
    context.shadowOffsetX = 0.12 * height * viewport.scale;
    context.shadowOffsetY = 0.12 * height * viewport.scale;
    context.lineWidth = viewport.metres(1);
    context.strokeStyle = "rgb(0 0 0 / 45%)";
    PAINTERS[object.kind](context, object, pictures);
    context.restore();
  }
}

const PAINTERS: Readonly<
  Record<FieldObject["kind"], (context: Context, object: FieldObject, pictures: PictureCache) => void>
> = { box: paintBox, cylinder: paintDisc, sphere: paintSphere, cone: paintCone, light: paintLight };

function withoutShadow(context: Context): void {
  context.shadowColor = "transparent";
}

function paintBox(context: Context, object: FieldObject, pictures: PictureCache): void {
  const [x, y] = sizeOf(object);
  context.fillStyle = colourOf(object);
  context.beginPath();
  context.rect(-x / 2, -y / 2, x, y);
  context.fill();
  withoutShadow(context);
  const image = topPicture(object, pictures);
  if (image) {
    context.save();
    // The right side of the picture is at the left side of the box (+y). The lower side of the
    // picture is at the front of the box (+x).
    context.transform(0, 1, 1, 0, 0, 0);
    context.drawImage(image, -y / 2, -x / 2, y, x);
    context.restore();
  }
  context.stroke();
  // A light edge marks the front of the box.
  context.fillStyle = "rgb(255 255 255 / 45%)";
  context.fillRect(x / 2 - Math.min(0.02, x / 6), -y / 2, Math.min(0.02, x / 6), y);
}

function disc(context: Context, radius: number): void {
  context.beginPath();
  context.arc(0, 0, radius, 0, 2 * Math.PI);
}

function topPicture(object: FieldObject, pictures: PictureCache): CanvasImageSource | null {
  const name = object.textures?.["top"];
  return name ? pictures.get(name) : null;
}

function paintDisc(context: Context, object: FieldObject, pictures: PictureCache): void {
  const radius = sizeOf(object)[0] / 2;
  context.fillStyle = colourOf(object);
  disc(context, radius);
  context.fill();
  withoutShadow(context);
  context.stroke();
  const image = topPicture(object, pictures);
  if (image) {
    context.clip();
    context.scale(1, -1);
    context.drawImage(image, -radius, -radius, 2 * radius, 2 * radius);
    return;
  }
  context.fillStyle = "rgb(255 255 255 / 25%)";
  disc(context, 0.72 * radius);
  context.fill();
}

function paintSphere(context: Context, object: FieldObject): void {
  const radius = sizeOf(object)[0] / 2;
  const shine = context.createRadialGradient(-0.35 * radius, 0.35 * radius, 0.05 * radius, 0, 0, radius);
  shine.addColorStop(0, "#ffffff");
  shine.addColorStop(0.25, colourOf(object));
  shine.addColorStop(1, colourOf(object));
  context.fillStyle = shine;
  disc(context, radius);
  context.fill();
  withoutShadow(context);
  context.stroke();
}

function paintCone(context: Context, object: FieldObject): void {
  const half = sizeOf(object)[0] / 2;
  context.fillStyle = colourOf(object);
  context.beginPath();
  context.roundRect(-half, -half, 2 * half, 2 * half, 0.25 * half);
  context.fill();
  withoutShadow(context);
  context.stroke();
  for (const [radius, colour] of [
    [0.78, "rgb(0 0 0 / 18%)"],
    [0.6, "#f4f4f0"],
    [0.42, colourOf(object)],
    [0.18, "#f4f4f0"],
  ] as const) {
    context.fillStyle = colour;
    disc(context, radius * half);
    context.fill();
  }
}

function paintLight(context: Context, object: FieldObject): void {
  const [x, y] = sizeOf(object);
  context.fillStyle = colourOf(object);
  context.beginPath();
  context.roundRect(-x / 2, -y / 2, x, y, 0.12 * Math.min(x, y));
  context.fill();
  withoutShadow(context);
  context.stroke();
  // The screen faces the direction of the heading.
  context.fillStyle = "#0c0e12";
  context.fillRect(x / 2 - 0.35 * x, -0.46 * y, 0.35 * x, 0.92 * y);
  ["#ff5347", "#ffc83a", "#3ddc84"].forEach((colour, i) => {
    context.fillStyle = colour;
    context.beginPath();
    context.arc(x / 2 - 0.17 * x, (i - 1) * 0.28 * y, 0.11 * Math.min(x, y), 0, 2 * Math.PI);
    context.fill();
  });
}
