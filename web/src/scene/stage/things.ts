/** What stands around the field: trees, stands with spectators, parked cars, houses, tents. */
import { linear, mix, type Painter, type Rgb } from "./painter.ts";

const LEAVES = [0x5f8f3e, 0x6f9a45, 0x4f8242, 0x7fa24c, 0x8aa651].map(linear);
const NEEDLES = [0x3f6f4a, 0x376446].map(linear);
const BARK = linear(0x6d5138);
const GLASS = linear(0x2b3a48);
const TYRE = linear(0x1d1f22);
const PAINTS = [0xc8473b, 0x2f6db5, 0xe8e6e0, 0x3b4047, 0xd9a441, 0x7f8a95, 0x2f7d67, 0xf0efe9].map(linear);
const SHIRTS = [0xd84f45, 0x3f7fc4, 0xf2c14e, 0xf4f1ea, 0x4aa56c, 0x8a5fb0, 0x2f3a4a, 0xe98a3a].map(linear);
const SKIN = [0xf0c9a5, 0xd8a679, 0xa9754d, 0x7c5337].map(linear);
const CONCRETE = linear(0xb9b6ae);
const WHITE = linear(0xf2f0ea);
const WALLS = [0xe9dcc3, 0xd9c3a0, 0xc98f6f, 0xe4e0d6, 0xb8cbd1].map(linear);
const ROOFS = [0x9c4f3c, 0xa85c42, 0x7d4a3f].map(linear);

const pick = <T>(from: readonly T[], random: () => number): T => from[Math.floor(random() * from.length)] ?? from[0];

/** A broad-leaved tree or a fir at the current place, about 1 m tall at scale 1. */
export function tree(p: Painter, random: () => number, detailed: boolean): void {
  const detail = detailed ? 1 : 0;
  p.footprint(0.34, 0.34, 0.5);
  if (random() < 0.26) {
    const colour = pick(NEEDLES, random);
    p.taper(0, 0, 0, 0.05, 0.04, 0.18, 5, BARK);
    p.taper(0, 0, 0.12, 0.3, 0, 0.48, 9, colour, 0.62);
    p.taper(0, 0, 0.36, 0.24, 0, 0.42, 9, mix(colour, WHITE, 0.04), 0.66);
    p.taper(0, 0, 0.6, 0.17, 0, 0.4, 9, mix(colour, WHITE, 0.08), 0.7);
    return;
  }
  const colour = pick(LEAVES, random);
  p.taper(0, 0, 0, 0.055, 0.035, 0.42, 6, BARK);
  p.blob(0, 0, 0.66, 0.3, colour, random, detail);
  for (let i = 0, from = 6.28 * random(); i < 3; i++) {
    const angle = from + 2.1 * i + 0.4 * random();
    const reach = 0.15 + 0.06 * random();
    p.blob(reach * Math.cos(angle), reach * Math.sin(angle), 0.5 + 0.14 * random(), 0.19 + 0.05 * random(), mix(colour, pick(LEAVES, random), 0.3), random, detail);
  }
}

/** A bush at the current place, about 0.2 m tall at scale 1. */
export function bush(p: Painter, random: () => number, detailed: boolean): void {
  const colour = pick(LEAVES, random);
  p.footprint(0.16, 0.13, 0.06);
  p.blob(0, 0, 0.075, 0.115, colour, random, detailed ? 1 : 0);
  if (detailed) p.blob(0.09, 0.02, 0.055, 0.08, mix(colour, pick(LEAVES, random), 0.4), random, 1);
}

/** A parked car, 0.42 m long, with its front at +x. */
export function car(p: Painter, random: () => number): void {
  const paint = pick(PAINTS, random);
  const roof = mix(paint, WHITE, 0.06);
  const [half, low, belt, high] = [0.092, 0.035, 0.095, 0.15];
  p.footprint(0.23, 0.12, 0.1);
  for (const x of [-0.13, 0.13]) {
    for (const y of [-0.082, 0.082]) p.box(x, y, 0, [0.075, 0.03, 0.07], TYRE, TYRE, 0.9);
  }
  p.box(0, 0, low, [0.42, 2 * half, 0.04], paint, paint, 0.6);
  // The upper body is a little narrower, and slopes at both ends.
  const ring = (x0: number, x1: number, w: number, z: number) =>
    [[x0, -w, z], [x1, -w, z], [x1, w, z], [x0, w, z]] as const;
  const loft = (a: ReturnType<typeof ring>, b: ReturnType<typeof ring>, colour: Rgb, shade = 1) => {
    for (let i = 0; i < 4; i++) p.quad(a[i], a[(i + 1) % 4], b[(i + 1) % 4], b[i], colour, shade);
  };
  const body = ring(-0.205, 0.2, half, belt);
  loft(ring(-0.21, 0.21, half, low + 0.04), body, paint);
  const bottom = ring(-0.16, 0.1, 0.085, belt);
  const top = ring(-0.115, 0.035, 0.068, high);
  p.quad(...body, paint);
  loft(bottom, top, GLASS);
  p.quad(...top, roof);
}

