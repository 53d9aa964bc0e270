/**
 * Hands in the world: select, drag on the ground, turn, let go, undo. Everything goes through the pose API.
 *
 * What is held is drawn at once where the hand is; the server follows, and when it has agreed the thing is
 * drawn where the server says again.
 */
import * as THREE from "three";
import { type App, wordsOf } from "../app.ts";
import { API, send } from "../net/api.ts";
import { CAR, wrap } from "../scene/playback.ts";
import { standing, type Stage } from "../scene/stage.ts";
import { t } from "../strings.ts";
import type { Cameras } from "../view/cameras.ts";
import type { Pose } from "../wire/sim.ts";
import { History, type Place } from "./history.ts";
import { hit, onHeight, pick, type OnScreen, type Ray, type Target, type Vec } from "./pick.ts";
import { Poster } from "./poster.ts";

const DRAG_PX = 4;
const SLACK_PX = { mouse: 8, touch: 22, pen: 12 } as Readonly<Record<string, number>>;
/** How far beyond its ground things may be dragged. */
const MARGIN_M = 1.5;
const LIMIT_M = 100;
/** So long a thing stays in hand after the server agreed: the next frames are under way. */
const SETTLE_MS = 180;
const SNAP_RAD = Math.PI / 12;

interface Drag {
  name: string;
  pointer: number;
  /** Height of the place that was grabbed, and from there to the thing. */
  height: number;
  grip: [number, number];
  start: { x: number; y: number };
  before: Place;
  moved: boolean;
}

export class Hands {
  readonly history = new History();
  readonly #poster: Poster;
  readonly #settling = new Map<string, number>();
  #drag: Drag | null = null;
  #press: { x: number; y: number } | null = null;
  #bounds = new THREE.Box2();
  readonly #raycaster = new THREE.Raycaster();

