/**
 * Collects triangles with the light of the world already applied to their colours.
 *
 * The surroundings of the field never move, so their light is computed once and not for each pixel.
 * Everything that is painted becomes one mesh with one unlit material, which is cheap even if the
 * browser renders on the CPU.
 */
import * as THREE from "three";
import type { WorldLighting } from "../load.ts";

export type Rgb = readonly [number, number, number];
type Point = readonly [number, number, number];

/** A soft shadow that the painted ground shows below something. */
export interface Footprint {
  x: number;
  y: number;
  /** Half lengths along both axes, in metres. */
  along: number;
  across: number;
  yaw: number;
  /** Height of the thing that casts the shadow, in metres. */
  height: number;
}

/** Converts a colour `0xrrggbb` to linear light. */
export function linear(hex: number): Rgb {
  const colour = new THREE.Color(hex);
  return [colour.r, colour.g, colour.b];
}

export function mix(a: Rgb, b: Rgb, t: number): Rgb {
  return [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
}

/** Corners and triangles of a unit sphere. */
interface Sphere {
  corners: Point[];
  faces: Point[];
}

const spheres = new Map<number, Sphere>();

/** A unit sphere of triangles. Neighbouring triangles share their corners. */
function sphere(detail: number): Sphere {
  const known = spheres.get(detail);
  if (known) return known;
  const geometry = new THREE.IcosahedronGeometry(1, detail);
  const position = geometry.getAttribute("position");
  const made: Sphere = { corners: [], faces: [] };
  const index = new Map<string, number>();
  const corner = (i: number): number => {
    const point: Point = [position.getX(i), position.getY(i), position.getZ(i)];
    const key = point.map((v) => v.toFixed(4)).join();
    const found = index.get(key) ?? made.corners.push(point) - 1;
    index.set(key, found);
    return found;
  };
  for (let i = 0; i < position.count; i += 3) made.faces.push([corner(i), corner(i + 1), corner(i + 2)]);
  geometry.dispose();
  spheres.set(detail, made);
  return made;
}

/** A pseudo-random number generator, so that a world has the same surroundings on every visit. */
export function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export class Painter {
  readonly footprints: Footprint[] = [];
  readonly #positions: number[] = [];
  readonly #colours: number[] = [];
  readonly #toSun: THREE.Vector3;
  readonly #normal = new THREE.Vector3();
  readonly #frame = { x: 0, y: 0, z: 0, cos: 1, sin: 0, yaw: 0, scale: 1 };
  /** How much haze covers the things that are painted next, from 0 to 1. */
  #haze = 0;

  constructor(readonly lighting: WorldLighting) {
    this.#toSun = new THREE.Vector3(...lighting.sun.direction).negate().normalize();
  }

  /** Sets position, heading and scale of everything that is painted next. */
  place(x: number, y: number, yaw = 0, scale = 1, z = 0): this {
    Object.assign(this.#frame, { x, y, z, yaw, scale, cos: Math.cos(yaw), sin: Math.sin(yaw) });
    return this;
  }

  /** Blends everything that is painted next into the haze at the horizon. */
  haze(amount: number): this {
    this.#haze = amount;
    return this;
  }

  /** A soft shadow on the ground below the thing at the current place. */
  footprint(along: number, across: number, height: number, x = 0, y = 0): this {
    const { scale, yaw } = this.#frame;
    const [px, py] = this.#toWorld([x, y, 0]);
    this.footprints.push({ x: px, y: py, along: along * scale, across: across * scale, yaw, height: height * scale });
    return this;
  }

  /** A triangle, counter-clockwise seen from outside. `shades` darkens its corners. */
  triangle(a: Point, b: Point, c: Point, colour: Rgb, shades: Point = [1, 1, 1]): this {
    const [p, q, r] = [this.#toWorld(a), this.#toWorld(b), this.#toWorld(c)];
    const [ux, uy, uz] = [q[0] - p[0], q[1] - p[1], q[2] - p[2]];
    const [vx, vy, vz] = [r[0] - p[0], r[1] - p[1], r[2] - p[2]];
    this.#normal.set(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx).normalize();
    const lit = this.#light(colour, this.#normal);
    const { horizon } = this.lighting.sky;
    const [haze, clear] = [this.#haze, 1 - this.#haze];
    this.#positions.push(p[0], p[1], p[2], q[0], q[1], q[2], r[0], r[1], r[2]);
    for (const shade of shades)
      for (let i = 0; i < 3; i++) this.#colours.push(clear * shade * lit[i] + haze * horizon[i]);
    return this;
  }

  /** A quad, counter-clockwise seen from outside. `foot` darkens its first two corners. */
  quad(a: Point, b: Point, c: Point, d: Point, colour: Rgb, foot = 1): this {
    return this.triangle(a, b, c, colour, [foot, foot, 1]).triangle(a, c, d, colour, [foot, 1, 1]);
  }

  /** A box that stands on `z`, centred at (x, y). Its sides become darker towards the ground. */
  box(x: number, y: number, z: number, [length, width, height]: Point, colour: Rgb, top = colour, foot = 0.72): this {
    const [a, b, c, d] = [x - length / 2, x + length / 2, y - width / 2, y + width / 2];
    const up = z + height;
    return this.quad([a, c, z], [b, c, z], [b, c, up], [a, c, up], colour, foot)
      .quad([b, c, z], [b, d, z], [b, d, up], [b, c, up], colour, foot)
      .quad([b, d, z], [a, d, z], [a, d, up], [b, d, up], colour, foot)
      .quad([a, d, z], [a, c, z], [a, c, up], [a, d, up], colour, foot)
      .quad([a, c, up], [b, c, up], [b, d, up], [a, d, up], top);
  }

  /** A cone or, if `top` is greater than 0, a tapered cylinder without a bottom. */
  taper(x: number, y: number, z: number, bottom: number, top: number, height: number, sides: number, colour: Rgb, foot = 0.7): this {
    const at = (i: number, radius: number, h: number): Point => {
      const angle = (2 * Math.PI * i) / sides;
      return [x + radius * Math.cos(angle), y + radius * Math.sin(angle), h];
    };
    for (let i = 0; i < sides; i++) {
      const [a, b] = [at(i, bottom, z), at(i + 1, bottom, z)];
      if (top <= 0) this.triangle(a, b, [x, y, z + height], colour, [foot, foot, 1]);
      else {
        this.quad(a, b, at(i + 1, top, z + height), at(i, top, z + height), colour, foot);
        this.triangle(at(i, top, z + height), at(i + 1, top, z + height), [x, y, z + height], colour);
      }
    }
    return this;
  }

  /**
   * An uneven ball of leaves. Its lower half is darker, because less light from the sky reaches it.
   */
  blob(x: number, y: number, z: number, radius: number, colour: Rgb, random: () => number, detail = 1): this {
    const { corners, faces } = sphere(detail);
    const moved = corners.map(([u, v, w]): Point => {
      const by = radius * (0.84 + 0.3 * random());
      return [x + by * u, y + by * v, z + 0.92 * by * w];
    });
    const shade = (point: Point) => 0.62 + 0.38 * Math.min(1, Math.max(0, 0.5 + (point[2] - z) / (1.6 * radius)));
    for (const [i, j, k] of faces) {
      const [a, b, c] = [moved[i], moved[j], moved[k]];
      const tone = 0.93 + 0.14 * random();
      this.triangle(a, b, c, [colour[0] * tone, colour[1] * tone, colour[2] * tone], [shade(a), shade(b), shade(c)]);
    }
    return this;
  }

  /** The corners painted so far, as x, y, z. */
  get positions(): readonly number[] {
    return this.#positions;
  }

  /** Everything painted so far, as one mesh. Picking rays never hit it. */
  mesh(): THREE.Mesh {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(this.#positions, 3));
    geometry.setAttribute("color", new THREE.Float32BufferAttribute(this.#colours, 3));
    const mesh = new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({ vertexColors: true }));
    mesh.raycast = () => {};
    return mesh;
  }

  #toWorld([x, y, z]: Point): Point {
    const at = this.#frame;
    return [at.x + at.scale * (at.cos * x - at.sin * y), at.y + at.scale * (at.sin * x + at.cos * y), at.z + at.scale * z];
  }

  /** The light of sun and sky on a surface. */
  #light(colour: Rgb, normal: THREE.Vector3): Rgb {
    const { ambient, sun } = this.lighting;
    const direct = Math.max(0, normal.dot(this.#toSun));
    const sky = 0.55 + 0.45 * normal.z;
    const channel = (i: 0 | 1 | 2) => Math.min(1, colour[i] * (1.1 * ambient[i] * sky + sun.colour[i] * direct));
    return [channel(0), channel(1), channel(2)];
  }
}
