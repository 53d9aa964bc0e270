import * as THREE from "three";
import { expect, it } from "vitest";
import type { ProjectDocument } from "../../src/build/document.ts";
import type { PictureCache } from "../../src/build/pictures-cache.ts";
import { decalMeshes, fieldMeshes, Materials, objectMeshes } from "../../src/build/solid/shapes.ts";
import { project } from "./build-fake.ts";

it("every change made new materials for the floor, pictures and lamps", () => {
  const document: ProjectDocument = {
    ...project(),
    field: { size: [8, 6], ground: { picture: "floor.png" } },
    decals: [
      { picture: "a.png", x: 1, y: 1, width: 1, height: 1 },
      { picture: "b.png", x: 2, y: 1, width: 1, height: 1 },
    ],
    objects: [
      { kind: "box", name: "box1", x: 1, y: 2, textures: { front: "a.png" } },
      { kind: "light", name: "light1", x: 2, y: 2 },
    ],
  };
  const images = new Map(["floor.png", "a.png"].map((name) => [name, { name } as unknown as HTMLImageElement]));
  const pictures = { get: (name: string) => images.get(name) ?? null } as PictureCache;
  const materials = new Materials();
  const used = (): Set<THREE.Material> => {
    const meshes = [
      ...fieldMeshes(document, pictures, materials),
      ...decalMeshes(document, pictures, materials),
      ...objectMeshes(document, pictures, materials).values(),
    ];
    const found = new Set<THREE.Material>();
    for (const root of meshes) {
      root.traverse((part) => {
        if (part instanceof THREE.Mesh) for (const one of [part.material].flat()) found.add(one as THREE.Material);
      });
    }
    return found;
  };
  const before = used();
  expect([...used()].every((material) => before.has(material))).toBe(true);
  const maps = [...before].map((material) => (material as THREE.MeshStandardMaterial).map?.image).filter(Boolean);
  expect(new Set(maps)).toEqual(new Set(images.values()));
});

it("a material of a former colour and a replaced picture stayed in memory", () => {
  const materials = new Materials();
  const mesh = new THREE.Mesh();
  const scene = new THREE.Scene().add(mesh);
  const disposed: string[] = [];
  const show = (colour: string, picture: string): THREE.MeshStandardMaterial => {
    const map = materials.texture({ name: picture } as unknown as HTMLImageElement);
    const material = materials.of({ color: colour, map });
    material.addEventListener("dispose", () => disposed.push(colour));
    map.addEventListener("dispose", () => disposed.push(picture));
    mesh.material = material;
    materials.freeUnused(scene);
    return material;
  };
  const red = show("red", "a.png");
  expect(disposed).toEqual([]);
  show("blue", "b.png");
  expect(disposed.sort()).toEqual(["a.png", "red"]);
  expect(materials.of({ color: "red", map: red.map })).not.toBe(red);
});
