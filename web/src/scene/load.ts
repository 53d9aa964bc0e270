/**
 * Loads the glTF files of the world and the car, and finds the nodes that move. In the 3D view z
 * points up, as in the simulation.
 */
import * as THREE from "three";
import { GLTFLoader, type GLTF } from "three/addons/loaders/GLTFLoader.js";
import type { Pose } from "../wire/sim.ts";
import { dressObjects } from "./looks.ts";
import type { Quality } from "./quality.ts";

type Rgb = [number, number, number];

export interface LampColours {
  unlit: Rgb;
  lit: Rgb;
}

/** Light and sky of a world, from the extras of the glTF scene. Colours are linear. */
export interface WorldLighting {
  ambient: Rgb;
  sun: { direction: Rgb; colour: Rgb };
  sky: { zenith: Rgb; horizon: Rgb; nadir: Rgb };
  lamps: { red: LampColours; yellow: LampColours; green: LampColours };
}

/** An object or the car in the 3D view. */
export interface SceneItem {
  node: THREE.Object3D;
  /** Bounding box in the item's own frame. */
  box: THREE.Box3;
  /** Pose in the file, which is the pose at the start of a run. */
  home: Pose;
}

export interface WorldModel {
  root: THREE.Object3D;
  objects: Map<string, SceneItem>;
  lighting: WorldLighting;
}

export interface CarModel extends SceneItem {
  wheels: THREE.Object3D[];
  pan: THREE.Object3D | null;
  tilt: THREE.Object3D | null;
}

const loader = new GLTFLoader();

/** Loads the glTF file of a world. */
export async function loadWorld(url: string, quality: Quality): Promise<WorldModel> {
  const file = await loader.loadAsync(url);
  const root = removeRootRotation(file);
  const objects = new Map<string, SceneItem>();
  root.traverse((node) => {
    const name: unknown = node.userData["object"];
    if (typeof name === "string") objects.set(name, { node, box: boxOf(node), home: poseOf(node) });
  });
  const lighting = file.scene.userData as WorldLighting;
  dressObjects(objects.values());
  applyQuality(root, quality);
  offsetGroundLayers(root, quality.software ? lightFromAbove(lighting) : null);
  return { root, objects, lighting };
}

/** Loads the glTF file of the car. */
export async function loadCar(url: string, quality: Quality): Promise<CarModel> {
  const node = removeRootRotation(await loader.loadAsync(url));
  applyQuality(node, quality);
  if (quality.reflections) polish(node);
  return { node, box: boxOf(node), home: poseOf(node), ...findJoints(node) };
}

/** Finds the joints of a car by the extras of the nodes in its file. */
export function findJoints(node: THREE.Object3D): Pick<CarModel, "wheels" | "pan" | "tilt"> {
  const joints: Pick<CarModel, "wheels" | "pan" | "tilt"> = { wheels: [], pan: null, tilt: null };
  node.traverse((part) => {
    const { joint, index } = part.userData as { joint?: string; index?: number };
    if (joint === "wheel" && index !== undefined) joints.wheels[index] = part;
    if (joint === "pan") joints.pan = part;
    if (joint === "tilt") joints.tilt = part;
  });
  return joints;
}

function poseOf({ position: { x, y, z }, quaternion, rotation }: THREE.Object3D): Pose {
  return { x, y, z, roll: rotation.x, pitch: rotation.y, yaw: rotation.z, q: quaternion.toArray() };
}

/**
 * Takes the root node out of its scene and removes the node's rotation. In glTF y points up, so the
 * root node of our files rotates z-up coordinates to y-up. Without the rotation z points up again.
 */
function removeRootRotation(file: GLTF): THREE.Object3D {
  const root = file.scene.children[0] ?? file.scene;
  root.removeFromParent();
  root.quaternion.identity();
  return root;
}

/** Bounding box of a node with its children, in the node's own frame. */
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

/** Sets shadows and texture filtering by quality. Software rendering gets cheaper materials. */
function applyQuality(root: THREE.Object3D, quality: Quality): void {
  const replaced = new Map<THREE.Material, THREE.Material>();
  root.traverse((part) => {
    if (!(part instanceof THREE.Mesh)) return;
    const owner: unknown = part.userData["owner"] ?? part.parent?.userData["owner"];
    part.castShadow = quality.shadows && owner !== "track";
    part.receiveShadow = quality.shadows;
    const material = part.material as THREE.MeshStandardMaterial;
    if (material.map) material.map.anisotropy = quality.software ? 1 : 8;
    if (!quality.software) return;
    const known = replaced.get(material) ?? lambert(material);
    replaced.set(material, known);
    part.material = known;
  });
}

/** Roughness of the car's body. The glTF file has one roughness for everything. */
const PAINT_ROUGHNESS = 0.38;

/** Makes the car glossy, because its body is painted. */
function polish(car: THREE.Object3D): void {
  car.traverse((part) => {
    if (!(part instanceof THREE.Mesh) || !(part.material instanceof THREE.MeshStandardMaterial)) return;
    const { r, g, b } = part.material.color;
    // Tyres and other dark parts stay dull.
    if (Math.max(r, g, b) > 0.08 || part.material.map) part.material.roughness = PAINT_ROUGHNESS;
  });
}

/**
 * Vertical distance between two layers of the ground. It is so small that the depth buffer cannot
 * distinguish two layers from far away.
 */
const LAYER_M = 0.0005;
/** Flat meshes above this height do not belong to the ground. */
const HIGHEST_LAYER_M = 0.02;

/** Light that reaches a horizontal surface. */
function lightFromAbove({ ambient, sun }: WorldLighting): THREE.Color {
  const [x, y, z] = sun.direction;
  const cosine = Math.max(0, -z / (Math.hypot(x, y, z) || 1));
  const channel = (i: number) => ambient[i] + cosine * sun.colour[i];
  return new THREE.Color().setRGB(channel(0), channel(1), channel(2));
}

/**
 * Gives every flat mesh on the ground a depth offset that grows with its height, so that the
 * layers do not flicker.
 *
 * If `light` is given (software rendering), these meshes also get a material with that light
 * already applied. The meshes cover most of the image, and all of them receive the same light, so
 * the light need not be computed per pixel.
 */
function offsetGroundLayers(root: THREE.Object3D, light: THREE.Color | null): void {
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

/**
 * Height of a horizontal mesh; null if the mesh is not horizontal or not on the ground. Only
 * vertices in the mesh's index count, because meshes can share a vertex buffer.
 */
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

/** Frees the GPU memory of all meshes below a node. */
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
