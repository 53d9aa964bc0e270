/** The geometry of a crop: a rectangle inside a picture, in pixels of the picture. */

export interface Size {
  width: number;
  height: number;
}

export interface Crop extends Size {
  left: number;
  top: number;
}

/** What the user drags: the whole rectangle, or one of its corners. */
export type Handle = "move" | "nw" | "ne" | "sw" | "se";

/** Smallest side of a crop, in pixels, unless the picture or the ratio requires a smaller one. */
export const MIN_SIDE = 8;

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), Math.max(low, high));

/** The largest crop with this ratio of width to height; the whole picture if `ratio` is null. */
export function fullCrop(picture: Size, ratio: number | null): Crop {
  if (ratio === null) return { left: 0, top: 0, width: picture.width, height: picture.height };
  const width = Math.min(picture.width, picture.height * ratio);
  return centred(picture, { width: Math.round(width), height: Math.round(width / ratio) });
}

function centred(picture: Size, { width, height }: Size): Crop {
  return {
    left: Math.round((picture.width - width) / 2),
    top: Math.round((picture.height - height) / 2),
    width,
    height,
  };
}

/** The nearest valid crop: it lies in the picture, has whole pixels, and has the ratio. */
export function fitted(picture: Size, crop: Crop, ratio: number | null): Crop {
  const finite = (value: number, fallback: number): number => (Number.isFinite(value) ? value : fallback);
  let width = clamp(Math.round(finite(crop.width, picture.width)), MIN_SIDE, picture.width);
  let height = clamp(Math.round(finite(crop.height, picture.height)), MIN_SIDE, picture.height);
  if (ratio !== null) {
    width = Math.round(Math.min(width, picture.height * ratio));
    height = Math.round(width / ratio);
  }
  width = Math.min(width, picture.width);
  height = Math.min(height, picture.height);
  return {
    left: clamp(Math.round(finite(crop.left, 0)), 0, picture.width - width),
    top: clamp(Math.round(finite(crop.top, 0)), 0, picture.height - height),
    width,
    height,
  };
}

/**
 * The crop after a drag by `dx`, `dy`. While a corner is dragged, the opposite corner stays in
 * place.
 */
export function dragged(picture: Size, crop: Crop, handle: Handle, dx: number, dy: number, ratio: number | null): Crop {
  if (handle === "move") return fitted(picture, { ...crop, left: crop.left + dx, top: crop.top + dy }, ratio);
  const isWest = handle === "nw" || handle === "sw";
  const isNorth = handle === "nw" || handle === "ne";
  const right = crop.left + crop.width;
  const bottom = crop.top + crop.height;
  // The side cannot be longer than the room between the fixed corner and the edge of the picture.
  let width = clamp(crop.width + (isWest ? -dx : dx), MIN_SIDE, isWest ? right : picture.width - crop.left);
  let height = clamp(crop.height + (isNorth ? -dy : dy), MIN_SIDE, isNorth ? bottom : picture.height - crop.top);
  if (ratio !== null) {
    width = Math.min(width, height * ratio);
    height = width / ratio;
  }
  width = Math.round(width);
  height = Math.round(height);
  return { left: isWest ? right - width : crop.left, top: isNorth ? bottom - height : crop.top, width, height };
}

/**
 * The size of the stored picture: the size of the crop, reduced if a side is longer than `most`.
 */
export function outputSize(crop: Size, most: number): Size {
  const scale = Math.min(1, most / Math.max(crop.width, crop.height));
  return { width: Math.max(1, Math.round(crop.width * scale)), height: Math.max(1, Math.round(crop.height * scale)) };
}

/** The handle at a point; null outside. A corner is hit up to `reach` away along each axis. */
export function handleAt(crop: Crop, x: number, y: number, reach: number): Handle | null {
  const near = (a: number, b: number): boolean => Math.abs(a - b) <= reach;
  const [right, bottom] = [crop.left + crop.width, crop.top + crop.height];
  if (near(x, crop.left) && near(y, crop.top)) return "nw";
  if (near(x, right) && near(y, crop.top)) return "ne";
  if (near(x, crop.left) && near(y, bottom)) return "sw";
  if (near(x, right) && near(y, bottom)) return "se";
  const isInside = x >= crop.left && x <= right && y >= crop.top && y <= bottom;
  return isInside ? "move" : null;
}

/**
 * A file name that the project does not have yet. `_` replaces each run of characters of `wanted`
 * that are not ASCII letters, digits, `_` or `-`.
 */
export function freeName(wanted: string, type: string, taken: readonly string[]): string {
  const extension = type === "image/png" ? "png" : "jpg";
  const base =
    wanted
      .replace(/\.[^.]*$/, "")
      .normalize("NFKD")
      .replace(/[^A-Za-z0-9_-]+/g, "_")
      .replace(/^_+|_+$/g, "")
      .slice(0, 60) || "picture";
  const lower = new Set(taken.map((name) => name.toLowerCase()));
  for (let number = 1; ; number++) {
    const name = `${base}${number === 1 ? "" : `_${number}`}.${extension}`;
    if (!lower.has(name.toLowerCase())) return name;
  }
}
