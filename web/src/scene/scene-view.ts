/**
 * The 3D view: draws the world and the car at the poses that the server sends, or at the poses of a
 * replay.
 *
 * A frame is drawn only if something has changed. Objects are drawn at the pose from `Playback`,
 * except those that the user moves on this page (`localPoses`). This module does not depend on
 * panels or on user input.
 */
import * as THREE from "three";
import type { Light, Pose, State, Vehicle } from "../wire/sim.ts";
import { CarJoints, setJoints } from "./car.ts";
import { GhostCar } from "./ghost.ts";
import { fenceHeight, fieldOf } from "./field.ts";
import { TrafficLight } from "./lamps.ts";
import { SceneLights } from "./lights.ts";
import { dispose, loadCar, loadWorld, type CarModel, type SceneItem, type WorldModel } from "./load.ts";
import { Outline } from "./outline.ts";
import { CAR, Playback, poseAt } from "./playback.ts";
import { detectQuality, ResolutionScale, type Quality, type QualityChoice } from "./quality.ts";
import type { RunPoses } from "./run-poses.ts";
import { ContactShadow } from "./shadow.ts";
import { makeSky } from "./sky.ts";
import { reflect, softHighlights } from "./tone.ts";

THREE.Object3D.DEFAULT_UP.set(0, 0, 1);

const FOV_DEG = 42;
/** Nothing is drawn beyond this distance. The lawn around the field ends before it. */
const FAR_M = 500;
/**
 * Longest time step of a replay. After a longer pause between two frames, the replay advances only
 * by this time.
 */
const MAX_REPLAY_STEP_S = 0.5;

/** A recorded run that the 3D view shows instead of the live simulation. */
export interface ReplayScene {
  readonly poses: RunPoses;
  /** Current moment of the run, in simulated seconds. */
  readonly now: number;
  /** A second run that is shown as a ghost, with its own moment; null if there is none. */
  readonly ghostNow: { poses: RunPoses; now: number } | null;
  /** Advances the clock of the replay by real seconds. */
  advance(seconds: number): void;
}

export class SceneView {
  quality: Quality;
  readonly renderer: THREE.WebGLRenderer;
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(FOV_DEG, 1, 0.05, FAR_M);
  readonly playback = new Playback();
  readonly outline = new Outline();
  /**
   * Poses of the objects that the user moves on this page, by name. They replace the poses of the
   * server.
   */
  readonly localPoses = new Map<string, Pose>();
  /**
   * Callbacks that are called once per animation frame, with the seconds since the last frame. If a
   * callback returns true, the frame is drawn even if nothing else has changed.
   */
  readonly beforeDraw: ((seconds: number) => boolean | void)[] = [];
  /** Number of frames drawn so far. */
  frames = 0;
  /** Simulated time of the last drawn frame, in seconds. */
  time = 0;
  /** Mean frames per second while something moves. */
  fps = 0;

  #world: WorldModel | null = null;
  #car: CarModel | null = null;
  #joints: CarJoints | null = null;
  #lights = new Map<string, TrafficLight>();
  #shadows: ContactShadow[] = [];
  #worldRoots: THREE.Object3D[] = [];
  #state: State | null = null;
  #replay: ReplayScene | null = null;
  #ghost: GhostCar | null = null;
  #dirty = true;
  readonly #size = new THREE.Vector2();
  #lastMs = 0;
  #drawnMs = 0;
  #scale: ResolutionScale;
  /** The arguments of the last `showWorld`. They are needed after a change of the quality. */
  #shown: Parameters<SceneView["showWorld"]> | null = null;
  #reflections: THREE.WebGLRenderTarget | null = null;
  /** Number of calls of `showWorld`. An outdated call must not replace a newer world. */
  #loads = 0;
  readonly #lighting = new SceneLights();

