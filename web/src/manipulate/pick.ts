/**
 * Finds the object under a pointer by intersecting a ray with bounding boxes.
 *
 * Objects are small on the screen. If the ray misses all objects, the object nearest to the pointer
 * is picked, within a tolerance in pixels.
 */
import type { Pose } from "../wire/sim.ts";

export type Vec = readonly [number, number, number];

export interface Ray {
  from: Vec;
  /** Unit vector. */
  along: Vec;
}

/** An object, or the car, that a pointer can select. */
export interface Pickable {
  name: string;
  pose: Pick<Pose, "x" | "y" | "z" | "q">;
  /** Centre of the bounding box in the object's own frame, in metres. */
  centre: Vec;
  /** Side lengths of the bounding box, in metres. */
  size: Vec;
}

/** Position of an object on the canvas, in pixels. */
export interface OnScreen {
  x: number;
  y: number;
  /** About half of the object's size on the screen. */
  radius: number;
}

/** Distance along the ray to the object's box; null if the ray misses the box. */
export function hitDistance(ray: Ray, pickable: Pickable): number | null {
  const { pose, centre, size } = pickable;
  const offset: Vec = [ray.from[0] - pose.x, ray.from[1] - pose.y, ray.from[2] - pose.z];
  const from = rotateInverse(offset, pose.q);
  const along = rotateInverse(ray.along, pose.q);
  let near = 0;
  let far = Number.POSITIVE_INFINITY;
  for (let axis = 0; axis < 3; axis++) {
    const start = from[axis] - centre[axis];
    const half = size[axis] / 2;
    if (Math.abs(along[axis]) < 1e-12) {
      if (Math.abs(start) > half) return null;
      continue;
    }
    const [a, b] = [(-half - start) / along[axis], (half - start) / along[axis]];
    near = Math.max(near, Math.min(a, b));
    far = Math.min(far, Math.max(a, b));
    if (near > far) return null;
  }
  return near;
}

/**
 * The nearest object that the ray hits, or else the object nearest to the pointer on the screen.
 * Null if the ray hits no object, and no object is within `tolerancePx` of the pointer.
 */
export function pick(
  ray: Ray,
  pointer: { x: number; y: number },
  pickables: readonly Pickable[],
  onScreen: (pickable: Pickable) => OnScreen | null,
  tolerancePx: number,
): Pickable | null {
  let best: { pickable: Pickable; far: number } | null = null;
  for (const pickable of pickables) {
    const far = hitDistance(ray, pickable);
    if (far !== null && (!best || far < best.far)) best = { pickable, far };
  }
  if (best) return best.pickable;
  let nearest: { pickable: Pickable; px: number } | null = null;
  for (const pickable of pickables) {
    const at = onScreen(pickable);
    if (!at) continue;
    const px = Math.hypot(at.x - pointer.x, at.y - pointer.y) - at.radius;
    if (px <= tolerancePx && (!nearest || px < nearest.px)) nearest = { pickable, px };
  }
  return nearest?.pickable ?? null;
}

/**
 * The point where a ray reaches height `z`. Null if the ray is parallel to the ground, points away
 * from that height, or reaches it only after more than 500 m.
 */
export function pointAtHeight(ray: Ray, z: number): [number, number] | null {
  if (Math.abs(ray.along[2]) < 1e-4) return null;
  const far = (z - ray.from[2]) / ray.along[2];
  if (far <= 0 || far > 500) return null;
  return [ray.from[0] + far * ray.along[0], ray.from[1] + far * ray.along[1]];
}

/** Rotates a vector by the inverse of a unit quaternion. */
function rotateInverse(v: Vec, [x, y, z, w]: Pose["q"]): Vec {
  // The result is v + 2·u×(u×v + w·v), where u is the negated vector part of the quaternion.
  const [a, b, c] = [-x, -y, -z];
  const cx = b * v[2] - c * v[1] + w * v[0];
  const cy = c * v[0] - a * v[2] + w * v[1];
  const cz = a * v[1] - b * v[0] + w * v[2];
  return [v[0] + 2 * (b * cz - c * cy), v[1] + 2 * (c * cx - a * cz), v[2] + 2 * (a * cy - b * cx)];
}
