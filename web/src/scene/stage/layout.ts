/**
 * Decides what stands where around the field.
 *
 * Two rules keep the field visible from the usual viewpoints. Nothing stands on the plaza, which is
 * `PLAZA_M` wide. And nothing is higher than `clearHeight` for its distance from the field.
 * Therefore a camera that looks down on the field by 30° or more sees all of it.
 */
import type * as THREE from "three";
import { linear, type Painter, randomOf } from "./painter.ts";
import { bush, car, flag, house, stand, tent, tree } from "./things.ts";

/** Width of the free area around the field, in metres. */
export const PLAZA_M = 1.35;
/**
 * Width of the painted ground around the field, in metres. Everything but the woods stands on it.
 */
export const MARGIN_M = 6.5;

/** Upper limits, so that the surroundings of a large field are not more expensive to draw. */
const MOST_TREES = 90;
const MOST_BUSHES = 90;
const MOST_HOUSES = 14;

/** What the surroundings look like: a race track with stands, or a street with houses. */
export type Theme = "race" | "town";

/** A rectangle that is already occupied: centre and half lengths. */
interface Taken {
  x: number;
  y: number;
  along: number;
  across: number;
}

/** A parking strip of the painted ground. */
export interface Parking extends Taken {
  bays: number;
}

/** Greatest allowed height of a thing at a distance from the field, in metres. */
export function clearHeight(distance: number): number {
  return 0.55 * distance;
}

/** Distance of a point from the field, in metres. It is 0 inside the field. */
export function distanceTo({ min, max }: THREE.Box2, x: number, y: number): number {
  return Math.hypot(Math.max(min.x - x, 0, x - max.x), Math.max(min.y - y, 0, y - max.y));
}

export class Layout {
  readonly parking: Parking[] = [];
  readonly #taken: Taken[] = [];
  readonly #random: () => number;
  readonly #size: { x: number; y: number };
  readonly #centre: { x: number; y: number };

  constructor(
    readonly painter: Painter,
    readonly bounds: THREE.Box2,
    readonly theme: Theme,
    readonly detailed: boolean,
  ) {
    const { min, max } = bounds;
    this.#size = { x: max.x - min.x, y: max.y - min.y };
    this.#centre = { x: (min.x + max.x) / 2, y: (min.y + max.y) / 2 };
    this.#random = randomOf(Math.round(97 * this.#size.x + 31 * this.#size.y) + (theme === "town" ? 7 : 0));
    this.#park();
    if (theme === "race") this.#race();
    else this.#town();
    this.#hedges();
    this.#trees();
    this.#forest();
  }

