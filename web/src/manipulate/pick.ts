/**
 * What is under a pointer: rays against boxes in plain numbers.
 *
 * Things are small and seen from far away, so a pointer that misses all of them takes the one that is nearest
 * on the screen, within some pixels.
 */
import type { Pose } from "../wire/sim.ts";

export type Vec = readonly [number, number, number];

export interface Ray {
  from: Vec;
  /** Of length 1. */
  along: Vec;
}

/** A thing that can be picked. */
export interface Target {
  name: string;
  pose: Pick<Pose, "x" | "y" | "z" | "q">;
  /** Middle of its box, in its own frame. */
  centre: Vec;
  /** Full extents of its box. */
  size: Vec;
}

/** Where things are on the screen, in pixels. */
export interface OnScreen {
  x: number;
  y: number;
  /** About half of its size. */
  radius: number;
}

/** How far along a ray a box is hit; null if it is not. */
export function hit(ray: Ray, target: Target): number | null {
  const { pose, centre, size } = target;
  const offset: Vec = [ray.from[0] - pose.x, ray.from[1] - pose.y, ray.from[2] - pose.z];
  const from = unturn(offset, pose.q);
  const along = unturn(ray.along, pose.q);
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

/** The thing that is meant by a pointer, and where on it. */
export function pick(
  ray: Ray,
  pointer: { x: number; y: number },
  targets: readonly Target[],
  onScreen: (target: Target) => OnScreen | null,
  slackPx: number,
): Target | null {
  let best: { target: Target; far: number } | null = null;
  for (const target of targets) {
    const far = hit(ray, target);
    if (far !== null && (!best || far < best.far)) best = { target, far };
  }
  if (best) return best.target;
  let nearest: { target: Target; px: number } | null = null;
  for (const target of targets) {
    const at = onScreen(target);
    if (!at) continue;
    const px = Math.hypot(at.x - pointer.x, at.y - pointer.y) - at.radius;
    if (px <= slackPx && (!nearest || px < nearest.px)) nearest = { target, px };
  }
  return nearest?.target ?? null;
}

/** Where a ray meets the height z; null if it leads away from it or goes along it. */
export function onHeight(ray: Ray, z: number): [number, number] | null {
  if (Math.abs(ray.along[2]) < 1e-4) return null;
  const far = (z - ray.from[2]) / ray.along[2];
  if (far <= 0 || far > 500) return null;
  return [ray.from[0] + far * ray.along[0], ray.from[1] + far * ray.along[1]];
}

/** A direction in the frame that is turned by q. */
function unturn(v: Vec, [x, y, z, w]: Pose["q"]): Vec {
  // v + 2·u×(u×v + w·v) with the opposite turn.
  const [a, b, c] = [-x, -y, -z];
  const cx = b * v[2] - c * v[1] + w * v[0];
  const cy = c * v[0] - a * v[2] + w * v[1];
  const cz = a * v[1] - b * v[0] + w * v[2];
  return [v[0] + 2 * (b * cz - c * cy), v[1] + 2 * (c * cx - a * cz), v[2] + 2 * (a * cy - b * cx)];
}
