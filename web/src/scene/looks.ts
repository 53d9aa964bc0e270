/**
 * Gives some boxes of a world a better look in the 3D view: a house gets a gable roof, and a box of
 * the size of a car becomes a parked car. Position and size of the object do not change.
 */
import * as THREE from "three";
import type { SceneItem } from "./load.ts";

/** A textured box at least this tall and wide is a house. */
const HOUSE_M = { height: 0.45, width: 0.4 };
const EAVES_M = 0.04;

/** Replaces the looks of houses and parked cars. */
export function dressObjects(objects: Iterable<SceneItem>): void {
  for (const { node, box } of objects) {
    if (node.userData["kind"] !== "box" || box.isEmpty()) continue;
    const meshes: THREE.Mesh[] = [];
    node.traverse((part) => part instanceof THREE.Mesh && meshes.push(part));
    const materials = meshes.map((mesh) => mesh.material as THREE.MeshStandardMaterial);
    const size = box.getSize(new THREE.Vector3());
    if (isHouse(size, materials)) {
      node.userData["look"] = "house";
      node.add(...roof(box, meshes));
    } else if (isParkedCar(size, materials)) {
      node.userData["look"] = "car";
      for (const mesh of meshes) mesh.removeFromParent();
      node.add(...parkedCar(box, materials[0]));
    }
  }
}

export function isHouse({ x, y, z }: THREE.Vector3Like, materials: readonly { map: unknown }[]): boolean {
  return z >= HOUSE_M.height && Math.min(x, y) >= HOUSE_M.width && materials.some(({ map }) => map);
}

/** Whether a plain box has the proportions of a car at the scale of the robot. */
export function isParkedCar({ x, y, z }: THREE.Vector3Like, materials: readonly { map: unknown }[]): boolean {
  const plain = materials.length === 1 && !materials[0].map;
  return plain && x > 0.3 && x < 0.6 && x / y > 1.7 && x / y < 2.6 && z / y > 0.6 && z / y < 1;
}

/** The mesh whose triangles are all at the top of the box. Its picture is used for the roof. */
function topOf(box: THREE.Box3, meshes: readonly THREE.Mesh[]): THREE.Mesh | undefined {
  return meshes.find(({ geometry }) => {
    const position = (geometry as THREE.BufferGeometry).getAttribute("position");
    const index = (geometry as THREE.BufferGeometry).index;
    if (!index) return false;
    for (let i = 0; i < index.count; i++) if (Math.abs(position.getZ(index.getX(i)) - box.max.z) > 1e-4) return false;
    return true;
  });
}

/** Two slopes, two gables and a chimney on a box. The ridge is parallel to the longer side. */
function roof({ min, max }: THREE.Box3, meshes: readonly THREE.Mesh[]): THREE.Mesh[] {
  const [w, d] = [max.x - min.x, max.y - min.y];
  const turned = d > w;
  const [length, depth] = turned ? [d, w] : [w, d];
  const rise = 0.36 * depth;
  const [l, half] = [length / 2 + EAVES_M, depth / 2 + EAVES_M];
  const drop = -(EAVES_M * rise) / (depth / 2);
  const top = topOf(new THREE.Box3(min, max), meshes);
  const tiles = top ? (top.material as THREE.MeshStandardMaterial).clone() : new THREE.MeshStandardMaterial({ color: 0x8c4a3c });
  tiles.side = THREE.DoubleSide;
  const slopes = polygons([
    [[-l, -half, drop], [l, -half, drop], [l, 0, rise], [-l, 0, rise]],
    [[l, half, drop], [-l, half, drop], [-l, 0, rise], [l, 0, rise]],
  ]);
  const inner = length / 2 - 0.004;
  const gables = polygons([
    [[inner, -depth / 2, 0], [inner, depth / 2, 0], [inner, 0, rise]],
    [[-inner, depth / 2, 0], [-inner, -depth / 2, 0], [-inner, 0, rise]],
  ]);
  const chimney = new THREE.BoxGeometry(0.08, 0.08, 0.22).translate(0.28 * length, 0.16 * depth, rise - 0.02);
  const plaster = new THREE.MeshStandardMaterial({ color: 0xd9cbb0, roughness: 0.9, side: THREE.DoubleSide });
  const brick = new THREE.MeshStandardMaterial({ color: 0x7d4638, roughness: 0.9 });
  const parts = [new THREE.Mesh(slopes, tiles), new THREE.Mesh(gables, plaster), new THREE.Mesh(chimney, brick)];
  for (const part of parts) {
    part.position.set((min.x + max.x) / 2, (min.y + max.y) / 2, max.z);
    part.rotation.z = turned ? Math.PI / 2 : 0;
  }
  return parts;
}

