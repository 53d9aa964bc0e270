/**
 * The outline of the selected object. The meshes of the object are drawn twice more: first into the
 * stencil buffer, then a few pixels larger in the outline colour wherever the stencil is not set.
 * The larger copy is scaled about the centre of the bounding box, so holes and concave edges have no
 * complete outline.
 */
import * as THREE from "three";
import type { SceneItem } from "./load.ts";

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
  #item: SceneItem | null = null;

  constructor() {
    this.group.matrixAutoUpdate = false;
    this.group.visible = false;
  }

  /** Outlines an item; null removes the outline. */
  set(item: SceneItem | null): void {
    if (item === this.#item) return;
    this.#item = item;
    this.group.clear();
    this.#larger.clear();
    this.group.visible = item !== null;
    if (!item) return;
    item.box.getCenter(this.#centre);
    item.box.getSize(this.#size);
    item.node.updateMatrixWorld(true);
    const back = item.node.matrixWorld.clone().invert();
    const copies = (material: THREE.Material, order: number): THREE.Mesh[] => {
      const meshes: THREE.Mesh[] = [];
      item.node.traverse((part) => {
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

  /** Moves the outline to its item. `metres` is the size of a pixel at the item's distance. */
  update(metres: number): void {
    const item = this.#item;
    if (!item) return;
    this.group.matrix.compose(item.node.position, item.node.quaternion, item.node.scale);
    this.group.matrixWorldNeedsUpdate = true;
    const more = 2 * WIDTH_PX * metres;
    const by = (size: number) => (size + more) / Math.max(size, 0.01);
    this.#larger.scale.set(by(this.#size.x), by(this.#size.y), by(this.#size.z));
    this.#larger.position.copy(this.#centre).multiply(new THREE.Vector3(1, 1, 1).sub(this.#larger.scale));
  }
}
