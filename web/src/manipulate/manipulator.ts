/**
 * Selecting, dragging and rotating objects, with undo. All changes go through the pose API.
 *
 * A dragged object is immediately drawn at the pointer, without waiting for the server. A short
 * time after the server has accepted the last pose, the object is drawn at the server's pose again.
 */
import * as THREE from "three";
import { type App, messageOf } from "../app.ts";
import { API, send } from "../net/api.ts";
import { CAR, wrap } from "../scene/playback.ts";
import { standing, type SceneView } from "../scene/scene-view.ts";
import { t } from "../strings.ts";
import type { Cameras } from "../view/cameras.ts";
import type { Pose } from "../wire/sim.ts";
import { History, type UprightPose } from "./history.ts";
import { hitDistance, pointAtHeight, pick, type OnScreen, type Ray, type Pickable, type Vec } from "./pick.ts";
import { ThrottledPoster } from "./throttled-poster.ts";

/**
 * If the pointer moves at most this far between press and release, the press is a click, not a
 * drag.
 */
const DRAG_PX = 4;
/** A click selects an object that is at most this far from the pointer, by pointer type. */
const PICK_TOLERANCE_PX = { mouse: 8, touch: 22, pen: 12 } as Readonly<Record<string, number>>;
/** An object can be dragged this far beyond the edge of the ground. */
const MARGIN_M = 1.5;
/** The pose API accepts coordinates up to this absolute value. */
const LIMIT_M = 100;
/**
 * After the server has accepted a pose that the user chose, the object is still drawn at that pose
 * for this time. Otherwise the object would jump back, because states that arrive in this time can
 * have an older pose.
 */
const RELEASE_DELAY_MS = 180;
/** With Shift a rotation snaps to multiples of this angle. */
const SNAP_RAD = Math.PI / 12;

interface Drag {
  name: string;
  /** Pointer id. */
  pointer: number;
  /** Z coordinate of the grabbed point, in metres. */
  height: number;
  /** Vector from the grabbed point to the origin of the object, in metres. */
  grabOffset: [number, number];
  /** Position on the page where the drag began, in pixels. */
  start: { x: number; y: number };
  before: UprightPose;
  /** Whether the pointer has moved by more than `DRAG_PX`. */
  moved: boolean;
}

export class Manipulator {
  readonly history = new History();
  readonly #poster: ThrottledPoster;
  readonly #releaseTimers = new Map<string, number>();
  #drag: Drag | null = null;
  #press: { x: number; y: number } | null = null;
  #bounds = new THREE.Box2();
  readonly #raycaster = new THREE.Raycaster();

