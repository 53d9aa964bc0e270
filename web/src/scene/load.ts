/** Worlds and the car, from glTF to things that can be moved. In our scene z is up, as in the world. */
import * as THREE from "three";
import { GLTFLoader, type GLTF } from "three/addons/loaders/GLTFLoader.js";
import type { Quality } from "./quality.ts";

type Triple = [number, number, number];

export interface LampColours {
  unlit: Triple;
  lit: Triple;
}

/** Light and sky of a world, linear colours. */
export interface Surroundings {
  ambient: Triple;
  sun: { direction: Triple; colour: Triple };
  sky: { zenith: Triple; horizon: Triple; nadir: Triple };
  lamps: { red: LampColours; yellow: LampColours; green: LampColours };
}

/** Something that is drawn where the server says. */
export interface Piece {
  node: THREE.Object3D;
  /** Its box in its own frame. */
  box: THREE.Box3;
}

export interface WorldModel {
  root: THREE.Object3D;
  objects: Map<string, Piece>;
  surroundings: Surroundings;
}

export interface CarModel extends Piece {
  wheels: THREE.Object3D[];
  pan: THREE.Object3D | null;
  tilt: THREE.Object3D | null;
}

const loader = new GLTFLoader();

/** Loads a world. */
export async function loadWorld(url: string, quality: Quality): Promise<WorldModel> {
  const file = await loader.loadAsync(url);
  const root = upright(file);
  const objects = new Map<string, Piece>();
  root.traverse((node) => {
    const name: unknown = node.userData["object"];
    if (typeof name === "string") objects.set(name, { node, box: boxOf(node) });
  });
  const surroundings = file.scene.userData as Surroundings;
  finish(root, quality);
  layers(root, quality.software ? lightFromAbove(surroundings) : null);
  return { root, objects, surroundings };
}

/** Loads the car. */
export async function loadCar(url: string, quality: Quality): Promise<CarModel> {
  const node = upright(await loader.loadAsync(url));
  const wheels: THREE.Object3D[] = [];
  let pan: THREE.Object3D | null = null;
  let tilt: THREE.Object3D | null = null;
  node.traverse((part) => {
    const { joint, index } = part.userData as { joint?: string; index?: number };
    if (joint === "wheel" && index !== undefined) wheels[index] = part;
    if (joint === "pan") pan = part;
    if (joint === "tilt") tilt = part;
  });
  finish(node, quality);
  return { node, box: boxOf(node), wheels, pan, tilt };
}

/** glTF has y up and one node that turns our axes so; without its turn they are ours again. */
function upright(file: GLTF): THREE.Object3D {
  const root = file.scene.children[0] ?? file.scene;
  root.removeFromParent();
  root.quaternion.identity();
  return root;
}

/** The box of a node in its own frame. */
function boxOf(node: THREE.Object3D): THREE.Box3 {
  node.updateMatrixWorld(true);
  const back = node.matrixWorld.clone().invert();
  const box = new THREE.Box3();
  node.traverse((part) => {
    if (!(part instanceof THREE.Mesh)) return;
    const geometry = part.geometry as THREE.BufferGeometry;
    if (!geometry.boundingBox) geometry.computeBoundingBox();
    const own = geometry.boundingBox;
    if (own) box.union(own.clone().applyMatrix4(part.matrixWorld.clone().premultiply(back)));
  });
  return box;
}

/** Materials and shadows as the machine can. */
function finish(root: THREE.Object3D, quality: Quality): void {
  const cheap = new Map<THREE.Material, THREE.Material>();
  root.traverse((part) => {
    if (!(part instanceof THREE.Mesh)) return;
    const owner: unknown = part.userData["owner"] ?? part.parent?.userData["owner"];
    part.castShadow = quality.shadows && owner !== "track";
    part.receiveShadow = quality.shadows;
    const material = part.material as THREE.MeshStandardMaterial;
    if (material.map) material.map.anisotropy = quality.software ? 2 : 8;
    if (!quality.software) return;
    const known = cheap.get(material) ?? lambert(material);
    cheap.set(material, known);
    part.material = known;
  });
}

/** Layers of the ground lie half a millimetre above each other: too little for a depth buffer that is far away. */
const LAYER_M = 0.0005;
const HIGHEST_LAYER_M = 0.02;

/** What falls on a surface that faces the sky. */
function lightFromAbove({ ambient, sun }: Surroundings): THREE.Color {
  const [x, y, z] = sun.direction;
  const cosine = Math.max(0, -z / (Math.hypot(x, y, z) || 1));
  const channel = (i: number) => ambient[i] + cosine * sun.colour[i];
  return new THREE.Color().setRGB(channel(0), channel(1), channel(2));
}

/**
 * Draws what lies flat on the ground a little nearer, the higher it lies. It is most of the picture, and the same light
 * falls on all of it: where the CPU draws, that is worked out once instead of for every pixel.
 */
function layers(root: THREE.Object3D, light: THREE.Color | null): void {
  root.traverse((part) => {
    if (!(part instanceof THREE.Mesh) || part.userData["owner"] === "object") return;
    const height = flatHeight(part.geometry as THREE.BufferGeometry);
    if (height === null) return;
    const rank = Math.round(height / LAYER_M);
    const lit = part.material as THREE.MeshLambertMaterial;
    const material = light
      ? new THREE.MeshBasicMaterial({
          map: lit.map,
          color: lit.color.clone().multiply(light),
          transparent: lit.transparent,
          opacity: lit.opacity,
          side: lit.side,
        })
      : lit;
    part.material = material;
    Object.assign(material, { polygonOffset: rank > 0, polygonOffsetFactor: -rank, polygonOffsetUnits: -4 * rank });
  });
}

/** How high a flat geometry lies; null if it is not flat, or not on the ground. Corners may be shared with others. */
function flatHeight(geometry: THREE.BufferGeometry): number | null {
  const position = geometry.getAttribute("position");
  const { index } = geometry;
  const count = index?.count ?? position.count;
  if (count === 0) return null;
  const z = (i: number) => position.getZ(index ? index.getX(i) : i);
  const first = z(0);
  if (first < 0 || first > HIGHEST_LAYER_M) return null;
  for (let i = 1; i < count; i++) if (Math.abs(z(i) - first) > 1e-5) return null;
  return first;
}

function lambert(from: THREE.MeshStandardMaterial): THREE.MeshLambertMaterial {
  return new THREE.MeshLambertMaterial({
    name: from.name,
    map: from.map,
    color: from.color,
    emissive: from.emissive,
    emissiveMap: from.emissiveMap,
    opacity: from.opacity,
    transparent: from.transparent,
    alphaTest: from.alphaTest,
    side: from.side,
    vertexColors: from.vertexColors,
  });
}

/** Gives back what a scene holds on the graphics card. */
export function dispose(root: THREE.Object3D): void {
  root.traverse((part) => {
    if (!(part instanceof THREE.Mesh)) return;
    (part.geometry as THREE.BufferGeometry).dispose();
    for (const material of [part.material].flat() as THREE.Material[]) {
      for (const value of Object.values(material)) {
        if (value instanceof THREE.Texture) value.dispose();
      }
      material.dispose();
    }
  });
}
