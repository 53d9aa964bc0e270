/**
 * The scene: the world and the car as the server tells them, drawn when something has changed.
 *
 * It knows nothing of panels or of who moves things. A thing that someone here holds in hand is drawn where
 * the hand is (`held`), everything else where the playback says.
 */
import * as THREE from "three";
import type { Light, Pose, State, Vehicle } from "../wire/sim.ts";
import { CarJoints } from "./car.ts";
import { TrafficLight } from "./lamps.ts";
import { dispose, loadCar, loadWorld, type CarModel, type Piece, type WorldModel } from "./load.ts";
import { Outline } from "./outline.ts";
import { CAR, Playback, poseAt } from "./playback.ts";
import { detect, Scale, type Quality } from "./quality.ts";
import { ContactShadow } from "./shadow.ts";
import { makeSky } from "./sky.ts";

THREE.Object3D.DEFAULT_UP.set(0, 0, 1);

const FOV_DEG = 42;

export class Stage {
  readonly quality: Quality;
  readonly renderer: THREE.WebGLRenderer;
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(FOV_DEG, 1, 0.05, 200);
  readonly playback = new Playback();
  readonly outline = new Outline();
  /** Things in someone's hand here, by name. */
  readonly held = new Map<string, Pose>();
  /** Called before a frame is drawn, with seconds since the last one; true asks for the next frame too. */
  readonly beforeDraw: ((seconds: number) => boolean | void)[] = [];
  /** Frames drawn so far. */
  frames = 0;
  /** Simulated seconds of what was drawn last. */
  time = 0;
  /** Mean frames a second while drawing. */
  fps = 0;

  #world: WorldModel | null = null;
  #car: CarModel | null = null;
  #joints: CarJoints | null = null;
  #lights = new Map<string, TrafficLight>();
  #shadows: ContactShadow[] = [];
  #stageSet: THREE.Object3D[] = [];
  #state: State | null = null;
  #dirty = true;
  readonly #size = new THREE.Vector2();
  #lastMs = 0;
  #drawnMs = 0;
  readonly #scale: Scale;
  readonly #sun = new THREE.DirectionalLight();
  readonly #hemisphere = new THREE.HemisphereLight();

