// @ts-check
/**
 * Reads mesh files with the ColladaLoader of three.js and reports the properties of their
 * triangles. `run.js` compares these properties with those that the simulator's own reader found.
 */
import * as THREE from "three";
import { ColladaLoader } from "three/addons/loaders/ColladaLoader.js";

/** @import { TriangleGroup } from "./types.d.ts" */

const manager = new THREE.LoadingManager();
const loader = new ColladaLoader(manager);

/** Loads a mesh file and waits until its textures are loaded. @param {string} file */
function load(file) {
  return new Promise((done, failed) => {
    /** @type {unknown} */
    let read;
    manager.onLoad = () => done(read);
    manager.onError = (url) => failed(new Error(`Loading ${url} failed`));
    loader.loadAsync(`/data/${file}`).then((r) => (read = r), failed);
  });
}

/**
 * Computes the properties of the triangles of one material.
 * @param {THREE.Mesh} mesh @param {THREE.Material} material
 * @param {number} first @param {number} count @returns {TriangleGroup}
 */
function groupOf(mesh, material, first, count) {
  const position = mesh.geometry.getAttribute("position");
  const uv = /** @type {THREE.BufferAttribute} */ (mesh.geometry.getAttribute("uv"));
  const index = mesh.geometry.index;
  const at = (/** @type {number} */ i) => (index ? index.getX(i) : i);
  const [low, high] = [new THREE.Vector3().setScalar(Infinity), new THREE.Vector3().setScalar(-Infinity)];
  let [area, volume, uvArea] = [0, 0, 0];
  for (let i = first; i < first + count; i += 3) {
    const corners = [0, 1, 2].map((k) =>
      new THREE.Vector3().fromBufferAttribute(position, at(i + k)).applyMatrix4(mesh.matrixWorld),
    );
    const [a, b, c] = corners;
    area += 0.5 * b.clone().sub(a).cross(c.clone().sub(a)).length();
    volume += a.dot(b.clone().cross(c)) / 6;
    const [p, q, r] = [0, 1, 2].map((k) => new THREE.Vector2().fromBufferAttribute(uv, at(i + k)));
    uvArea += 0.5 * q.clone().sub(p).cross(r.clone().sub(p));
    for (const corner of corners) {
      low.min(corner);
      high.max(corner);
    }
  }
  const look = /** @type {THREE.MeshLambertMaterial} */ (material);
  const texture = look.map ? String(/** @type {HTMLImageElement} */ (look.map.image).src) : null;
  const colour = [...look.color.clone().convertLinearToSRGB().toArray(), look.opacity];
  return {
    material: material.name,
    texture,
    colour,
    triangles: count / 3,
    area,
    volume,
    uv_area: uvArea,
    low: low.toArray(),
    high: high.toArray(),
  };
}

window.readMesh = async (file) => {
  const read = /** @type {Awaited<ReturnType<typeof loader.loadAsync>>} */ (await load(file));
  if (!read) {
    throw new Error(`${file}: three.js found no scene in this file`);
  }
  const scene = read.scene;
  // Undo the loader's rotation from z-up to y-up, because the simulator's own reader reports z-up
  // coordinates.
  scene.rotation.set(0, 0, 0);
  scene.updateMatrixWorld(true);
  /** @type {TriangleGroup[]} */
  const found = [];
  scene.traverse((node) => {
    if (!(node instanceof THREE.Mesh)) {
      return;
    }
    const materials = Array.isArray(node.material) ? node.material : [node.material];
    const all = node.geometry.index?.count ?? node.geometry.attributes.position.count;
    const groups = node.geometry.groups.length ? node.geometry.groups : [{ start: 0, count: all, materialIndex: 0 }];
    for (const { start, count, materialIndex } of groups) {
      found.push(groupOf(node, materials[materialIndex ?? 0], start, count));
    }
  });
  return found;
};
document.title = "ready";