  constructor(
    readonly canvas: HTMLCanvasElement,
    choice: QualityChoice = "auto",
  ) {
    this.quality = detectQuality(choice);
    this.#scale = new ResolutionScale(this.quality.software);
    this.renderer = new THREE.WebGLRenderer({
      canvas,
      antialias: this.quality.antialias,
      stencil: true,
      powerPreference: "high-performance",
    });
    this.#applyQuality();
    this.scene.add(...this.#lighting.objects, this.outline.group);
    this.camera.position.set(-3, -3, 4);
    new ResizeObserver(() => this.#resize()).observe(canvas);
    requestAnimationFrame((ms) => this.#frame(ms));
  }

  /** Whether the current world has been drawn at least once. */
  ready = false;
  /** Whether the surroundings of the current world have been created. */
  staged = false;

  /** The object with this name, or the car if the name is `CAR`. */
  item(name: string): SceneItem | null {
    return (name === CAR ? this.#car : this.#world?.objects.get(name)) ?? null;
  }

  /** Whether a replay is shown instead of the live simulation. */
  get replaying(): boolean {
    return this.#replay !== null;
  }

  /** Shows a replay; null shows the live simulation again. */
  showReplay(replay: ReplayScene | null): void {
    this.#replay = replay;
    this.#removeGhost();
    this.#jointsKey = "";
    if (!replay && this.#state) this.#showLights(this.#state);
    this.invalidate();
  }

  /**
   * Changes the quality of the current world. Antialiasing is a property of the WebGL context, so
   * it changes only when the page is loaded again.
   */
  async setQuality(choice: QualityChoice): Promise<void> {
    const quality = detectQuality(choice);
    if (quality.level === this.quality.level) return;
    this.quality = quality;
    this.#scale = new ResolutionScale(quality.software);
    this.#applyQuality();
    this.#resize();
    try {
      if (this.#shown) await this.showWorld(...this.#shown);
    } catch (error) {
      // Probably the simulator has switched to another world, which will be loaded soon.
      console.warn("The world was not loaded in the new quality:", error);
    }
  }

  #applyQuality(): void {
    this.renderer.shadowMap.enabled = this.quality.shadows;
    this.renderer.toneMapping = this.quality.reflections ? softHighlights() : THREE.NoToneMapping;
  }

  /** Requests that the next frame is drawn. */
  invalidate(): void {
    this.#dirty = true;
  }

  /**
   * Loads a world and the car, then shows them instead of the current ones. The shadows cover
   * `ground`.
   */
  async showWorld(
    worldUrl: string,
    carUrl: string,
    profile: Vehicle,
    lights: readonly Light[],
    ground: THREE.Box2,
  ): Promise<void> {
    const thisLoad = ++this.#loads;
    this.#shown = [worldUrl, carUrl, profile, lights, ground];
    const [world, car] = await Promise.all([loadWorld(worldUrl, this.quality), loadCar(carUrl, this.quality)]);
    if (thisLoad !== this.#loads) return;
    this.#removeWorld();
    this.ready = this.staged = false;
    this.#world = world;
    this.#car = car;
    this.#joints = new CarJoints(car, profile);
    this.#lighting.set(world.lighting, ground, this.quality);
    this.#worldRoots = [world.root, car.node, makeSky(world.lighting)];
    const area = fieldOf(world, ground);
    void this.#addStage(world, car, area, thisLoad);
    for (const light of lights) {
      const item = world.objects.get(light.name);
      if (item) this.#lights.set(light.name, new TrafficLight(item, world.lighting.lamps, light));
    }
    const walls = (node: THREE.Object3D) => node.userData["type"] === "wall";
    const dark = this.quality.shadows ? 0.4 : 0.72;
    for (const item of [...world.objects.values(), car]) {
      if (!walls(item.node) && !item.box.isEmpty()) this.#shadows.push(new ContactShadow(item, dark));
    }
    this.scene.add(...this.#worldRoots, ...this.#shadows.map((shadow) => shadow.mesh));
    // The last state is applied to the new world, because a paused simulation may send no further
    // state.
    if (this.#state) this.pushState(this.#state, performance.now());
    this.invalidate();
  }

  /**
   * Adds the surroundings after the first frame of the world, so that they do not delay this frame.
   */
  async #addStage(world: WorldModel, car: CarModel, area: THREE.Box2, thisLoad: number): Promise<void> {
    const { makeStage, makeReflections, themeOf } = await import("./stage/stage.ts");
    while (thisLoad === this.#loads && !this.ready) await new Promise(requestAnimationFrame);
    if (thisLoad !== this.#loads) return;
    const { lighting, objects } = world;
    const theme = themeOf(objects.values());
    const stage = makeStage({ lighting, bounds: area, theme, quality: this.quality, fence: fenceHeight(world) });
    this.#worldRoots.push(stage);
    this.scene.add(stage);
    if (this.quality.reflections) {
      this.#reflections = makeReflections(this.renderer, lighting);
      for (const root of [world.root, car.node]) reflect(root, this.#reflections.texture);
    }
    this.staged = true;
    this.invalidate();
  }

  /** Adds a state that has just arrived. */
  pushState(state: State, nowMs: number): void {
    this.#state = state;
    if (state.vehicle && typeof state.time === "number") {
      const bodies = new Map<string, Pose>(Object.entries(state.objects));
      bodies.set(CAR, state.vehicle);
      this.playback.push({ time: state.time, paused: state.paused, bodies }, nowMs);
    }
    if (!this.#replay && this.#showLights(state)) this.invalidate();
  }

  /** Size of a pixel at a point, in metres. */
  metresPerPixel(at: THREE.Vector3): number {
    const far = this.camera.position.distanceTo(at);
    return (2 * far * Math.tan((this.camera.fov * Math.PI) / 360)) / Math.max(1, this.canvas.clientHeight);
  }

  #showLights(state: State): boolean {
    let changed = false;
    for (const light of state.lights) changed = this.#lights.get(light.name)?.show(light.state) || changed;
    return changed;
  }

  #frame(nowMs: number): void {
    requestAnimationFrame((ms) => this.#frame(ms));
    const passed = (nowMs - this.#lastMs) / 1000;
    const seconds = Math.min(0.1, passed);
    this.#lastMs = nowMs;
    let again = false;
    this.#replay?.advance(Math.min(MAX_REPLAY_STEP_S, passed));
    // States are stamped with `performance.now()`, and `nowMs` can differ from it, so the same
    // clock is used here.
    const moved = this.#replay ? this.#moveReplay(this.#replay) : this.#move(performance.now());
    for (const step of this.beforeDraw) again = step(seconds) === true || again;
    if (!moved && !again && !this.#dirty) return;
    this.#dirty = false;
    this.outline.update(this.#car ? this.#outlinePixel() : 0.001);
    for (const shadow of this.#shadows) shadow.update();
    this.renderer.render(this.scene, this.camera);
    this.frames++;
    if (!this.ready && this.#world) {
      this.ready = true;
      performance.mark("chicane:first-frame");
    }
    const took = nowMs - this.#drawnMs;
    this.#drawnMs = nowMs;
    if (took < 400) this.fps += 0.05 * (1000 / Math.max(took, 1) - this.fps);
    if (this.#scale.frame(took) && !this.quality.fixed) this.#resize();
  }

  #outlinePixel(): number {
    return this.metresPerPixel(this.outline.group.position.setFromMatrixPosition(this.outline.group.matrix));
  }

  /** Moves everything to its current pose. Returns whether anything moved. */
  #move(nowMs: number): boolean {
    const pair = this.playback.at(nowMs);
    if (!pair || !this.#world || !this.#car) return false;
    const seconds = pair.time - this.time;
    this.time = pair.time;
    let moved = false;
    for (const [name, item] of this.#world.objects) {
      const pose = this.localPoses.get(name) ?? poseAt(pair, name);
      if (pose) moved = setPose(item.node, pose) || moved;
    }
    const pose = this.localPoses.get(CAR) ?? poseAt(pair, CAR);
    if (pose) moved = setPose(this.#car.node, pose) || moved;
    const vehicle = this.#state?.vehicle;
    if (vehicle && this.#joints) {
      const rolls = Math.abs(vehicle.speed) > 1e-3 && seconds > 0 && seconds < 1;
      const key = `${vehicle.steering} ${vehicle.pan} ${vehicle.tilt}`;
      if (rolls || key !== this.#jointsKey) {
        this.#jointsKey = key;
        this.#joints.advance(vehicle.speed, vehicle.steering, rolls ? seconds : 0);
        this.#joints.setCamera(vehicle.pan, vehicle.tilt);
        moved = true;
      }
    }
    return moved;
  }
  #jointsKey = "";

  /** Moves everything to its pose in a replay. Returns whether anything moved. */
  #moveReplay({ poses, now, ghostNow }: ReplayScene): boolean {
    if (!this.#world || !this.#car) return false;
    this.time = now;
    let moved = false;
    for (const [name, item] of this.#world.objects)
      moved = setPose(item.node, poses.object(name, now) ?? item.home) || moved;
    moved = setPose(this.#car.node, poses.car(now)) || moved;
    for (const [name, light] of this.#lights) moved = light.show(poses.light(name, now) ?? "green") || moved;
    const key = String(now);
    if (key !== this.#jointsKey) {
      this.#jointsKey = key;
      setJoints(this.#car, poses.joints(now));
      moved = true;
    }
    return this.#moveGhost(this.#car, ghostNow) || moved;
  }

  /** Moves the ghost, and adds or removes it if needed. Returns whether the ghost changed. */
  #moveGhost(car: CarModel, ghost: ReplayScene["ghostNow"]): boolean {
    if (!ghost) {
      const removed = this.#ghost !== null;
      this.#removeGhost();
      return removed;
    }
    if (!this.#ghost) {
      this.#ghost = new GhostCar(car);
      this.scene.add(this.#ghost.node);
    }
    return this.#ghost.show(ghost.poses, ghost.now);
  }

  #removeGhost(): void {
    if (!this.#ghost) return;
    this.scene.remove(this.#ghost.node);
    this.#ghost.dispose();
    this.#ghost = null;
  }

  /** Removes the current world and the car, and frees their memory. */
  #removeWorld(): void {
    this.outline.set(null);
    this.#removeGhost();
    this.#jointsKey = "";
    this.scene.remove(...this.#worldRoots, ...this.#shadows.map((shadow) => shadow.mesh));
    for (const shadow of this.#shadows) shadow.dispose();
    for (const root of this.#worldRoots) dispose(root);
    this.#reflections?.dispose();
    this.#reflections = null;
    this.#worldRoots = [];
    this.#shadows = [];
    this.#lights.clear();
    this.localPoses.clear();
    this.playback.clear();
  }

  /**
   * Whether the rendered image has the size of the canvas element. After the window or a bar of the
   * page has changed its size, the sizes differ for a short time.
   */
  get fits(): boolean {
    return this.canvas.clientWidth === this.#size.x && this.canvas.clientHeight === this.#size.y;
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    this.#size.set(width, height);
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, this.quality.maxPixelRatio) * this.#scale.value);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    // On a portrait screen a larger field of view keeps enough of the width visible.
    this.camera.fov = width < height ? Math.min(68, FOV_DEG * Math.sqrt(height / width)) : FOV_DEG;
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }
}

/** Moves a node to a pose. Returns false if the node is already there. */
export function setPose(node: THREE.Object3D, { x, y, z, q }: Pose): boolean {
  const { position: p, quaternion: r } = node;
  const near = (a: number, b: number) => Math.abs(a - b) < 2e-5;
  if (
    near(p.x, x) &&
    near(p.y, y) &&
    near(p.z, z) &&
    near(r.x, q[0]) &&
    near(r.y, q[1]) &&
    near(r.z, q[2]) &&
    near(r.w, q[3])
  ) {
    return false;
  }
  p.set(x, y, z);
  r.set(q[0], q[1], q[2], q[3]);
  return true;
}

/** A pose without roll and pitch. */
export function standing(x: number, y: number, z: number, yaw: number): Pose {
  return { x, y, z, roll: 0, pitch: 0, yaw, q: [0, 0, Math.sin(yaw / 2), Math.cos(yaw / 2)] };
}
