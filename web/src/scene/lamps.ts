/** Traffic lights: lamps that are lit or not, and the yellow disc before the screen. */
import * as THREE from "three";
import type { Light } from "../wire/sim.ts";
import type { LampColours, Piece, Surroundings } from "./load.ts";

const DARK: LampColours["lit"] = [0, 0, 0];
const DISC_BEFORE_SCREEN_M = 0.014;

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

/** One traffic light. */
export class TrafficLight {
  readonly #red: Lamp;
  readonly #green: Lamp;
  readonly #disc: THREE.Mesh;
  #state = "";

  constructor({ node }: Piece, lamps: Surroundings["lamps"], light: Light) {
    const found: Record<string, THREE.Mesh[]> = { lamp_red: [], lamp_green: [] };
    node.traverse((part) => {
      if (!(part instanceof THREE.Mesh)) return;
      const role = String(part.userData["role"] ?? part.parent?.userData["role"] ?? "");
      found[role]?.push(part);
    });
    this.#red = new Lamp(found["lamp_red"] ?? [], lamps.red);
    this.#green = new Lamp(found["lamp_green"] ?? [], lamps.green);
    const { px, pz, pitch, lamp_r } = light.panel ?? { px: 0.05, pz: 0.18, pitch: 0, lamp_r: 0.06 };
    const colour = new THREE.Color().setRGB(...lamps.yellow.lit);
    this.#disc = new THREE.Mesh(new THREE.CircleGeometry(lamp_r, 40), new THREE.MeshBasicMaterial({ color: colour }));
    const screen = new THREE.Object3D();
    screen.position.set(px, 0, pz);
    screen.rotation.set(0, pitch, 0);
    // A circle faces z, the screen faces its own x.
    this.#disc.position.x = DISC_BEFORE_SCREEN_M;
    this.#disc.rotation.set(0, Math.PI / 2, 0);
    this.#disc.visible = false;
    screen.add(this.#disc);
    node.add(screen);
  }

  /** Shows a state; whether it is another one. */
  show(state: string): boolean {
    if (state === this.#state) return false;
    this.#state = state;
    this.#red.set(state === "red");
    this.#green.set(state === "green");
    this.#disc.visible = state === "yellow";
    return true;
  }
}