  constructor(
    readonly app: App,
    readonly sceneView: SceneView,
  ) {
    this.#poster = new ThrottledPoster(send, (error) => app.toast(messageOf(error)));
    const { canvas } = sceneView;
    // Shortcuts work without focus on the canvas, so a click does not focus the canvas. A click
    // removes the focus from a text field, because the field would otherwise receive the keys.
    canvas.addEventListener("mousedown", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", () => (document.activeElement as HTMLElement | null)?.blur());
    // These listeners are registered before those of the camera controls, so that `#down` can
    // disable the controls for this event.
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", () => this.cancel());
    app.world.watch(() => {
      this.history.clear();
      if (app.selected.value && !this.#pickable(app.selected.value)) app.selected.value = null;
    });
    app.selected.watch((name) => {
      sceneView.outline.set(name ? sceneView.item(name) : null);
      sceneView.invalidate();
    });
  }

  /** The cameras of the 3D view. They must not move during a drag. */
  cameras: Cameras | null = null;

  /** Sets the ground of the world. The ground limits how far an object can be dragged. */
  setBounds(bounds: THREE.Box2): void {
    this.#bounds = bounds.clone().expandByScalar(MARGIN_M);
  }

  /** Names of everything that can be selected: the car, then objects in the order of the world. */
  get names(): string[] {
    return this.#pickables().map((pickable) => pickable.name);
  }

  /** Pose at which an object is drawn now; null if the 3D view does not have the object. */
  poseOf(name: string): UprightPose | null {
    const node = this.sceneView.item(name)?.node;
    if (!node) return null;
    const ahead = new THREE.Vector3(1, 0, 0).applyQuaternion(node.quaternion);
    const { x, y, z } = node.position;
    return { x, y, z, yaw: Math.atan2(ahead.y, ahead.x) };
  }

  /** Moves an object, as one step of the undo history. */
  async moveTo(name: string, pose: Partial<UprightPose>): Promise<void> {
    const before = this.poseOf(name);
    if (!before) return;
    const after = { ...before, ...pose, yaw: wrap(pose.yaw ?? before.yaw) };
    this.history.add({ name, before, after });
    await this.#sendPose(name, after);
  }

  /**
   * Starts a rotation. The caller calls `turn` for every change, then `done` or `cancel`. Returns
   * null if the 3D view does not have the object.
   */
  startTurn(name: string): { turn(yaw: number, snap: boolean): void; done(): void; cancel(): void } | null {
    const before = this.poseOf(name);
    if (!before) return null;
    let after = before;
    this.cameras?.hold();
    return {
      turn: (yaw, snap) => {
        after = { ...before, yaw: wrap(snap ? SNAP_RAD * Math.round(yaw / SNAP_RAD) : yaw) };
        void this.#sendPose(name, after);
      },
      done: () => {
        this.history.add({ name, before, after });
        this.cameras?.release();
      },
      cancel: () => {
        void this.#sendPose(name, before);
        this.cameras?.release();
      },
    };
  }

  /** Cancels a drag and moves its object back. Returns false if no object was being dragged. */
  cancel(): boolean {
    const drag = this.#drag;
    this.#drag = null;
    this.#press = null;
    if (drag) this.cameras?.release();
    if (!drag?.moved) return false;
    void this.#sendPose(drag.name, drag.before);
    return true;
  }

  async undo(): Promise<void> {
    const move = this.history.undo();
    if (!move) return this.app.toast(t.selection.nothing, "note");
    await this.#sendPose(move.name, move.before);
    this.app.toast(t.selection.undone(this.label(move.name)), "note");
  }

  async redo(): Promise<void> {
    const move = this.history.redo();
    if (move) await this.#sendPose(move.name, move.after);
  }

  /** Display name of an object or of the car. */
  label(name: string): string {
    return name === CAR ? t.selection.car : name;
  }

  /** The ray into the world through a position on the page. */
  ray(clientX: number, clientY: number): Ray {
    const box = this.sceneView.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((clientX - box.x) / box.width) * 2 - 1, 1 - ((clientY - box.y) / box.height) * 2);
    this.#raycaster.setFromCamera(at, this.sceneView.camera);
    const { origin, direction } = this.#raycaster.ray;
    return { from: origin.toArray() as Vec, along: direction.toArray() as Vec };
  }

  /** Position and size of an object on the canvas; null if it is missing or behind the camera. */
  onScreen(pickable: { name: string; centre: Vec; size: Vec }): OnScreen | null {
    const node = this.sceneView.item(pickable.name)?.node;
    if (!node) return null;
    const at = new THREE.Vector3(...pickable.centre).applyQuaternion(node.quaternion).add(node.position);
    const radius = Math.hypot(...pickable.size) / 3 / Math.max(1e-6, this.sceneView.metresPerPixel(at));
    at.project(this.sceneView.camera);
    if (Math.abs(at.z) > 1) return null;
    const { clientWidth, clientHeight } = this.sceneView.canvas;
    return { x: ((at.x + 1) / 2) * clientWidth, y: ((1 - at.y) / 2) * clientHeight, radius };
  }

  /** The car, movable objects and traffic lights. */
  #pickables(): Pickable[] {
    const catalogue = Object.entries(this.app.world.value?.objects ?? {});
    const names = catalogue.filter(([, entry]) => entry.movable || entry.type === "light").map(([name]) => name);
    return [CAR, ...names].map((name) => this.#pickable(name)).filter((pickable) => pickable !== null);
  }

  #pickable(name: string): Pickable | null {
    const item = this.sceneView.item(name);
    if (!item || item.box.isEmpty()) return null;
    const { position, quaternion } = item.node;
    return {
      name,
      pose: { x: position.x, y: position.y, z: position.z, q: quaternion.toArray() },
      centre: item.box.getCenter(new THREE.Vector3()).toArray() as Vec,
      size: item.box.getSize(new THREE.Vector3()).toArray() as Vec,
    };
  }