/**
 * A stand with a roof and spectators, `length` metres long. The spectators look along −y. The stand
 * is 0.83 m deep and 0.82 m tall.
 */
export function stand(p: Painter, length: number, random: () => number, detailed: boolean): void {
  const rows = 5;
  const [rise, run, front] = [0.085, 0.15, 0.07];
  p.footprint(length / 2 + 0.04, 0.5, 0.35, 0, 0.45);
  for (let row = 0; row < rows; row++) {
    const [y, z] = [row * run, front + row * rise];
    p.box(0, y + run / 2, 0, [length, run, z], mix(CONCRETE, WHITE, 0.12 * (row % 2)), mix(CONCRETE, WHITE, 0.25));
    const seat = 0.075;
    for (let x = -length / 2 + 0.08; x < length / 2 - 0.06; x += seat) {
      if (random() > (detailed ? 0.68 : 0.3)) continue;
      spectator(p, x + 0.02 * random(), y + 0.09, z, random);
    }
  }
  const back = rows * run;
  p.box(0, back + 0.03, 0, [length, 0.05, front + rows * rise + 0.12], linear(0x53606e));
  const posts = Math.max(2, Math.round(length / 1.4) + 1);
  for (let i = 0; i < posts; i++) {
    const x = -length / 2 + 0.05 + (i * (length - 0.1)) / (posts - 1);
    p.box(x, back, front + rows * rise, [0.025, 0.025, 0.28], linear(0x8b939c), undefined, 0.85);
  }
  // The roof rises towards the field. It has stripes, so that it looks like a tent from afar.
  const stripes = Math.max(3, Math.round(length / 0.45));
  const [rear, edge] = [back + 0.08, 0.18];
  for (let i = 0; i < stripes; i++) {
    const [a, b] = [-length / 2 + (i * length) / stripes, -length / 2 + ((i + 1) * length) / stripes];
    const colour = i % 2 ? WHITE : linear(0xc9483d);
    p.quad([a, edge, 0.82], [b, edge, 0.82], [b, rear, 0.74], [a, rear, 0.74], colour);
    p.quad([a, edge, 0.775], [b, edge, 0.775], [b, edge, 0.82], [a, edge, 0.82], mix(colour, linear(0x8a8a8a), 0.12));
    p.quad([a, rear, 0.72], [b, rear, 0.72], [b, edge, 0.8], [a, edge, 0.8], linear(0x9a948c));
  }
}

function spectator(p: Painter, x: number, y: number, z: number, random: () => number): void {
  const shirt = pick(SHIRTS, random);
  p.box(x, y, z, [0.045, 0.035, 0.07], shirt, shirt, 0.8);
  p.box(x, y, z + 0.072, [0.026, 0.026, 0.03], pick(SKIN, random), linear(0x4a3a2d), 0.9);
}

/**
 * A house with a gable roof. Its size, in metres: length along x, depth along y, height of the
 * walls.
 */