  /**
   * Stands at the sides `max.y` and `max.x` of the field, tents at the side `min.x`, and flags at
   * the corners.
   */
  #race(): void {
    const { min, max } = this.bounds;
    const p = this.painter;
    const far = PLAZA_M + 0.3;
    const long = Math.min(0.62 * this.#size.x, 6.5);
    this.#take(this.#centre.x, max.y + far + 0.45, long / 2 + 0.25, 0.75);
    stand(p.place(this.#centre.x, max.y + far), long, this.#random, this.detailed);
    const short = Math.min(0.5 * this.#size.y, 3.6);
    this.#take(max.x + far + 0.45, this.#centre.y, 0.75, short / 2 + 0.25);
    stand(p.place(max.x + far, this.#centre.y, -Math.PI / 2), short, this.#random, this.detailed);

    const tents = Math.max(2, Math.min(5, Math.floor((0.7 * this.#size.y) / 0.8)));
    const colours = [0x2f6db5, 0xf2f0ea, 0xc9483d].map(linear);
    for (let i = 0; i < tents; i++) {
      const y = this.#centre.y + 0.82 * (i - (tents - 1) / 2);
      this.#take(min.x - far - 0.3, y, 0.4, 0.42);
      tent(p.place(min.x - far - 0.3, y, Math.PI / 2), colours[i % 3]);
    }
    const off = PLAZA_M + 0.12;
    const corners = [[min.x - off, min.y - off], [max.x + off, min.y - off], [max.x + off, max.y + off], [min.x - off, max.y + off]];
    corners.forEach(([x, y], i) => {
      this.#take(x, y, 0.2, 0.2);
      flag(p.place(x, y, 0.5), colours[(2 * i) % 3], colours[1]);
    });
  }

  /** Houses at all sides of the field but `min.y`, which is the side of the usual viewpoint. */
  #town(): void {
    const { min, max } = this.bounds;
    const row = (length: number, at: (along: number, off: number) => [number, number], yaw: number) => {
      for (let along = 0.2, houses = 0; along < length - 0.6 && houses < MOST_HOUSES; houses++) {
        const wide = 0.75 + 0.5 * this.#random();
        const deep = 0.55 + 0.15 * this.#random();
        if (along + wide > length) break;
        const [x, y] = at(along + wide / 2, PLAZA_M + 0.35 + deep / 2 + 0.15 * this.#random());
        const turned = Math.abs(Math.sin(yaw)) > 0.5;
        this.#take(x, y, (turned ? deep : wide) / 2 + 0.1, (turned ? wide : deep) / 2 + 0.1);
        house(this.painter.place(x, y, yaw), [wide, deep, 0.36 + 0.14 * this.#random()], this.#random);
        along += wide + 0.25 + 0.5 * this.#random();
      }
    };
    row(this.#size.x, (along, off) => [min.x + along, max.y + off], 0);
    row(this.#size.y, (along, off) => [max.x + off, min.y + along], -Math.PI / 2);
    row(0.8 * this.#size.y, (along, off) => [min.x - off, min.y + 0.2 * this.#size.y + along], Math.PI / 2);
  }

  /**
   * A row of parked cars at the side `min.y`, which is the side of the usual viewpoint. Cars are
   * low, so they do not hide the field.
   */
  #park(): void {
    const { min } = this.bounds;
    const bays = Math.max(4, Math.min(16, Math.floor((0.55 * this.#size.x) / 0.34)));
    const strip = { x: this.#centre.x, y: min.y - PLAZA_M - 0.42, along: 0.17 * bays + 0.06, across: 0.3, bays };
    this.parking.push(strip);
    this.#take(strip.x, strip.y, strip.along + 0.15, strip.across + 0.2);
    for (let i = 0; i < bays; i++) {
      if (this.#random() < 0.3) continue;
      const x = strip.x + 0.34 * (i - (bays - 1) / 2) + 0.02 * (this.#random() - 0.5);
      const yaw = (this.#random() < 0.5 ? 1 : -1) * (Math.PI / 2) + 0.06 * (this.#random() - 0.5);
      car(this.painter.place(x, strip.y, yaw), this.#random);
    }
  }

  /** Bushes along the edge of the plaza. */
  #hedges(): void {
    const { min, max } = this.bounds;
    const off = PLAZA_M + 0.22;
    const put = (x: number, y: number) => {
      if (this.#random() < 0.22 || !this.#isFree(x, y, 0.16)) return;
      bush(this.painter.place(x + 0.06 * this.#random(), y + 0.06 * this.#random(), 6.28 * this.#random(), 0.75 + 0.5 * this.#random()), this.#random, this.detailed);
    };
    const step = Math.max(0.34, (this.#size.x + this.#size.y) / MOST_BUSHES);
    for (let x = min.x - off; x <= max.x + off; x += step) (put(x, min.y - off), put(x, max.y + off));
    for (let y = min.y - off; y <= max.y + off; y += step) (put(min.x - off, y), put(max.x + off, y));
  }

  /** Trees on the lawn. They stand in groups, with glades between them. */
  #trees(): void {
    const { min } = this.bounds;
    const wanted = Math.min(MOST_TREES, Math.round((this.detailed ? 3.4 : 1.7) * (this.#size.x + this.#size.y)));
    const lush = (x: number, y: number) => 0.5 + 0.5 * Math.sin(0.9 * x + 1.3) * Math.cos(0.8 * y - 0.4);
    for (let i = 0, put = 0; i < 14 * wanted && put < wanted; i++) {
      const x = min.x - MARGIN_M + (this.#size.x + 2 * MARGIN_M) * this.#random();
      const y = min.y - MARGIN_M + (this.#size.y + 2 * MARGIN_M) * this.#random();
      const distance = distanceTo(this.bounds, x, y) - 0.5;
      if (distance < PLAZA_M + 0.3 || this.#random() > lush(x, y)) continue;
      const scale = Math.min(0.7 + 0.6 * this.#random(), clearHeight(distance) / 1.05);
      if (scale < 0.6 || !this.#isFree(x, y, 0.3 * scale)) continue;
      this.#take(x, y, 0.3 * scale, 0.3 * scale);
      tree(this.painter.place(x, y, 6.28 * this.#random(), scale), this.#random, this.detailed);
      put++;
    }
  }

  /** Woods far away, which fade into the haze. */
  #forest(): void {
    const start = Math.hypot(this.#size.x, this.#size.y) / 2 + MARGIN_M;
    const groups = this.detailed ? 46 : 20;
    for (let i = 0; i < groups; i++) {
      const angle = (2 * Math.PI * (i + 0.8 * this.#random())) / groups;
      const far = start + 4 + 26 * this.#random() ** 1.5;
      this.painter.haze(Math.min(0.66, 0.1 + (far - start) / 58));
      for (let n = 0; n < 3; n++) {
        const [x, y] = [far * Math.cos(angle) + 2.4 * this.#random(), far * Math.sin(angle) + 2.4 * this.#random()];
        this.painter.place(this.#centre.x + x, this.#centre.y + y, 6.28 * this.#random(), 1.2 + 1.1 * this.#random());
        tree(this.painter, this.#random, false);
        this.painter.footprints.pop();
      }
    }
    this.painter.haze(0);
  }

  #take(x: number, y: number, along: number, across: number): void {
    this.#taken.push({ x, y, along, across });
  }

  #isFree(x: number, y: number, radius: number): boolean {
    return this.#taken.every((one) => Math.abs(x - one.x) > one.along + radius || Math.abs(y - one.y) > one.across + radius);
  }
}