/** Flat polygons with three or four corners. The whole texture is mapped once onto each quad. */
function polygons(faces: readonly (readonly (readonly [number, number, number])[])[]): THREE.BufferGeometry {
  const [positions, uvs]: [number[], number[]] = [[], []];
  const corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
  for (const face of faces) {
    for (let i = 1; i + 1 < face.length; i++) {
      for (const k of [0, i, i + 1]) (positions.push(...face[k]), uvs.push(...corners[k]));
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute("uv", new THREE.Float32BufferAttribute(uvs, 2));
  geometry.computeVertexNormals();
  return geometry;
}

/** A car that fills the box, with its front at +x, in the colour of the box. */
function parkedCar(box: THREE.Box3, { color }: THREE.MeshStandardMaterial): THREE.Mesh[] {
  const size = box.getSize(new THREE.Vector3());
  const centre = box.getCenter(new THREE.Vector3());
  const paint = new THREE.MeshStandardMaterial({ color, roughness: 0.32, metalness: 0.15 });
  const glass = new THREE.MeshStandardMaterial({ color: 0x1b2530, roughness: 0.12, metalness: 0.2 });
  const rubber = new THREE.MeshStandardMaterial({ color: 0x17181a, roughness: 0.9 });
  const bright = new THREE.MeshStandardMaterial({ color: 0xf4f1e6, roughness: 0.3 });
  const red = new THREE.MeshStandardMaterial({ color: 0xa81f1a, roughness: 0.4 });
  const [l, w, h] = [size.x, size.y, size.z];
  // Side views with x ahead and y up, as fractions of length and height.
  const body = outline([[-0.5, 0.16], [-0.495, 0.46], [-0.46, 0.58], [-0.3, 0.62], [0.16, 0.62], [0.42, 0.54], [0.49, 0.44], [0.5, 0.18], [0.46, 0.14], [-0.47, 0.14]], l, h);
  const cabin = outline([[-0.44, 0.6], [-0.33, 0.92], [-0.27, 0.97], [-0.02, 0.97], [0.04, 0.93], [0.2, 0.6]], l, h);
  const lid = outline([[-0.345, 0.91], [-0.27, 1], [-0.02, 1], [0.055, 0.91]], l, h);
  const tyre = () => new THREE.CylinderGeometry(0.2 * h, 0.2 * h, 0.1 * w, 18);
  const parts: [THREE.BufferGeometry, THREE.Material, number, number, number][] = [
    [side(body, 0.94 * w), paint, 0, 0, 0],
    [side(cabin, 0.8 * w), glass, 0, 0, 0],
    [side(lid, 0.76 * w), paint, 0, 0, 0],
  ];
  for (const x of [-0.3, 0.29]) for (const y of [-0.43, 0.43]) parts.push([tyre(), rubber, x * l, y * w, 0.2 * h]);
  for (const y of [-0.32, 0.32]) {
    parts.push([new THREE.BoxGeometry(0.02 * l, 0.2 * w, 0.09 * h), bright, 0.492 * l, y * w, 0.4 * h]);
    parts.push([new THREE.BoxGeometry(0.02 * l, 0.2 * w, 0.08 * h), red, -0.492 * l, y * w, 0.47 * h]);
  }
  return parts.map(([geometry, material, x, y, z]) => {
    const mesh = new THREE.Mesh(geometry, material);
    mesh.position.set(centre.x + x, centre.y + y, box.min.z + z);
    return mesh;
  });
}

type SideView = readonly (readonly [number, number])[];

/**
 * Returns a side view in metres: x ahead, y up, counter-clockwise seen from the right side.
 * `points` are fractions of `length` and `height`, in clockwise order.
 */
function outline(points: SideView, length: number, height: number): SideView {
  return points.map(([x, y]) => [x * length, y * height] as const).toReversed();
}

/**
 * Extrudes a side view to a width. The edges at both sides are bevelled, so that they catch light.
 */
function side(view: SideView, width: number): THREE.BufferGeometry {
  const cut = 0.06 * width;
  const middle = view.reduce(([a, b], [x, y]) => [a + x / view.length, b + y / view.length] as const, [0, 0] as const);
  const inner = view.map(([x, y]) => [x + (middle[0] - x) * 0.05, y + (middle[1] - y) * 0.1] as const);
  /** Corners of the four rings across the car, from its right side to its left side. */
  const rings = [
    inner.map(([x, z]) => [x, -width / 2, z] as const),
    view.map(([x, z]) => [x, cut - width / 2, z] as const),
    view.map(([x, z]) => [x, width / 2 - cut, z] as const),
    inner.map(([x, z]) => [x, width / 2, z] as const),
  ];
  const faces: (readonly (readonly [number, number, number])[])[] = [];
  for (let i = 0; i < view.length; i++) {
    const j = (i + 1) % view.length;
    for (let r = 0; r + 1 < rings.length; r++) faces.push([rings[r][i], rings[r + 1][i], rings[r + 1][j], rings[r][j]]);
    faces.push([rings[0][j], [middle[0], -width / 2, middle[1]], rings[0][i]]);
    faces.push([rings[3][i], [middle[0], width / 2, middle[1]], rings[3][j]]);
  }
  return polygons(faces);
}