export function house(p: Painter, [length, depth, height]: readonly [number, number, number], random: () => number): void {
  const wall = pick(WALLS, random);
  const roof = pick(ROOFS, random);
  const [l, d, eaves, ridge] = [length / 2, depth / 2, 0.05, height + 0.42 * depth];
  p.footprint(l + 0.05, d + 0.05, height);
  p.box(0, 0, 0, [length, depth, height], wall, wall, 0.7);
  for (const [y, out] of [[-d, -0.004], [d, 0.004]] as const) {
    windows(p, -l, l, y + out, height, out < 0);
  }
  const drop = height - (eaves * (ridge - height)) / d;
  p.quad([-l - eaves, -d - eaves, drop], [l + eaves, -d - eaves, drop], [l + eaves, 0, ridge], [-l - eaves, 0, ridge], roof, 0.9);
  p.quad([l + eaves, d + eaves, drop], [-l - eaves, d + eaves, drop], [-l - eaves, 0, ridge], [l + eaves, 0, ridge], roof, 0.9);
  p.triangle([l, -d, height], [l, d, height], [l, 0, ridge], wall);
  p.triangle([-l, d, height], [-l, -d, height], [-l, 0, ridge], wall);
  p.box(l * 0.45, 0.12 * depth, ridge - 0.12, [0.09, 0.09, 0.22], mix(roof, linear(0x5a4a44), 0.5));
}

/** Two rows of windows on a wall along x at `y`, and a door. */
function windows(p: Painter, from: number, to: number, y: number, height: number, facesNear: boolean): void {
  const count = Math.max(2, Math.round((to - from) / 0.26));
  const pane = (x: number, z: number, w: number, h: number, colour: Rgb) => {
    const [a, b] = facesNear ? [x - w / 2, x + w / 2] : [x + w / 2, x - w / 2];
    p.quad([a, y, z], [b, y, z], [b, y, z + h], [a, y, z + h], colour);
  };
  for (let i = 0; i < count; i++) {
    const x = from + ((i + 0.5) * (to - from)) / count;
    for (const [row, z] of [0.16, 0.56].entries()) {
      const isDoor = row === 0 && i === Math.floor(count / 2);
      if (isDoor) pane(x, 0, 0.1, 0.3 * height + 0.04, linear(0x6b4430));
      else {
        pane(x, z * height - 0.012, 0.114, 0.26 * height + 0.024, WHITE);
        y += facesNear ? -0.002 : 0.002;
        pane(x, z * height, 0.09, 0.26 * height, mix(GLASS, linear(0x9fc3dc), 0.35));
        y -= facesNear ? -0.002 : 0.002;
      }
    }
  }
}

/** A tent of the paddock: four posts and a pointed roof, 0.5 m wide and 0.4 m tall. */
export function tent(p: Painter, colour: Rgb): void {
  const [half, eaves, peak] = [0.25, 0.24, 0.4];
  p.footprint(0.27, 0.27, 0.2);
  for (const x of [-1, 1]) for (const y of [-1, 1]) p.box(0.23 * x, 0.23 * y, 0, [0.018, 0.018, eaves], linear(0x9aa0a6));
  const ring = [[-half, -half, eaves], [half, -half, eaves], [half, half, eaves], [-half, half, eaves]] as const;
  const low = ring.map(([x, y, z]) => [x, y, z - 0.045] as const);
  for (let i = 0; i < 4; i++) {
    p.triangle(ring[i], ring[(i + 1) % 4], [0, 0, peak], colour, [0.9, 0.9, 1]);
    p.quad(low[i], low[(i + 1) % 4], ring[(i + 1) % 4], ring[i], mix(colour, WHITE, 0.35));
  }
  p.box(0, 0.05, 0, [0.32, 0.1, 0.09], linear(0x8a6f52), linear(0xb29672));
}

/** A mast with a flag, 0.75 m tall. */
export function flag(p: Painter, colour: Rgb, accent: Rgb): void {
  p.footprint(0.03, 0.03, 0.1);
  p.taper(0, 0, 0, 0.012, 0.008, 0.75, 6, linear(0xd8dadd));
  const [length, drop] = [0.26, 0.15];
  // The flag is bent like a wave, so that the light varies along it. Each strip is drawn twice, so
  // that the flag is visible from both sides.
  const steps = 5;
  const wave = (i: number) => 0.022 * Math.sin((2.2 * Math.PI * i) / steps);
  for (let i = 0; i < steps; i++) {
    const [x0, x1] = [(i * length) / steps, ((i + 1) * length) / steps];
    const strip = i === steps - 1 ? accent : colour;
    const corners = [[x0, wave(i), 0.73 - drop], [x1, wave(i + 1), 0.73 - drop], [x1, wave(i + 1), 0.73], [x0, wave(i), 0.73]] as const;
    p.quad(...corners, strip);
    p.quad(corners[1], corners[0], corners[3], corners[2], strip);
  }
}
