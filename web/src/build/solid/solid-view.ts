/**
 * The 3D view of the document. It shows the road of the newest preview and the objects of the
 * document. Therefore it can also show a world that has errors. A click selects an object.
 */
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { WorldLighting } from "../../scene/load.ts";
import { detectQuality, type Quality } from "../../scene/quality.ts";
import { makeSky } from "../../scene/sky.ts";
import { t } from "../../strings.ts";
import { h } from "../../ui/dom.ts";
import { preventFling } from "../../ui/fling.ts";
import { isEqual } from "../document.ts";
import { objectKey } from "../items.ts";
import type { PictureCache } from "../pictures-cache.ts";
import type { EditorSession } from "../session.ts";
import { decalMeshes, fieldMeshes, Materials, objectMeshes, roadMeshes } from "./shapes.ts";

THREE.Object3D.DEFAULT_UP.set(0, 0, 1);

/** Light and sky of a built world. */
const LIGHTING: WorldLighting = {
  ambient: [0.55, 0.57, 0.6],
  sun: { direction: [-0.381, 0.254, -0.889], colour: [0.62, 0.6, 0.55] },
  sky: { zenith: [0.16, 0.34, 0.66], horizon: [0.62, 0.74, 0.86], nadir: [0.36, 0.4, 0.44] },
  lamps: {
    red: { unlit: [0, 0, 0], lit: [1, 0, 0] },
    yellow: { unlit: [0, 0, 0], lit: [1, 1, 0] },
    green: { unlit: [0, 0, 0], lit: [0, 1, 0] },
  },
};

/**
 * Smallest time between two frames that show changes of the document, if the browser renders on the
 * CPU.
 */
const SOFTWARE_INTERVAL_MS = 400;

export class SolidView {
  readonly canvas = h("canvas", {
    class: "solid-canvas",
    tabindex: 0,
    role: "application",
    "aria-label": t.build.solidLabel,
    "data-testid": "solid",
  });
  /** Number of frames drawn so far. */
  frames = 0;
  readonly quality: Quality;
  readonly #renderer: THREE.WebGLRenderer;
  readonly #scene = new THREE.Scene();
  readonly #camera = new THREE.PerspectiveCamera(42, 1, 0.05, 400);
  readonly #controls: OrbitControls;
  readonly #materials = new Materials();
  readonly #sun = new THREE.DirectionalLight();
  #ground = new THREE.Group();
  #road = new THREE.Group();
  #things = new THREE.Group();
  #objects = new Map<string, THREE.Object3D>();
  #outline = new THREE.BoxHelper(new THREE.Object3D(), "#62c6ff");
  #size = "";
  /**
   * Whether the whole field is shown. If so, the view is fitted again when the canvas changes its
   * size.
   */
  #isFitted = true;
  /** Time of the last frame with a change of the document. */
  #changedAt = 0;
  /** Whether a change of the document is waiting to be drawn. */
  #isWaiting = false;
  readonly #stale = { ground: true, road: true, things: true, frame: true };

