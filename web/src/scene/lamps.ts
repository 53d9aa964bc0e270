/** Traffic lights: red and green lamps on a screen, and a yellow disc in front of the screen. */
import * as THREE from "three";
import type { Light } from "../wire/sim.ts";
import type { LampColours, SceneItem, WorldLighting } from "./load.ts";

const DARK: LampColours["lit"] = [0, 0, 0];
/** Distance between the yellow disc and the screen. */
const DISC_BEFORE_SCREEN_M = 0.014;

/** The meshes of one lamp. They share a material. */
class Lamp {
  readonly #material: THREE.MeshLambertMaterial;

  constructor(
    meshes: THREE.Mesh[],
    readonly colours: LampColours,
  ) {
    this.#material = new THREE.MeshLambertMaterial({ side: THREE.DoubleSide });
    for (const mesh of meshes) mesh.material = this.#material;
    this.set(false);
  }

  set(lit: boolean): void {
    const { unlit, lit: light } = this.colours;
    this.#material.color.setRGB(...(lit ? DARK : unlit));
    this.#material.emissive.setRGB(...(lit ? light : DARK));
  }
}

/** A traffic light in the 3D view. */
export class TrafficLight {
  readonly #red: Lamp;
  readonly #green: Lamp;
  readonly #disc: THREE.Mesh;
  #state = "";

  constructor({ node }: SceneItem, lamps: WorldLighting["lamps"], light: Light) {
    const lampMeshes: Record<string, THREE.Mesh[]> = { lamp_red: [], lamp_green: [] };
    node.traverse((part) => {
      if (!(part instanceof THREE.Mesh)) return;
      const role = String(part.userData["role"] ?? part.parent?.userData["role"] ?? "");
      lampMeshes[role]?.push(part);
    });
    this.#red = new Lamp(lampMeshes["lamp_red"] ?? [], lamps.red);
    this.#green = new Lamp(lampMeshes["lamp_green"] ?? [], lamps.green);
    const { px, pz, pitch, lamp_r } = light.panel ?? { px: 0.05, pz: 0.18, pitch: 0, lamp_r: 0.06 };
    const colour = new THREE.Color().setRGB(...lamps.yellow.lit);
    this.#disc = new THREE.Mesh(new THREE.CircleGeometry(lamp_r, 40), new THREE.MeshBasicMaterial({ color: colour }));
    const screen = new THREE.Object3D();
    screen.position.set(px, 0, pz);
    screen.rotation.set(0, pitch, 0);
    // A `CircleGeometry` faces +z, but the screen faces +x.
    this.#disc.position.x = DISC_BEFORE_SCREEN_M;
    this.#disc.rotation.set(0, Math.PI / 2, 0);
    this.#disc.visible = false;
    screen.add(this.#disc);
    node.add(screen);
  }

  /** Shows a state. Returns whether the state differs from the previous state. */
  show(state: string): boolean {
    if (state === this.#state) return false;
    this.#state = state;
    this.#red.set(state === "red");
    this.#green.set(state === "green");
    this.#disc.visible = state === "yellow";
    return true;
  }
}
