/**
 * The ground around the field: a painted picture near it, and a wide lawn that fades into the haze.
 *
 * The picture contains paving, lawn, parking bays and the soft shadows of all surroundings, so that
 * they need no light computation.
 */
import * as THREE from "three";
import type { WorldLighting } from "../load.ts";
import { MARGIN_M, type Parking, PLAZA_M } from "./layout.ts";
import { type Footprint, linear, mix, type Rgb } from "./painter.ts";

/** The ground is this much lower than the field. At the same height, both would flicker. */
const BELOW_M = 0.012;
/** Radius of the lawn, in metres. */
const HORIZON_M = 420;
/**
 * The distances between the rings of the far lawn grow with the radius of the ground picture, up to
 * this radius in metres. Around a larger picture, they stay the same.
 */
const LARGE_M = 25;
const LAWN = "#7b955a";
const PAVING = "#b9b3a7";
const ASPHALT = "#6d7076";

/** A square picture of grey noise that can be tiled. Its pixels are translucent black or white. */
function noise(size: number, strength: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d");
  if (!context) return canvas;
  const image = context.createImageData(size, size);
  let state = 1;
  for (let i = 0; i < image.data.length; i += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const value = state / 4294967296 - 0.5;
    image.data.fill(value > 0 ? 255 : 0, i, i + 3);
    image.data[i + 3] = 255 * strength * Math.abs(value);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Light on the ground, as factors for the colour channels. */
function lightOnGround({ ambient, sun }: WorldLighting): Rgb {
  const [x, y, z] = sun.direction;
  const cosine = Math.max(0, -z / (Math.hypot(x, y, z) || 1));
  const channel = (i: 0 | 1 | 2) => ambient[i] + cosine * sun.colour[i];
  return [channel(0), channel(1), channel(2)];
}

/** Paints the picture of the ground near the field. */
function paint(bounds: THREE.Box2, lighting: WorldLighting, parking: readonly Parking[], footprints: readonly Footprint[], pixels: number): HTMLCanvasElement {
  const size = bounds.getSize(new THREE.Vector2()).addScalar(2 * MARGIN_M);
  const scale = pixels / Math.max(size.x, size.y);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(size.x * scale);
  canvas.height = Math.round(size.y * scale);
  const c = canvas.getContext("2d", { alpha: false });
  if (!c) return canvas;
  // From here on, one unit is a metre, and y points up.
  c.setTransform(scale, 0, 0, -scale, -scale * (bounds.min.x - MARGIN_M), canvas.height + scale * (bounds.min.y - MARGIN_M));
  const { min, max } = bounds;
  const [w, h] = [max.x - min.x, max.y - min.y];
  const all = [min.x - MARGIN_M, min.y - MARGIN_M, size.x, size.y] as const;
  c.fillStyle = LAWN;
  c.fillRect(...all);
  // Mown stripes, parallel to the x axis.
  for (let i = 0, y = all[1]; y < all[1] + size.y; y += 0.7, i++) {
    c.fillStyle = i % 2 ? "rgb(255 255 225 / 7%)" : "rgb(20 50 10 / 6%)";
    c.fillRect(all[0], y, size.x, 0.7);
  }
  grain(c, all, 0.22, 0.018);
  const off = PLAZA_M;
  const plaza = (grow: number) => {
    c.beginPath();
    c.roundRect(min.x - off - grow, min.y - off - grow, w + 2 * (off + grow), h + 2 * (off + grow), 0.5 + grow);
  };
  c.fillStyle = "#8f897d";
  plaza(0.05);
  c.fill();
  c.fillStyle = PAVING;
  plaza(0);
  c.fill();
  c.save();
  plaza(0);
  c.clip();
  tiles(c, min.x - off, min.y - off, w + 2 * off, h + 2 * off);
  grain(c, [min.x - off, min.y - off, w + 2 * off, h + 2 * off], 0.1, 0.012);
  c.restore();
  for (const strip of parking) bays(c, strip, min.y - PLAZA_M);
  shadows(c, lighting, footprints);
  // The fence darkens the ground next to it, because it hides a part of the sky.
  for (const [blur, alpha] of [[0.9, 0.34], [0.3, 0.4], [0.08, 0.5]]) {
    c.save();
    c.shadowColor = `rgb(28 30 36 / ${alpha * 100}%)`;
    c.shadowBlur = blur * scale;
    c.fillStyle = "#3a3c40";
    c.fillRect(min.x, min.y, w, h);
    c.restore();
  }
  // Towards its edge, the picture fades to the plain colour of the lawn behind it.
  const edge = 2.2;
  for (const [x0, y0, x1, y1] of [
    [all[0], 0, all[0] + edge, 0],
    [all[0] + size.x, 0, all[0] + size.x - edge, 0],
    [0, all[1], 0, all[1] + edge],
    [0, all[1] + size.y, 0, all[1] + size.y - edge],
  ]) {
    const fade = c.createLinearGradient(x0, y0, x1, y1);
    fade.addColorStop(0, LAWN);
    fade.addColorStop(1, `${LAWN}00`);
    c.fillStyle = fade;
    c.fillRect(...all);
  }
  return canvas;
}

function grain(c: CanvasRenderingContext2D, [x, y, w, h]: readonly [number, number, number, number], strength: number, pixel: number): void {
  for (const [size, by] of [[pixel, strength], [7 * pixel, 0.5 * strength]] as const) {
    const pattern = c.createPattern(noise(128, by), "repeat");
    if (!pattern) continue;
    pattern.setTransform(new DOMMatrix().scale(size));
    c.fillStyle = pattern;
    c.fillRect(x, y, w, h);
  }
}

/** Slabs with a side of 0.45 m, in slightly different tones. */
function tiles(c: CanvasRenderingContext2D, x0: number, y0: number, w: number, h: number): void {
  const side = 0.45;
  let state = 7;
  for (let y = y0, row = 0; y < y0 + h; y += side, row++) {
    for (let x = x0 - (row % 2) * (side / 2); x < x0 + w; x += side) {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      const tone = (state >>> 16) / 65536 - 0.5;
      c.fillStyle = tone > 0 ? `rgb(255 255 250 / ${16 * tone}%)` : `rgb(70 60 50 / ${-14 * tone}%)`;
      c.fillRect(x, y, side, side);
      c.fillStyle = "rgb(80 72 60 / 26%)";
      c.fillRect(x, y, side, 0.012);
      c.fillRect(x, y, 0.012, side);
    }
  }
}

function bays(c: CanvasRenderingContext2D, { x, y, along, across, bays: count }: Parking, plaza: number): void {
  c.fillStyle = ASPHALT;
  c.beginPath();
  c.roundRect(x - along - 0.05, y - across - 0.35, 2 * along + 0.1, plaza - y + across + 0.35, 0.12);
  c.fill();
  grain(c, [x - along, y - across - 0.3, 2 * along, plaza - y + across + 0.3], 0.12, 0.014);
  c.fillStyle = "#eceae4";
  for (let i = 0; i <= count; i++) c.fillRect(x + 0.34 * (i - count / 2) - 0.01, y - across + 0.02, 0.02, 2 * across - 0.04);
}

/**
 * Two soft shadows for everything that stands on the ground: one directly below it, and one that is
 * shifted away from the sun.
 */
function shadows(c: CanvasRenderingContext2D, { sun }: WorldLighting, footprints: readonly Footprint[]): void {
  const [sx, sy, sz] = sun.direction;
  for (const { x, y, along, across, yaw, height } of footprints) {
    for (const [part, grow, alpha] of [[0, 1.12, 0.42], [0.75, 1.02, 0.3]]) {
      c.save();
      c.translate(x + (part * height * sx) / Math.max(0.2, -sz), y + (part * height * sy) / Math.max(0.2, -sz));
      c.rotate(yaw);
      c.scale(along * grow * 1.15, across * grow * 1.15);
      const soft = c.createRadialGradient(0, 0, 0.15, 0, 0, 1.2);
      soft.addColorStop(0, `rgb(24 30 34 / ${alpha * 100}%)`);
      soft.addColorStop(0.55, `rgb(24 30 34 / ${alpha * 70}%)`);
      soft.addColorStop(1, "rgb(24 30 34 / 0%)");
      c.fillStyle = soft;
      // The gradient fills a rectangle and not a circle, so that a long footprint keeps its shape.
      c.fillRect(-1.2, -1.2, 2.4, 2.4);
      c.restore();
    }
  }
}

/** The ground as a group of two meshes. */
export function makeGround(
  bounds: THREE.Box2,
  lighting: WorldLighting,
  parking: readonly Parking[],
  footprints: readonly Footprint[],
  options: { pixels: number; shadows: boolean; anisotropy: number },
): THREE.Group {
  const group = new THREE.Group();
  const size = bounds.getSize(new THREE.Vector2()).addScalar(2 * MARGIN_M);
  const centre = bounds.getCenter(new THREE.Vector2());
  const light = lightOnGround(lighting);
  const texture = new THREE.CanvasTexture(paint(bounds, lighting, parking, footprints, options.pixels));
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.anisotropy = options.anisotropy;
  if (options.anisotropy === 1) texture.minFilter = THREE.LinearMipmapNearestFilter;
  const material = options.shadows
    ? new THREE.MeshLambertMaterial({ map: texture })
    : new THREE.MeshBasicMaterial({ map: texture, color: new THREE.Color().setRGB(...light) });
  const near = new THREE.Mesh(frame(bounds), material);
  near.receiveShadow = options.shadows;
  group.add(near, farLawn(centre, size, light, lighting.sky.horizon));
  for (const mesh of group.children) mesh.raycast = () => {};
  return group;
}

/** The area of the picture without the part below the field, which would be hidden anyway. */
function frame({ min, max }: THREE.Box2): THREE.BufferGeometry {
  const [w, h] = [max.x - min.x + 2 * MARGIN_M, max.y - min.y + 2 * MARGIN_M];
  // A narrow strip continues below the field, so that no gap is visible at its edge.
  const under = 0.04;
  const xs = [min.x - MARGIN_M, min.x + under, max.x - under, max.x + MARGIN_M];
  const ys = [min.y - MARGIN_M, min.y + under, max.y - under, max.y + MARGIN_M];
  const [positions, normals, uvs, index]: number[][] = [[], [], [], []];
  for (const y of ys) {
    for (const x of xs) {
      positions.push(x, y, -BELOW_M);
      normals.push(0, 0, 1);
      uvs.push((x - xs[0]) / w, (y - ys[0]) / h);
    }
  }
  for (let row = 0; row < 3; row++) {
    for (let column = 0; column < 3; column++) {
      if (row === 1 && column === 1) continue;
      const a = 4 * row + column;
      index.push(a, a + 1, a + 5, a, a + 5, a + 4);
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setIndex(index);
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new THREE.Float32BufferAttribute(normals, 3));
  geometry.setAttribute("uv", new THREE.Float32BufferAttribute(uvs, 2));
  return geometry;
}

/** The lawn from the edge of the picture to the horizon, with hills in the distance. */
function farLawn(centre: THREE.Vector2, size: THREE.Vector2, light: Rgb, horizon: Rgb): THREE.Mesh {
  const lawn = linear(new THREE.Color(LAWN).getHex());
  const lit: Rgb = [lawn[0] * light[0], lawn[1] * light[1], lawn[2] * light[2]];
  const reach = Math.hypot(size.x, size.y) / 2;
  /** A distance from the centre: a multiple of the picture's radius, limited for large fields. */
  const away = (factor: number) => reach + (factor - 1) * Math.min(reach, LARGE_M);
  const [positions, colours]: [number[], number[]] = [[], []];
  const steps = 96;
  /** Each ring: distance, height, fraction of haze. The first ring is the edge of the picture. */
  const rings: [number, number, number][] = [[0, 0, 0]];
  for (const far of [1, 1.3, 1.7, 2.3, 3.2, 4.4]) rings.push([away(far), 0, 1 - Math.exp(-(((far - 1) / 3.2) ** 1.2))]);
  rings.push([away(5.6), 0, 0.8], [Math.max(0.45 * HORIZON_M, away(6.5)), 0, 0.97], [Math.max(HORIZON_M, away(8)), 0, 1]);
  const ring = (k: number, i: number): [number, number, number] => {
    const angle = (2 * Math.PI * i) / steps;
    const [x, y] = [Math.cos(angle), Math.sin(angle)];
    const [far, height] = rings[k];
    // The first ring follows the rectangle of the picture.
    const edge = Math.min(size.x / 2 / Math.max(1e-6, Math.abs(x)), size.y / 2 / Math.max(1e-6, Math.abs(y)));
    const distance = k === 0 ? edge - 0.02 : far;
    return [centre.x + x * distance, centre.y + y * distance, height - BELOW_M - (k === 0 ? 0.004 : 0)];
  };
  const colour = (k: number) => mix(lit, horizon, rings[k][2]);
  for (let k = 0; k + 1 < rings.length; k++) {
    for (let i = 0; i < steps; i++) {
      const corners = [[k, i], [k + 1, i], [k + 1, i + 1], [k, i], [k + 1, i + 1], [k, i + 1]];
      for (const [r, s] of corners) (positions.push(...ring(r, s)), colours.push(...colour(r)));
    }
  }
  // Two ranges of hills. The farther one is lighter.
  for (const [far, tall, haze, seed] of [[away(4.2), 0.05, 0.5, 1], [away(5.4), 0.085, 0.72, 4]]) {
    const top = (i: number) => {
      const a = (2 * Math.PI * i) / steps;
      return far * tall * (0.55 + 0.25 * Math.sin(3 * a + seed) + 0.2 * Math.sin(7 * a + 2 * seed) + 0.1 * Math.sin(13 * a + seed));
    };
    const shade = mix([lit[0] * 0.62, lit[1] * 0.72, lit[2] * 0.8], horizon, haze);
    const at = (i: number, z: number) => {
      const a = (2 * Math.PI * i) / steps;
      return [centre.x + far * Math.cos(a), centre.y + far * Math.sin(a), z] as const;
    };
    for (let i = 0; i < steps; i++) {
      // Counter-clockwise seen from the centre.
      const corners = [at(i, -0.1), at(i, top(i)), at(i + 1, top(i + 1)), at(i, -0.1), at(i + 1, top(i + 1)), at(i + 1, -0.1)];
      for (const corner of corners) (positions.push(...corner), colours.push(...(corner[2] > 0 ? shade : mix(shade, horizon, 0.45))));
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
  return new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide }));
}
