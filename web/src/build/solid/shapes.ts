/** Meshes of the 3D view: field, fence, road, decals and objects. z points up. */
import * as THREE from "three";
import type { Road } from "../client.ts";
import {
  colourOf,
  decalsOf,
  DEFAULTS,
  objectsOf,
  sizeOf,
  type FieldObject,
  type ProjectDocument,
} from "../document.ts";
import { groundTile } from "../ground.ts";
import type { PictureCache } from "../pictures-cache.ts";
import { ASPHALT } from "../plan/paint-field.ts";
import { dashes, edgeLines, startSquares } from "../road-shapes.ts";

type Points = readonly (readonly number[])[];

/** Heights of the layers above the ground, in metres. */
const ROAD_Z = 0.002;
const LINE_Z = 0.004;
const DECAL_Z = 0.005;
const FENCE_M = 0.03;
const PAINT = "#f4f4f0";

/**
 * Materials by their parameters. Meshes with equal parameters share a material, also after a change
 * of the document.
 */
export class Materials {
  readonly #known = new Map<string, THREE.MeshStandardMaterial>();
  readonly #textures = new Map<unknown, THREE.Texture>();

  of(parameters: THREE.MeshStandardMaterialParameters): THREE.MeshStandardMaterial {
    const key = JSON.stringify({ ...parameters, map: parameters.map?.uuid });
    const known = this.#known.get(key) ?? new THREE.MeshStandardMaterial(parameters);
    this.#known.set(key, known);
    return known;
  }

  plain(colour: string, roughness = 0.85): THREE.MeshStandardMaterial {
    return this.of({ color: colour, roughness, side: THREE.DoubleSide });
  }

  texture(image: HTMLCanvasElement | HTMLImageElement): THREE.Texture {
    const known = this.#textures.get(image);
    if (known) return known;
    const texture = new THREE.Texture(image);
    texture.colorSpace = THREE.SRGBColorSpace;
    texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
    texture.anisotropy = 4;
    texture.needsUpdate = true;
    this.#textures.set(image, texture);
    return texture;
  }

