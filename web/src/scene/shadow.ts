/** Soft dark spots where things stand on the ground; they fade when a thing is lifted. */
import * as THREE from "three";
import type { Piece } from "./load.ts";

const SPREAD_M = 0.05;
const LIFT_M = 0.0025;
const REACH_M = 0.4;

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
    readonly piece: Piece,
    readonly darkest: number,
  ) {
    this.#strength = { value: darkest };
    const size = piece.box.getSize(new THREE.Vector3());
    this.#foot = piece.box.getCenter(new THREE.Vector3()).setZ(piece.box.min.z);
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

  /** Puts it below its thing. */
  update(): void {
    const { node } = this.piece;
    this.#at.copy(this.#foot).applyQuaternion(node.quaternion).add(node.position);
    this.#ahead.set(1, 0, 0).applyQuaternion(node.quaternion);
    this.mesh.position.set(this.#at.x, this.#at.y, LIFT_M);
    this.mesh.rotation.z = Math.atan2(this.#ahead.y, this.#ahead.x);
    const left = Math.max(0, 1 - Math.abs(this.#at.z) / REACH_M);
    this.#strength.value = this.darkest * left;
    this.mesh.visible = left > 0.02;
  }

  dispose(): void {
    (this.mesh.material as THREE.Material).dispose();
  }
}