  constructor(
    readonly app: App,
    readonly stage: Stage,
  ) {
    this.#poster = new Poster(send, (error) => app.toast(wordsOf(error)));
    const { canvas } = stage;
    // Keys are heard everywhere: the canvas need not have the focus, but a field that is typed in loses it.
    canvas.addEventListener("mousedown", (event) => event.preventDefault());
    canvas.addEventListener("pointerdown", () => (document.activeElement as HTMLElement | null)?.blur());
    // Before the camera's controls, which are told to keep out of it.
    canvas.addEventListener("pointerdown", (event) => this.#down(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#up(event));
    canvas.addEventListener("pointercancel", () => this.cancel());
    app.world.watch(() => {
      this.history.clear();
      if (app.selected.value && !this.#target(app.selected.value)) app.selected.value = null;
    });
    app.selected.watch((name) => {
      stage.outline.set(name ? stage.piece(name) : null);
      stage.invalidate();
    });
  }

  /** The camera's controls rest while something is dragged. */
  cameras: Cameras | null = null;

  setBounds(bounds: THREE.Box2): void {
    this.#bounds = bounds.clone().expandByScalar(MARGIN_M);
  }

  /** Names of what can be selected, in the order of the world. */
  get names(): string[] {
    return this.#targets().map((target) => target.name);
  }

  /** Where a thing is drawn now. */
  placeOf(name: string): Place | null {
    const node = this.stage.piece(name)?.node;
    if (!node) return null;
    const ahead = new THREE.Vector3(1, 0, 0).applyQuaternion(node.quaternion);
    const { x, y, z } = node.position;
    return { x, y, z, yaw: Math.atan2(ahead.y, ahead.x) };
  }

  /** Puts a thing somewhere, as one step of the history. */
  async put(name: string, place: Partial<Place>): Promise<void> {
    const before = this.placeOf(name);
    if (!before) return;
    const after = { ...before, ...place, yaw: wrap(place.yaw ?? before.yaw) };
    this.history.add({ name, before, after });
    await this.#place(name, after);
  }

  /** Starts to turn a thing; `turn` goes on, and `done` ends it. */
  turning(name: string): { turn(yaw: number, snap: boolean): void; done(): void; cancel(): void } | null {
    const before = this.placeOf(name);
    if (!before) return null;
    let after = before;
    return {
      turn: (yaw, snap) => {
        after = { ...before, yaw: wrap(snap ? SNAP_RAD * Math.round(yaw / SNAP_RAD) : yaw) };
        void this.#place(name, after);
      },
      done: () => this.history.add({ name, before, after }),
      cancel: () => void this.#place(name, before),
    };
  }

  /** Ends a drag; its thing is put back. Whether there was one. */
  cancel(): boolean {
    const drag = this.#drag;
    this.#drag = null;
    this.#press = null;
    if (this.cameras) this.cameras.controls.enabled = true;
    if (!drag?.moved) return false;
    void this.#place(drag.name, drag.before);
    return true;
  }

  async undo(): Promise<void> {
    const move = this.history.undo();
    if (!move) return this.app.toast(t.selection.nothing, "note");
    await this.#place(move.name, move.before);
    this.app.toast(t.selection.undone(this.label(move.name)), "note");
  }

  async redo(): Promise<void> {
    const move = this.history.redo();
    if (move) await this.#place(move.name, move.after);
  }

  /** The name for people. */
  label(name: string): string {
    return name === CAR ? t.selection.car : name;
  }

  /** From a place on the screen into the world. */
  ray(clientX: number, clientY: number): Ray {
    const box = this.stage.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((clientX - box.x) / box.width) * 2 - 1, 1 - ((clientY - box.y) / box.height) * 2);
    this.#raycaster.setFromCamera(at, this.stage.camera);
    const { origin, direction } = this.#raycaster.ray;
    return { from: origin.toArray() as Vec, along: direction.toArray() as Vec };
  }

  /** Where a thing is on the screen, from the canvas's corner. */
  onScreen(target: { name: string; centre: Vec; size: Vec }): OnScreen | null {
    const node = this.stage.piece(target.name)?.node;
    if (!node) return null;
    const at = new THREE.Vector3(...target.centre).applyQuaternion(node.quaternion).add(node.position);
    const radius = Math.hypot(...target.size) / 3 / Math.max(1e-6, this.stage.metresPerPixel(at));
    at.project(this.stage.camera);
    if (Math.abs(at.z) > 1) return null;
    const { clientWidth, clientHeight } = this.stage.canvas;
    return { x: ((at.x + 1) / 2) * clientWidth, y: ((1 - at.y) / 2) * clientHeight, radius };
  }

  /** What can be picked: what can be moved, lights, and the car. */
  #targets(): Target[] {
    const catalogue = Object.entries(this.app.world.value?.objects ?? {});
    const names = catalogue.filter(([, entry]) => entry.movable || entry.type === "light").map(([name]) => name);
    return [CAR, ...names].map((name) => this.#target(name)).filter((target) => target !== null);
  }

  #target(name: string): Target | null {
    const piece = this.stage.piece(name);
    if (!piece || piece.box.isEmpty()) return null;
    const { position, quaternion } = piece.node;
    return {
      name,
      pose: { x: position.x, y: position.y, z: position.z, q: quaternion.toArray() },
      centre: piece.box.getCenter(new THREE.Vector3()).toArray() as Vec,
      size: piece.box.getSize(new THREE.Vector3()).toArray() as Vec,
    };
  }

