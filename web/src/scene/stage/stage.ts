/**
 * The surroundings of the field in the 3D view: ground, trees, stands, parked cars, horizon,
 * contact shading, and reflections. They are decoration of this page only: the simulation does not
 * contain them, the robot's camera does not show them, and the pointer can't select them.
 */
import * as THREE from "three";
import type { SceneItem, WorldLighting } from "../load.ts";
import type { Quality } from "../quality.ts";
import { makeSky } from "../sky.ts";
import { makeGround } from "./ground.ts";
import { Layout, type Theme } from "./layout.ts";
import { Painter } from "./painter.ts";
import { wallShading } from "./shading.ts";

/** A world with at least this many houses is a town. */
const TOWN_HOUSES = 2;

/** The theme that fits the objects of a world. */
export function themeOf(objects: Iterable<SceneItem>): Theme {
  let houses = 0;
  for (const { node } of objects) if (node.userData["look"] === "house") houses++;
  return houses >= TOWN_HOUSES ? "town" : "race";
}

export interface StageOptions {
  lighting: WorldLighting;
  /** The field. The surroundings stay outside it. */
  bounds: THREE.Box2;
  theme: Theme;
  quality: Quality;
  /** Height of the fence; 0 if the field has none. */
  fence: number;
}

/** Makes the surroundings of a field. */
export function makeStage({ lighting, bounds, theme, quality, fence }: StageOptions): THREE.Group {
  const painter = new Painter(lighting);
  const { parking } = new Layout(painter, bounds, theme, quality.detailed);
  const stage = new THREE.Group();
  stage.name = "stage";
  stage.add(
    painter.mesh(),
    makeGround(bounds, lighting, parking, painter.footprints, {
      pixels: quality.detailed ? 2048 : 1024,
      shadows: quality.shadows,
      anisotropy: quality.software ? 1 : 8,
    }),
  );
  // The surroundings are drawn after the world, so that no time is spent on the parts that the
  // world hides.
  stage.traverse((part) => (part.renderOrder = 0.5));
  // Blending costs time for each pixel, so the low level has no shading.
  if (fence > 0.02 && !quality.software) stage.add(wallShading(bounds, fence));
  stage.traverse((part) => (part.matrixAutoUpdate = false));
  stage.traverse((part) => part.updateMatrix());
  return stage;
}

/**
 * Reflections for glossy materials: a small scene with the sky of the world, a light ground, and
 * two large lamps, pre-filtered for every roughness.
 */
export function makeReflections(renderer: THREE.WebGLRenderer, lighting: WorldLighting): THREE.WebGLRenderTarget {
  const room = new THREE.Scene();
  room.add(makeSky(lighting));
  const ground = new THREE.Mesh(new THREE.CircleGeometry(30, 24), new THREE.MeshBasicMaterial({ color: 0xa7a596 }));
  ground.position.z = -1;
  room.add(ground);
  const lamp = new THREE.MeshBasicMaterial({ color: new THREE.Color(7, 6.7, 6.2), side: THREE.DoubleSide });
  for (const [x, y, z, w, h] of [[4, -3, 7, 5, 2.2], [-5, 3, 6, 3, 1.4]]) {
    const panel = new THREE.Mesh(new THREE.PlaneGeometry(w, h), lamp);
    panel.position.set(x, y, z);
    panel.lookAt(0, 0, 0);
    room.add(panel);
  }
  const generator = new THREE.PMREMGenerator(renderer);
  const target = generator.fromScene(room, 0.03);
  generator.dispose();
  room.traverse((part) => {
    if (!(part instanceof THREE.Mesh)) return;
    (part.geometry as THREE.BufferGeometry).dispose();
    (part.material as THREE.Material).dispose();
  });
  return target;
}
