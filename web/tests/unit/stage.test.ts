import * as THREE from "three";
import { describe, expect, it } from "vitest";
import type { WorldLighting } from "../../src/scene/load.ts";
import { isHouse, isParkedCar } from "../../src/scene/looks.ts";
import { qualityAt, qualityOf } from "../../src/scene/quality.ts";
import { clearHeight, distanceTo, Layout, MARGIN_M, PLAZA_M } from "../../src/scene/stage/layout.ts";
import { Painter } from "../../src/scene/stage/painter.ts";

const lamp = { unlit: [0, 0, 0], lit: [1, 1, 1] } as { unlit: [number, number, number]; lit: [number, number, number] };
const lighting: WorldLighting = {
  ambient: [0.4, 0.4, 0.4],
  sun: { direction: [-0.381, 0.254, -0.889], colour: [0.8, 0.8, 0.8] },
  sky: { zenith: [0.1, 0.3, 0.6], horizon: [0.7, 0.8, 0.9], nadir: [0.2, 0.2, 0.2] },
  lamps: { red: lamp, yellow: lamp, green: lamp },
};
const FIELDS = [
  [3, 3],
  [8, 6],
  [16, 9],
  [40, 4],
];

function surroundings(width: number, height: number, theme: "race" | "town"): { painter: Painter; bounds: THREE.Box2 } {
  const bounds = new THREE.Box2(new THREE.Vector2(-1, 2), new THREE.Vector2(width - 1, height + 2));
  const painter = new Painter(lighting);
  new Layout(painter, bounds, theme, width < 10);
  return { painter, bounds };
}

describe("surroundings", () => {
  for (const theme of ["race", "town"] as const) {
    for (const [width, height] of FIELDS) {
      it(`leave a field of ${width} by ${height} m free and visible, ${theme}`, () => {
        const { painter, bounds } = surroundings(width, height, theme);
        const { positions } = painter;
        expect(positions.length).toBeGreaterThan(9000);
        let [nearest, hidden] = [Number.POSITIVE_INFINITY, 0];
        for (let i = 0; i < positions.length; i += 3) {
          const distance = distanceTo(bounds, positions[i], positions[i + 1]);
          nearest = Math.min(nearest, distance);
          if (positions[i + 2] > clearHeight(distance) + 1e-6) hidden++;
        }
        expect(nearest).toBeGreaterThan(PLAZA_M - 0.15);
        expect(hidden).toBe(0);
      });
    }
  }

  it("of a large field have no more triangles than those of a usual one", () => {
    const [usual, large] = [surroundings(16, 12, "race"), surroundings(200, 150, "race")];
    expect(large.painter.positions.length).toBeLessThan(1.3 * usual.painter.positions.length);
  });

  it("are the same on every visit", () => {
    const [one, two] = [surroundings(3, 3, "race"), surroundings(3, 3, "race")].map(({ painter }) => Buffer.from(Float64Array.from(painter.positions).buffer));
    expect(one.equals(two)).toBe(true);
  });

  it("can't be picked by a ray", () => {
    const { painter, bounds } = surroundings(8, 6, "race");
    const mesh = painter.mesh();
    const ray = new THREE.Raycaster(new THREE.Vector3(bounds.max.x + MARGIN_M, 5, 0.4), new THREE.Vector3(-1, 0, 0));
    expect(ray.intersectObject(mesh, true)).toEqual([]);
    // An ordinary mesh with the same triangles is hit, so the ray was aimed correctly.
    expect(ray.intersectObject(new THREE.Mesh(mesh.geometry, new THREE.MeshBasicMaterial({ side: THREE.DoubleSide }))).length).toBeGreaterThan(0);
  });
});

describe("looks", () => {
  const [plain, textured] = [[{ map: null }], [{ map: {} }, { map: {} }]];
  it("recognizes houses and parked cars by size and picture", () => {
    expect(isHouse({ x: 1, y: 0.8, z: 0.7 }, textured)).toBe(true);
    expect(isHouse({ x: 1, y: 0.8, z: 0.7 }, plain)).toBe(false);
    expect(isHouse({ x: 0.3, y: 0.3, z: 0.3 }, textured)).toBe(false);
    expect(isParkedCar({ x: 0.42, y: 0.2, z: 0.16 }, plain)).toBe(true);
    expect(isParkedCar({ x: 0.42, y: 0.2, z: 0.16 }, textured)).toBe(false);
    expect(isParkedCar({ x: 0.8, y: 0.3, z: 0.25 }, plain)).toBe(false);
    expect(isParkedCar({ x: 0.3, y: 0.3, z: 0.3 }, plain)).toBe(false);
  });
});

describe("quality", () => {
  it("adds cost with every level", () => {
    const [low, medium, high] = (["low", "medium", "high"] as const).map(qualityAt);
    expect([low.shadows, medium.shadows, high.shadows]).toEqual([false, true, true]);
    expect([low.reflections, medium.reflections]).toEqual([false, true]);
    expect([low.detailed, medium.detailed, high.detailed]).toEqual([false, false, true]);
    expect(low.maxPixelRatio).toBeLessThan(medium.maxPixelRatio);
    expect(medium.maxPixelRatio).toBeLessThan(high.maxPixelRatio);
  });

  it("is chosen automatically by the name of the graphics card", () => {
    expect(qualityOf("ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero)), SwiftShader driver)").level).toBe("low");
    expect(qualityOf("ANGLE (ARM, Mali-G78, OpenGL ES 3.2)").level).toBe("medium");
    expect(qualityOf("ANGLE (NVIDIA, NVIDIA GeForce RTX 3060, OpenGL 4.6)").level).toBe("high");
  });
});
