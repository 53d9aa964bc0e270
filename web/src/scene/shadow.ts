/** Soft contact shadows below the objects and the car. A shadow fades as its object is lifted. */
import * as THREE from "three";
import type { SceneItem } from "./load.ts";

/** The shadow extends this far beyond the object. */
const SPREAD_M = 0.05;
/** Height of the shadow above the ground. */
const HEIGHT_M = 0.0025;
/** An object at this height or higher has no shadow. */
const FADE_HEIGHT_M = 0.4;

const VERTEX = /* glsl */ `
  varying vec2 at;
  void main() {
    at = 2.0 * uv - 1.0;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }`;
const FRAGMENT = /* glsl */ `
  uniform float strength;
  varying vec2 at;
  void main() {
    vec2 p = at * at;
    float r = sqrt(sqrt(dot(p, p)));
    float t = clamp((1.0 - r) / 0.6, 0.0, 1.0);
    gl_FragColor = vec4(0.0, 0.0, 0.0, strength * t * t * (3.0 - 2.0 * t));
  }`;

const square = new THREE.PlaneGeometry(1, 1);

export class ContactShadow {
  readonly mesh: THREE.Mesh;
  readonly #strength: { value: number };
  readonly #foot: THREE.Vector3;
  readonly #at = new THREE.Vector3();
  readonly #ahead = new THREE.Vector3();

  constructor(
    readonly item: SceneItem,
    readonly darkest: number,
  ) {
    this.#strength = { value: darkest };
    const size = item.box.getSize(new THREE.Vector3());
    this.#foot = item.box.getCenter(new THREE.Vector3()).setZ(item.box.min.z);
    const material = new THREE.ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms: { strength: this.#strength },
      transparent: true,
      depthWrite: false,
      polygonOffset: true,
      polygonOffsetFactor: -2,
      polygonOffsetUnits: -2,
    });
    this.mesh = new THREE.Mesh(square, material);
    this.mesh.scale.set(size.x + 2 * SPREAD_M, size.y + 2 * SPREAD_M, 1);
    this.mesh.renderOrder = -1;
  }

  /** Moves the shadow below its item. */
  update(): void {
    const { node } = this.item;
    this.#at.copy(this.#foot).applyQuaternion(node.quaternion).add(node.position);
    this.#ahead.set(1, 0, 0).applyQuaternion(node.quaternion);
    this.mesh.position.set(this.#at.x, this.#at.y, HEIGHT_M);
    this.mesh.rotation.z = Math.atan2(this.#ahead.y, this.#ahead.x);
    const fraction = Math.max(0, 1 - Math.abs(this.#at.z) / FADE_HEIGHT_M);
    this.#strength.value = this.darkest * fraction;
    this.mesh.visible = fraction > 0.02;
  }

  dispose(): void {
    (this.mesh.material as THREE.Material).dispose();
  }
}
