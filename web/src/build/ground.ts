/**
 * The textures of the floor, drawn once. The top view and the 3D view use them. A tile is one
 * square metre.
 */

export const TILE_PX = 256;

/** Colours of a floor: the base and the specks. `length` is the length of a speck in pixels. */
const FLOORS = {
  carpet: { base: "#687382", specks: ["#5d6776", "#76818f", "#636d7b", "#7f8a98"], length: 3 },
  grass: { base: "#5f8f47", specks: ["#557f3f", "#6a9c50", "#4d773a", "#77a85b"], length: 7 },
} as const;

const tiles = new Map<string, HTMLCanvasElement>();

/** The tile of a built-in floor. */
export function groundTile(kind: "carpet" | "grass"): HTMLCanvasElement {
  const known = tiles.get(kind);
  if (known) return known;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = TILE_PX;
  const context = canvas.getContext("2d");
  if (context) paintTile(context, FLOORS[kind]);
  tiles.set(kind, canvas);
  return canvas;
}

function paintTile(context: CanvasRenderingContext2D, floor: (typeof FLOORS)[keyof typeof FLOORS]): void {
  context.fillStyle = floor.base;
  context.fillRect(0, 0, TILE_PX, TILE_PX);
  // The pseudo-random numbers have a fixed start value, so that the floor looks the same on every
  // page.
  let state = 7;
  const next = () => (state = (state * 16807) % 2147483647) / 2147483647;
  context.lineWidth = 1.6;
  for (let i = 0; i < 5200; i++) {
    const [x, y, angle] = [next() * TILE_PX, next() * TILE_PX, next() * Math.PI];
    context.strokeStyle = floor.specks[Math.floor(next() * floor.specks.length)];
    context.globalAlpha = 0.35 + 0.4 * next();
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + floor.length * Math.cos(angle), y + floor.length * Math.sin(angle));
    context.stroke();
  }
  context.globalAlpha = 1;
}
