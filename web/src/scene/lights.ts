/** The lights of the 3D view: the sun with its shadows, and the light of the sky. */
import * as THREE from "three";
import type { WorldLighting } from "./load.ts";
import type { Quality } from "./quality.ts";

export class SceneLights {
  readonly #sun = new THREE.DirectionalLight();
  readonly #hemisphere = new THREE.HemisphereLight();
  readonly objects: readonly THREE.Object3D[] = [this.#sun, this.#sun.target, this.#hemisphere];

  constructor() {
    this.#hemisphere.position.set(0, 0, 1);
  }

  /** Sets the light of a world. The shadows cover `ground`. */
  set({ ambient, sun }: WorldLighting, ground: THREE.Box2, quality: Quality): void {
    const scaled = (c: readonly number[], by: number) => new THREE.Color().setRGB(c[0] * by, c[1] * by, c[2] * by);
    // three.js divides diffuse light by π, so the intensity compensates for the division.
    this.#hemisphere.color = scaled(ambient, 1);
    this.#hemisphere.groundColor = scaled(ambient, 0.4);
    this.#hemisphere.intensity = Math.PI;
    this.#sun.color = scaled(sun.colour, 1);
    this.#sun.intensity = Math.PI;
    const centre = ground.getCenter(new THREE.Vector2());
    const reach = Math.max(2, ground.getSize(new THREE.Vector2()).length() / 2);
    this.#sun.target.position.set(centre.x, centre.y, 0);
    this.#sun.position
      .set(...sun.direction)
      .normalize()
      .multiplyScalar(-2 * reach)
      .add(this.#sun.target.position);
    this.#sun.castShadow = quality.shadows;
    const { shadow } = this.#sun;
    shadow.mapSize.set(quality.shadowMap, quality.shadowMap);
    // The shadow map is created again, because its size may have changed.
    shadow.map?.dispose();
    shadow.map = null;
    shadow.intensity = 0.75;
    shadow.bias = -0.0004;
    shadow.normalBias = 0.004;
    shadow.radius = 3;
    Object.assign(shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1, far: 4 * reach });
    shadow.camera.updateProjectionMatrix();
  }
}