  /** Frees the materials and textures that no mesh of the scene uses any more. */
  freeUnused(scene: THREE.Object3D): void {
    const used = new Set<unknown>();
    scene.traverse((part) => {
      if (!(part instanceof THREE.Mesh)) return;
      for (const material of [part.material].flat() as THREE.MeshStandardMaterial[]) {
        used.add(material).add(material.map);
      }
    });
    free(this.#known, used);
    free(this.#textures, used);
  }
}

function free<T extends { dispose: () => void }>(known: Map<unknown, T>, used: ReadonlySet<unknown>): void {
  for (const [key, thing] of known) {
    if (used.has(thing)) continue;
    thing.dispose();
    known.delete(key);
  }
}

function shadows<T extends THREE.Mesh>(mesh: T): T {
  mesh.castShadow = true;
  mesh.receiveShadow = true;
  return mesh;
}

/** A horizontal mesh between two lines. */
function strip(one: Points, two: Points, closed: boolean, z: number, material: THREE.Material): THREE.Mesh {
  const positions: number[] = [];
  const index: number[] = [];
  one.forEach(([x, y], i) => positions.push(x, y, z, two[i][0], two[i][1], z));
  const count = closed ? one.length : one.length - 1;
  for (let i = 0; i < count; i++) {
    const [a, b] = [2 * i, 2 * ((i + 1) % one.length)];
    index.push(a, a + 1, b, b, a + 1, b + 1);
  }
  return flat(positions, index, material);
}

function flat(positions: number[], index: number[], material: THREE.Material): THREE.Mesh {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
  const normals = positions.map((_, i) => (i % 3 === 2 ? 1 : 0));
  geometry.setAttribute("normal", new THREE.Float32BufferAttribute(normals, 3));
  geometry.setIndex(index);
  const mesh = new THREE.Mesh(geometry, material);
  mesh.receiveShadow = true;
  return mesh;
}

/** Several quadrilaterals as one mesh. */
function quads(polygons: readonly Points[], z: number, material: THREE.Material): THREE.Mesh {
  const positions = polygons.flatMap((polygon) => polygon.flatMap(([x, y]) => [x, y, z]));
  const index = polygons.flatMap((_, i) => [0, 1, 2, 0, 2, 3].map((k) => 4 * i + k));
  return flat(positions, index, material);
}

export function fieldMeshes(document: ProjectDocument, pictures: PictureCache, materials: Materials): THREE.Object3D[] {
  const [width, height] = document.field.size;
  const ground = document.field.ground ?? "carpet";
  const tile = typeof ground === "string" ? groundTile(ground) : pictures.get(ground.picture);
  const material = materials.of({
    color: tile ? "#ffffff" : "#687382",
    map: tile ? materials.texture(tile) : null,
    roughness: 0.95,
  });
  const geometry = new THREE.PlaneGeometry(width, height);
  const uv = geometry.getAttribute("uv");
  for (let i = 0; i < uv.count; i++) uv.setXY(i, uv.getX(i) * width, uv.getY(i) * height);
  const floor = new THREE.Mesh(geometry, material);
  floor.position.set(width / 2, height / 2, 0);
  floor.receiveShadow = true;
  return [floor, ...fence(document, materials)];
}

function fence({ fence: sides, field }: ProjectDocument, materials: Materials): THREE.Object3D[] {
  if (!sides) return [];
  const [width, depth] = field.size;
  const high = sides.height ?? DEFAULTS.fenceHeight;
  const material = materials.plain(sides.colour ?? DEFAULTS.fenceColour);
  return (
    [
      [width / 2, -FENCE_M / 2, width + 2 * FENCE_M, FENCE_M],
      [width / 2, depth + FENCE_M / 2, width + 2 * FENCE_M, FENCE_M],
      [-FENCE_M / 2, depth / 2, FENCE_M, depth],
      [width + FENCE_M / 2, depth / 2, FENCE_M, depth],
    ] as const
  ).map(([x, y, w, d]) => {
    const wall = shadows(new THREE.Mesh(new THREE.BoxGeometry(w, d, high), material));
    wall.position.set(x, y, high / 2);
    return wall;
  });
}

export function roadMeshes(document: ProjectDocument, road: Road, materials: Materials): THREE.Object3D[] {
  const { outer_line: outer, centre_line: centre, start_line: hasStart } = document.track;
  const meshes: THREE.Object3D[] = [strip(road.left, road.right, road.closed, ROAD_Z, materials.plain(ASPHALT, 0.95))];
  const edge = outer?.width ?? DEFAULTS.outerLine;
  if (edge > 0) {
    const paint = materials.plain(outer?.colour ?? PAINT);
    for (const line of edgeLines(road, edge)) meshes.push(strip(line.outer, line.inner, road.closed, LINE_Z, paint));
  }
  if (centre) {
    const { dash, gap, width } = { ...DEFAULTS.centreLine, ...dropEmpty(centre) };
    const half = width / 2;
    const polygons = dashes(road, dash, gap).flatMap((line) => segments(line, half));
    meshes.push(quads(polygons, LINE_Z, materials.plain(centre.colour ?? PAINT)));
  }
  if (hasStart ?? true) {
    const squares = startSquares(road);
    for (const isWhite of [true, false]) {
      const polygons = squares.filter((square) => square.isWhite === isWhite).map(({ polygon }) => polygon);
      meshes.push(quads(polygons, LINE_Z + 0.001, materials.plain(isWhite ? PAINT : "#18181a")));
    }
  }
  return meshes;
}

function dropEmpty<T extends object>(value: T): { [K in keyof T]: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(value).filter(([, v]) => v !== null && v !== undefined)) as never;
}

/** The segments of a line as polygons with a width. */
function segments(line: Points, half: number): Points[] {
  return line.slice(1).map(([bx, by], i) => {
    const [ax, ay] = line[i];
    const far = Math.hypot(bx - ax, by - ay) || 1;
    const [nx, ny] = [(-(by - ay) / far) * half, ((bx - ax) / far) * half];
    return [
      [ax + nx, ay + ny],
      [bx + nx, by + ny],
      [bx - nx, by - ny],
      [ax - nx, ay - ny],
    ];
  });
}

export function decalMeshes(document: ProjectDocument, pictures: PictureCache, materials: Materials): THREE.Object3D[] {
  return decalsOf(document).map(({ picture, x, y, yaw, width, height }, i) => {
    const image = pictures.get(picture);
    const material = materials.of({
      color: image ? "#ffffff" : "#9aa4b0",
      map: image ? materials.texture(image) : null,
      transparent: true,
      roughness: 0.9,
    });
    const mesh = new THREE.Mesh(new THREE.PlaneGeometry(width, height), material);
    mesh.position.set(x, y, DECAL_Z + 0.0005 * i);
    mesh.rotation.z = yaw ?? 0;
    mesh.receiveShadow = true;
    return mesh;
  });
}

export function objectMeshes(
  document: ProjectDocument,
  pictures: PictureCache,
  materials: Materials,
): Map<string, THREE.Object3D> {
  return new Map(
    objectsOf(document).map((object) => {
      const node = new THREE.Group();
      node.position.set(object.x, object.y, 0);
      node.rotation.z = object.yaw ?? 0;
      node.add(...parts(object, pictures, materials));
      return [object.name, node];
    }),
  );
}

function parts(object: FieldObject, pictures: PictureCache, materials: Materials): THREE.Object3D[] {
  const [x, y, z] = sizeOf(object);
  const face = (name: string): THREE.Material => {
    const file = object.textures?.[name];
    const image = file ? pictures.get(file) : null;
    if (!image) return materials.plain(colourOf(object));
    return materials.of({ map: materials.texture(image), roughness: 0.85 });
  };
  const at = (mesh: THREE.Mesh, height: number) => {
    mesh.position.z = height;
    return shadows(mesh);
  };
  switch (object.kind) {
    case "box": {
      const sides = ["front", "back", "left", "right", "top", "bottom"].map(face);
      return [at(new THREE.Mesh(new THREE.BoxGeometry(x, y, z), sides), z / 2)];
    }
    case "cylinder": {
      const geometry = new THREE.CylinderGeometry(x / 2, x / 2, z, 32).rotateX(Math.PI / 2);
      return [at(new THREE.Mesh(geometry, ["side", "top", "bottom"].map(face)), z / 2)];
    }
    case "sphere":
      return [at(new THREE.Mesh(new THREE.SphereGeometry(x / 2, 32, 20).rotateX(Math.PI / 2), face("surface")), z / 2)];
    case "cone":
      return cone(x, z, face("side"), materials).map((mesh) => shadows(mesh));
    case "light":
      return light(object, materials).map((mesh) => shadows(mesh));
  }
}

function cone(base: number, height: number, material: THREE.Material, materials: Materials): THREE.Mesh[] {
  const foot = new THREE.Mesh(new THREE.BoxGeometry(base, base, 0.06 * height), material);
  foot.position.z = 0.03 * height;
  const radius = (part: number) => 0.4 * base * (1 - part) + 0.06 * base * part;
  const ring = (from: number, to: number, own: THREE.Material) => {
    const length = (to - from) * 0.94 * height;
    const geometry = new THREE.CylinderGeometry(radius(to), radius(from), length, 28).rotateX(Math.PI / 2);
    const mesh = new THREE.Mesh(geometry, own);
    mesh.position.z = 0.06 * height + from * 0.94 * height + length / 2;
    return mesh;
  };
  const white = materials.plain(PAINT);
  return [foot, ring(0, 0.4, material), ring(0.4, 0.68, white), ring(0.68, 1, material)];
}

function light(object: FieldObject, materials: Materials): THREE.Mesh[] {
  const width = object.width ?? 0.18;
  const tall = (width * 16) / 9;
  const dark = materials.plain("#20242b");
  const [depth] = sizeOf(object);
  const stand = new THREE.Mesh(new THREE.BoxGeometry(depth, width, 0.03), dark);
  stand.position.z = 0.015;
  const screen = new THREE.Mesh(new THREE.BoxGeometry(0.02, width, tall), dark);
  // The screen is tilted backward around its lower edge.
  const tilt = object.tilt ?? Math.PI / 12;
  screen.geometry.translate(0, 0, tall / 2);
  screen.position.set(depth / 2 - 0.02, 0, 0.03);
  screen.rotation.y = -tilt;
  const lamps = ["#ff3b30", "#5a4a1c", "#1c4a30"].map((colour, i) => {
    const lit = i === 0;
    const material = materials.of({ color: colour, emissive: lit ? colour : "#000000", emissiveIntensity: 0.8 });
    const lamp = new THREE.Mesh(new THREE.CylinderGeometry(0.13 * tall, 0.13 * tall, 0.004, 28).rotateZ(Math.PI / 2), material);
    lamp.position.set(0.012, 0, tall * (0.82 - 0.32 * i));
    return lamp;
  });
  screen.add(...lamps);
  return [stand, screen];
}
