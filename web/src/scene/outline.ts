/**
 * The outline of what is selected: its meshes once more, a few pixels larger, where the thing itself is not.
 * The stencil keeps the inside free, so it works for every shape and costs two draws.
 */
import * as THREE from "three";
import type { Piece } from "./load.ts";

const WIDTH_PX = 3;
const colour = new THREE.Color(0x49b8ff);

const mask = new THREE.MeshBasicMaterial({
  colorWrite: false,
  depthWrite: false,
  depthTest: false,
  stencilWrite: true,
  stencilRef: 1,
  stencilZPass: THREE.ReplaceStencilOp,
});
const rim = new THREE.MeshBasicMaterial({
  color: colour,
  depthWrite: false,
  depthTest: false,
  transparent: true,
  opacity: 0.95,
  stencilWrite: true,
  stencilRef: 1,
  stencilFunc: THREE.NotEqualStencilFunc,
});

export class Outline {
  readonly group = new THREE.Group();
  readonly #larger = new THREE.Group();
  readonly #centre = new THREE.Vector3();
  readonly #size = new THREE.Vector3();
  #piece: Piece | null = null;

  constructor() {
    this.group.matrixAutoUpdate = false;
    this.group.visible = false;
  }

  /** Outlines a thing, or nothing. */
  set(piece: Piece | null): void {
    if (piece === this.#piece) return;
    this.#piece = piece;
    this.group.clear();
    this.#larger.clear();
    this.group.visible = piece !== null;
    if (!piece) return;
    piece.box.getCenter(this.#centre);
    piece.box.getSize(this.#size);
    piece.node.updateMatrixWorld(true);
    const back = piece.node.matrixWorld.clone().invert();
    const copies = (material: THREE.Material, order: number): THREE.Mesh[] => {
      const meshes: THREE.Mesh[] = [];
      piece.node.traverse((part) => {
        if (!(part instanceof THREE.Mesh) || !part.visible) return;
        const copy = new THREE.Mesh(part.geometry as THREE.BufferGeometry, material);
        copy.matrixAutoUpdate = false;
        copy.matrix.multiplyMatrices(back, part.matrixWorld);
        copy.renderOrder = order;
        meshes.push(copy);
      });
      return meshes;
    };
    const inner = copies(mask, 90);
    if (inner.length > 0) this.group.add(...inner);
    const outer = copies(rim, 91);
    if (outer.length > 0) this.#larger.add(...outer);
    this.group.add(this.#larger);
  }

  /** Follows its thing; `metres` is what a pixel measures there. */
  update(metres: number): void {
    const piece = this.#piece;
    if (!piece) return;
    this.group.matrix.compose(piece.node.position, piece.node.quaternion, piece.node.scale);
    this.group.matrixWorldNeedsUpdate = true;
    const more = 2 * WIDTH_PX * metres;
    const by = (size: number) => (size + more) / Math.max(size, 0.01);
    this.#larger.scale.set(by(this.#size.x), by(this.#size.y), by(this.#size.z));
    this.#larger.position.copy(this.#centre).multiply(
      new THREE.Vector3(1, 1, 1).sub(this.#larger.scale),
    );
  }
}