  constructor(readonly canvas: HTMLCanvasElement) {
    this.quality = detect();
    this.#scale = new Scale(this.quality.software);
    this.renderer = new THREE.WebGLRenderer({
      canvas,
      antialias: this.quality.antialias,
      stencil: true,
      powerPreference: "high-performance",
    });
    this.renderer.shadowMap.enabled = this.quality.shadows;
    this.#hemisphere.position.set(0, 0, 1);
    this.scene.add(this.#sun, this.#sun.target, this.#hemisphere, this.outline.group);
    this.camera.position.set(-3, -3, 4);
    new ResizeObserver(() => this.#resize()).observe(canvas);
    requestAnimationFrame((ms) => this.#frame(ms));
  }

  /** Whether the world that is on was drawn. */
  ready = false;

  /** A thing by name, the car as `CAR`. */
  piece(name: string): Piece | null {
    return (name === CAR ? this.#car : this.#world?.objects.get(name)) ?? null;
  }

  /** Draws again. */
  invalidate(): void {
    this.#dirty = true;
  }

  /** Puts another world on. */
  async show(
    worldUrl: string,
    carUrl: string,
    profile: Vehicle,
    lights: readonly Light[],
    ground: THREE.Box2,
  ): Promise<void> {
    const [world, car] = await Promise.all([loadWorld(worldUrl, this.quality), loadCar(carUrl, this.quality)]);
    this.#strike();
    this.ready = false;
    this.#world = world;
    this.#car = car;
    this.#joints = new CarJoints(car, profile);
    this.#light(world, ground);
    const sky = makeSky(world.surroundings);
    this.#stageSet = [world.root, car.node, sky];
    for (const light of lights) {
      const piece = world.objects.get(light.name);
      if (piece) this.#lights.set(light.name, new TrafficLight(piece, world.surroundings.lamps, light));
    }
    const walls = (node: THREE.Object3D) => node.userData["type"] === "wall";
    const dark = this.quality.shadows ? 0.4 : 0.72;
    for (const piece of [...world.objects.values(), car]) {
      if (!walls(piece.node) && !piece.box.isEmpty()) this.#shadows.push(new ContactShadow(piece, dark));
    }
    this.scene.add(...this.#stageSet, ...this.#shadows.map((shadow) => shadow.mesh));
    // While time stands still no other state may come.
    if (this.#state) this.take(this.#state, performance.now());
    this.invalidate();
  }

  /** Takes a state as it came. */
  take(state: State, nowMs: number): void {
    this.#state = state;
    if (state.vehicle && typeof state.time === "number") {
      const bodies = new Map<string, Pose>(Object.entries(state.objects));
      bodies.set(CAR, state.vehicle);
      this.playback.push({ time: state.time, paused: state.paused, bodies }, nowMs);
    }
    if (this.#showLights(state)) this.invalidate();
  }

  /** Metres that a pixel measures at a place. */
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
    const seconds = Math.min(0.1, (nowMs - this.#lastMs) / 1000);
    this.#lastMs = nowMs;
    let again = false;
    // Timers and frames may have clocks that differ by a moment.
    const moved = this.#move(performance.now());
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

  /** Puts everything where it is now; whether anything moved. */
  #move(nowMs: number): boolean {
    const moment = this.playback.at(nowMs);
    if (!moment || !this.#world || !this.#car) return false;
    const seconds = moment.time - this.time;
    this.time = moment.time;
    let moved = false;
    for (const [name, piece] of this.#world.objects) {
      const pose = this.held.get(name) ?? poseAt(moment, name);
      if (pose) moved = place(piece.node, pose) || moved;
    }
    const pose = this.held.get(CAR) ?? poseAt(moment, CAR);
    if (pose) moved = place(this.#car.node, pose) || moved;
    const vehicle = this.#state?.vehicle;
    if (vehicle && this.#joints) {
      const rolls = Math.abs(vehicle.speed) > 1e-3 && seconds > 0 && seconds < 1;
      const key = `${vehicle.steering} ${vehicle.pan} ${vehicle.tilt}`;
      if (rolls || key !== this.#jointsKey) {
        this.#jointsKey = key;
        this.#joints.turn(vehicle.speed, vehicle.steering, rolls ? seconds : 0);
        this.#joints.look(vehicle.pan, vehicle.tilt);
        moved = true;
      }
    }
    return moved;
  }
  #jointsKey = "";

  #light({ surroundings: { ambient, sun } }: WorldModel, ground: THREE.Box2): void {
    const whole = (c: readonly number[], by: number) => new THREE.Color().setRGB(c[0] * by, c[1] * by, c[2] * by);
    // A surface takes in a π-th of what falls on it.
    this.#hemisphere.color = whole(ambient, 1);
    this.#hemisphere.groundColor = whole(ambient, 0.4);
    this.#hemisphere.intensity = Math.PI;
    this.#sun.color = whole(sun.colour, 1);
    this.#sun.intensity = Math.PI;
    const centre = ground.getCenter(new THREE.Vector2());
    const reach = Math.max(2, ground.getSize(new THREE.Vector2()).length() / 2);
    this.#sun.target.position.set(centre.x, centre.y, 0);
    this.#sun.position
      .set(...sun.direction)
      .normalize()
      .multiplyScalar(-2 * reach)
      .add(this.#sun.target.position);
    this.#sun.castShadow = this.quality.shadows;
    const { shadow } = this.#sun;
    shadow.mapSize.set(4096, 4096);
    shadow.intensity = 0.75;
    shadow.bias = -0.0004;
    shadow.normalBias = 0.004;
    shadow.radius = 3;
    Object.assign(shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1, far: 4 * reach });
    shadow.camera.updateProjectionMatrix();
  }

  /** Takes down what there is. */
  #strike(): void {
    this.outline.set(null);
    this.scene.remove(...this.#stageSet, ...this.#shadows.map((shadow) => shadow.mesh));
    for (const shadow of this.#shadows) shadow.dispose();
    for (const thing of this.#stageSet) dispose(thing);
    this.#stageSet = [];
    this.#shadows = [];
    this.#lights.clear();
    this.held.clear();
    this.playback.clear();
  }

  /** Whether the picture is as large as its place on the page: not for a moment after panels came or went. */
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
    // On a tall screen the width decides.
    this.camera.fov = width < height ? Math.min(68, FOV_DEG * Math.sqrt(height / width)) : FOV_DEG;
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }
}

/** Puts a node at a pose; whether that is another one. */
function place(node: THREE.Object3D, { x, y, z, q }: Pose): boolean {
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

/** A pose that stands upright. */
export function standing(x: number, y: number, z: number, yaw: number): Pose {
  return { x, y, z, roll: 0, pitch: 0, yaw, q: [0, 0, Math.sin(yaw / 2), Math.cos(yaw / 2)] };
}
