/** The translucent car of a second run beside the replayed car. */
import * as THREE from "three";
import { setJoints } from "./car.ts";
import { findJoints, type CarModel } from "./load.ts";
import type { RunPoses } from "./run-poses.ts";

const COLOUR = 0xb79aff;
const OPACITY = 0.5;

export class GhostCar {
  readonly node: THREE.Object3D;
  readonly #joints: Pick<CarModel, "wheels" | "pan" | "tilt">;
  readonly #material = new THREE.MeshLambertMaterial({
    color: COLOUR,
    emissive: COLOUR,
    emissiveIntensity: 0.35,
    transparent: true,
    opacity: OPACITY,
    side: THREE.DoubleSide,
    // If both cars are at the same place, the solid car is drawn in front.
    polygonOffset: true,
    polygonOffsetFactor: 2,
    polygonOffsetUnits: 8,
  });
  #shown = Number.NaN;
  #poses: RunPoses | null = null;

  constructor(car: CarModel) {
    this.node = car.node.clone(true);
    // Lidar points are children of the car, but they belong to the live car.
    const points: THREE.Object3D[] = [];
    this.node.traverse((part) => {
      if (part instanceof THREE.Points) points.push(part);
      if (!(part instanceof THREE.Mesh)) return;
      part.material = this.#material;
      part.castShadow = part.receiveShadow = false;
      part.renderOrder = 50;
    });
    for (const part of points) part.removeFromParent();
    this.#joints = findJoints(this.node);
  }

  /**
   * Shows the pose of a run at a time. Returns false if run and time are those of the last call.
   */
  show(poses: RunPoses, time: number): boolean {
    if (time === this.#shown && poses === this.#poses) return false;
    this.#shown = time;
    this.#poses = poses;
    const { x, y, z, q } = poses.car(time);
    this.node.position.set(x, y, z);
    this.node.quaternion.set(q[0], q[1], q[2], q[3]);
    setJoints(this.#joints, poses.joints(time));
    return true;
  }

  /** Frees the material. The geometries belong to the car. */
  dispose(): void {
    this.#material.dispose();
  }
}
