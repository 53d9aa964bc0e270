/** The area of a world in the 3D view that the surroundings must leave free. */
import * as THREE from "three";
import type { WorldModel } from "./load.ts";

/** The area of the ground and of everything on it. */
export function fieldOf({ root }: WorldModel, ground: THREE.Box2): THREE.Box2 {
  const area = ground.clone();
  const world = new THREE.Box3().setFromObject(root);
  if (world.isEmpty()) return area;
  return area
    .expandByPoint(new THREE.Vector2(world.min.x, world.min.y))
    .expandByPoint(new THREE.Vector2(world.max.x, world.max.y));
}

/** Height of the fence: the height of the track's mesh if the world has walls, otherwise 0. */
export function fenceHeight({ root, objects }: WorldModel): number {
  if (![...objects.values()].some(({ node }) => node.userData["type"] === "wall")) return 0;
  const track = new THREE.Box3();
  root.traverse((part) => part.userData["owner"] === "track" && track.expandByObject(part));
  return track.isEmpty() ? 0 : track.max.z;
}