  #under(event: PointerEvent): Target | null {
    const box = this.stage.canvas.getBoundingClientRect();
    const pointer = { x: event.clientX - box.x, y: event.clientY - box.y };
    const slack = SLACK_PX[event.pointerType] ?? 8;
    return pick(
      this.ray(event.clientX, event.clientY),
      pointer,
      this.#targets(),
      (target) => this.onScreen(target),
      slack,
    );
  }

  #down(event: PointerEvent): void {
    if (event.button !== 0 || !event.isPrimary || this.#drag) return;
    this.#press = { x: event.clientX, y: event.clientY };
    const target = this.#under(event);
    if (!target) return;
    this.app.selected.value = target.name;
    const before = this.placeOf(target.name);
    if (!before || !this.#isMovable(target.name)) return;
    const ray = this.ray(event.clientX, event.clientY);
    const far = hit(ray, target);
    const height = far === null ? before.z : ray.from[2] + far * ray.along[2];
    const ground = onHeight(ray, height);
    const grip: [number, number] = ground ? [before.x - ground[0], before.y - ground[1]] : [0, 0];
    this.#drag = {
      name: target.name,
      pointer: event.pointerId,
      height,
      grip,
      start: { x: event.clientX, y: event.clientY },
      before,
      moved: false,
    };
    if (this.cameras) this.cameras.controls.enabled = false;
    this.stage.canvas.setPointerCapture(event.pointerId);
  }

  #isMovable(name: string): boolean {
    return name === CAR || (this.app.world.value?.objects[name]?.movable ?? false);
  }

  #move(event: PointerEvent): void {
    const drag = this.#drag;
    const { canvas } = this.stage;
    if (!drag) {
      if (event.buttons === 0 && event.pointerType === "mouse") canvas.style.cursor = this.#under(event) ? "grab" : "";
      return;
    }
    if (event.pointerId !== drag.pointer) return;
    drag.moved ||= Math.hypot(event.clientX - drag.start.x, event.clientY - drag.start.y) > DRAG_PX;
    if (!drag.moved) return;
    canvas.style.cursor = "grabbing";
    const ground = onHeight(this.ray(event.clientX, event.clientY), drag.height);
    if (!ground) return;
    const { min, max } = this.#bounds;
    const within = (v: number, low: number, high: number) =>
      Math.min(Math.max(v, Math.max(low, -LIMIT_M)), Math.min(high, LIMIT_M));
    const x = within(ground[0] + drag.grip[0], min.x, max.x);
    const y = within(ground[1] + drag.grip[1], min.y, max.y);
    void this.#place(drag.name, { ...drag.before, x, y });
  }

  #up(event: PointerEvent): void {
    const drag = this.#drag;
    if (drag && event.pointerId === drag.pointer) {
      this.#drag = null;
      if (this.cameras) this.cameras.controls.enabled = true;
      this.stage.canvas.style.cursor = "";
      const after = this.placeOf(drag.name);
      if (drag.moved && after) {
        this.history.add({ name: drag.name, before: drag.before, after });
        // Once more: what was let go of may have rolled on meanwhile.
        void this.#place(drag.name, after);
      }
    } else if (this.#press && event.isPrimary) {
      const far = Math.hypot(event.clientX - this.#press.x, event.clientY - this.#press.y);
      if (far <= DRAG_PX && !this.#under(event)) this.app.selected.value = null;
    }
    this.#press = null;
  }

  /** Shows a thing somewhere and tells the server. */
  async #place(name: string, { x, y, z, yaw }: Place): Promise<void> {
    const { held } = this.stage;
    const pose: Pose = standing(x, y, z, yaw);
    held.set(name, pose);
    this.stage.invalidate();
    clearTimeout(this.#settling.get(name));
    const [path, body] =
      name === CAR
        ? [`${API}/pose`, { x, y, yaw }]
        : [`${API}/models/${encodeURIComponent(name)}/pose`, { x, y, z, yaw }];
    await this.#poster.post(path, body);
    if (this.#poster.isBusy(path)) return;
    clearTimeout(this.#settling.get(name));
    this.#settling.set(
      name,
      window.setTimeout(() => {
        if (held.get(name) !== pose || this.#drag?.name === name) return;
        held.delete(name);
        this.stage.invalidate();
      }, SETTLE_MS),
    );
  }
}