  #pickAt(event: PointerEvent): Pickable | null {
    const box = this.sceneView.canvas.getBoundingClientRect();
    const pointer = { x: event.clientX - box.x, y: event.clientY - box.y };
    const tolerance = PICK_TOLERANCE_PX[event.pointerType] ?? 8;
    return pick(
      this.ray(event.clientX, event.clientY),
      pointer,
      this.#pickables(),
      (pickable) => this.onScreen(pickable),
      tolerance,
    );
  }

  #down(event: PointerEvent): void {
    // Nothing can be moved in a replay.
    if (event.button !== 0 || !event.isPrimary || this.#drag || this.app.run.value) return;
    this.#press = { x: event.clientX, y: event.clientY };
    const pickable = this.#pickAt(event);
    if (!pickable) return;
    const before = this.poseOf(pickable.name);
    if (!before || !this.#isMovable(pickable.name)) {
      this.app.selected.value = pickable.name;
      return;
    }
    // The camera must be held before the selection opens a panel, because the panel changes the
    // default view.
    this.cameras?.hold();
    const ray = this.ray(event.clientX, event.clientY);
    const far = hitDistance(ray, pickable);
    const height = far === null ? before.z : ray.from[2] + far * ray.along[2];
    const ground = pointAtHeight(ray, height);
    const grabOffset: [number, number] = ground ? [before.x - ground[0], before.y - ground[1]] : [0, 0];
    this.#drag = {
      name: pickable.name,
      pointer: event.pointerId,
      height,
      grabOffset,
      start: { x: event.clientX, y: event.clientY },
      before,
      moved: false,
    };
    this.sceneView.canvas.setPointerCapture(event.pointerId);
    this.app.selected.value = pickable.name;
  }

  #isMovable(name: string): boolean {
    return name === CAR || (this.app.world.value?.objects[name]?.movable ?? false);
  }

  #move(event: PointerEvent): void {
    const drag = this.#drag;
    const { canvas } = this.sceneView;
    if (!drag) {
      if (event.buttons === 0 && event.pointerType === "mouse")
        canvas.style.cursor = !this.app.run.value && this.#pickAt(event) ? "grab" : "";
      return;
    }
    if (event.pointerId !== drag.pointer) return;
    drag.moved ||= Math.hypot(event.clientX - drag.start.x, event.clientY - drag.start.y) > DRAG_PX;
    if (!drag.moved) return;
    canvas.style.cursor = "grabbing";
    const ground = pointAtHeight(this.ray(event.clientX, event.clientY), drag.height);
    if (!ground) return;
    const { min, max } = this.#bounds;
    const within = (v: number, low: number, high: number) =>
      Math.min(Math.max(v, Math.max(low, -LIMIT_M)), Math.min(high, LIMIT_M));
    const x = within(ground[0] + drag.grabOffset[0], min.x, max.x);
    const y = within(ground[1] + drag.grabOffset[1], min.y, max.y);
    void this.#sendPose(drag.name, { ...drag.before, x, y });
  }

  #up(event: PointerEvent): void {
    const drag = this.#drag;
    if (drag && event.pointerId === drag.pointer) {
      this.#drag = null;
      this.sceneView.canvas.style.cursor = "";
      const after = this.poseOf(drag.name);
      if (drag.moved && after) {
        this.history.add({ name: drag.name, before: drag.before, after });
        // The pose is sent again, because the simulated object may have rolled away during the
        // drag.
        void this.#sendPose(drag.name, after);
      }
      this.cameras?.release();
    } else if (this.#press && event.isPrimary) {
      const far = Math.hypot(event.clientX - this.#press.x, event.clientY - this.#press.y);
      if (far <= DRAG_PX && !this.#pickAt(event)) this.app.selected.value = null;
    }
    this.#press = null;
  }

  /** Immediately draws an object at a pose and sends the pose to the server. */
  async #sendPose(name: string, { x, y, z, yaw }: UprightPose): Promise<void> {
    const { localPoses } = this.sceneView;
    const pose: Pose = standing(x, y, z, yaw);
    localPoses.set(name, pose);
    this.sceneView.invalidate();
    clearTimeout(this.#releaseTimers.get(name));
    const [path, body] =
      name === CAR
        ? [`${API}/pose`, { x, y, yaw }]
        : [`${API}/models/${encodeURIComponent(name)}/pose`, { x, y, z, yaw }];
    await this.#poster.post(path, body);
    if (this.#poster.isBusy(path)) return;
    clearTimeout(this.#releaseTimers.get(name));
    this.#releaseTimers.set(
      name,
      window.setTimeout(() => {
        if (localPoses.get(name) !== pose || this.#drag?.name === name) return;
        localPoses.delete(name);
        this.sceneView.invalidate();
      }, RELEASE_DELAY_MS),
    );
  }
}