  constructor(
    readonly session: EditorSession,
    readonly pictures: PictureCache,
  ) {
    this.quality = detectQuality();
    this.#renderer = new THREE.WebGLRenderer({ canvas: this.canvas, antialias: this.quality.antialias });
    this.#renderer.shadowMap.enabled = this.quality.shadows;
    this.#controls = new OrbitControls(this.#camera, this.canvas);
    Object.assign(this.#controls, { maxPolarAngle: 0.49 * Math.PI, zoomToCursor: true, minDistance: 0.4, maxDistance: 150 });
    this.#controls.addEventListener("change", () => (this.#stale.frame = true));
    this.#controls.addEventListener("start", () => (this.#isFitted = false));
    this.#light();
    this.#outline.visible = false;
    this.#scene.add(makeSky(LIGHTING), this.#ground, this.#road, this.#things, this.#outline);
    session.document.watch((document, before) => {
      this.#stale.things = true;
      if (!isEqual(before?.field, document.field) || !isEqual(before?.fence, document.fence)) this.#stale.ground = true;
      if (!isEqual(before?.track, document.track)) this.#stale.road = true;
    });
    session.preview.watch((preview, before) => {
      if (preview?.road !== before?.road) this.#stale.road = true;
    });
    session.selection.watch(() => (this.#stale.frame = true));
    this.#watchClicks();
    preventFling(this.canvas);
    new ResizeObserver(() => this.#resize()).observe(this.canvas);
    requestAnimationFrame((now) => this.#frame(now));
  }

  /** Draws floor, decals and objects again, because a picture was loaded. */
  refresh(): void {
    Object.assign(this.#stale, { ground: true, things: true });
  }

  /** Shows the whole field. */
  fit(): void {
    const [width, height] = this.session.document.value.field.size;
    // The distance at which the whole width and the whole depth of the field are visible.
    const half = Math.tan((this.#camera.fov * Math.PI) / 360);
    const far = 1.12 * Math.max((1.15 * width) / (2 * half * this.#camera.aspect), 0.95 * (height / (2 * half))) + 0.3;
    this.#controls.target.set(width / 2, height / 2 - 0.04 * height, 0);
    this.#camera.position.set(-0.16, -0.68, 0.72).normalize().multiplyScalar(far).add(this.#controls.target);
    this.#isFitted = true;
    this.#controls.update();
    this.#stale.frame = true;
  }

  #light(): void {
    const colour = ([r, g, b]: readonly number[]) => new THREE.Color().setRGB(r, g, b);
    const sky = new THREE.HemisphereLight(colour(LIGHTING.ambient), colour(LIGHTING.ambient).multiplyScalar(0.45), Math.PI);
    sky.position.set(0, 0, 1);
    this.#sun.color = colour(LIGHTING.sun.colour);
    this.#sun.intensity = Math.PI;
    this.#sun.castShadow = this.quality.shadows;
    this.#sun.shadow.mapSize.set(2048, 2048);
    this.#sun.shadow.bias = -0.0005;
    this.#sun.shadow.normalBias = 0.006;
    this.#scene.add(sky, this.#sun, this.#sun.target);
  }

  #aimSun(): void {
    const [width, height] = this.session.document.value.field.size;
    const reach = Math.max(2, Math.hypot(width, height) / 2 + 0.5);
    this.#sun.target.position.set(width / 2, height / 2, 0);
    this.#sun.position
      .set(...LIGHTING.sun.direction)
      .multiplyScalar(-2 * reach)
      .add(this.#sun.target.position);
    const { camera } = this.#sun.shadow;
    Object.assign(camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1, far: 4 * reach });
    camera.updateProjectionMatrix();
  }

  #frame(now: number): void {
    requestAnimationFrame((next) => this.#frame(next));
    if (this.canvas.clientWidth === 0) return;
    if (this.#stale.ground || this.#stale.road || this.#stale.things) {
      // The 3D view draws a change one frame after the top view, because the user makes the change
      // in the top view. If the browser renders on the CPU, the 3D view is also drawn less often.
      // Otherwise it would slow down the top view during a drag.
      const isFirst = !this.#isWaiting;
      this.#isWaiting = true;
      if (isFirst || (this.quality.software && now - this.#changedAt < SOFTWARE_INTERVAL_MS)) return;
      this.#changedAt = now;
      this.#isWaiting = false;
    }
    const { document, preview } = this.session;
    if (this.#stale.ground) {
      this.#replace("ground", this.#ground, fieldMeshes(document.value, this.pictures, this.#materials));
      this.#aimSun();
      const size = document.value.field.size.join();
      if (size !== this.#size) this.fit();
      this.#size = size;
    }
    if (this.#stale.road) {
      const road = preview.value?.road;
      this.#replace("road", this.#road, road ? roadMeshes(document.value, road, this.#materials) : []);
    }
    if (this.#stale.things) {
      this.#objects = objectMeshes(document.value, this.pictures, this.#materials);
      const decals = decalMeshes(document.value, this.pictures, this.#materials);
      this.#replace("things", this.#things, [...decals, ...this.#objects.values()]);
      this.#materials.freeUnused(this.#scene);
    }
    if (!this.#stale.frame) return;
    this.#stale.frame = false;
    this.#showSelection();
    this.#renderer.render(this.#scene, this.#camera);
    this.frames++;
  }

  #replace(part: "ground" | "road" | "things", group: THREE.Group, meshes: readonly THREE.Object3D[]): void {
    for (const child of [...group.children]) {
      group.remove(child);
      freeGeometry(child);
    }
    group.add(...meshes);
    this.#stale[part] = false;
    this.#stale.frame = true;
  }

  #showSelection(): void {
    const [first] = [...this.session.selection.value]
      .map((key) => this.#objects.get(key.replace("object:", "")))
      .filter((node) => node !== undefined);
    this.#outline.visible = first !== undefined;
    if (first) this.#outline.setFromObject(first);
  }

  #watchClicks(): void {
    let down: { x: number; y: number } | null = null;
    this.canvas.addEventListener("pointerdown", ({ clientX: x, clientY: y }) => (down = { x, y }));
    this.canvas.addEventListener("pointerup", (event) => {
      const isClick = down !== null && Math.hypot(event.clientX - down.x, event.clientY - down.y) < 4;
      down = null;
      if (isClick) this.#pick(event);
    });
  }

  #pick(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(
      ((event.clientX - box.left) / box.width) * 2 - 1,
      1 - ((event.clientY - box.top) / box.height) * 2,
    );
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.#camera);
    let best: { name: string; far: number } | null = null;
    for (const [name, node] of this.#objects) {
      const far = ray.intersectObject(node, true)[0]?.distance;
      if (far !== undefined && (!best || far < best.far)) best = { name, far };
    }
    this.session.select(best ? [objectKey(best.name)] : [], event.shiftKey ? "toggle" : "replace");
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    this.#renderer.setPixelRatio(Math.min(devicePixelRatio, this.quality.maxPixelRatio));
    this.#renderer.setSize(width, height, false);
    this.#camera.aspect = width / height;
    this.#camera.updateProjectionMatrix();
    if (this.#isFitted) this.fit();
    this.#stale.frame = true;
  }
}

/** Frees geometries only, because several meshes share a material. `Materials` frees materials. */
function freeGeometry(root: THREE.Object3D): void {
  root.traverse((part) => {
    if (part instanceof THREE.Mesh) (part.geometry as THREE.BufferGeometry).dispose();
  });
}

