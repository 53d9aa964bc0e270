/** What floats over the selected thing: its name, and the handle that turns it. Both are elements, so keys reach them. */
import * as THREE from "three";
import type { App } from "../app.ts";
import type { Stage } from "../scene/stage.ts";
import { t } from "../strings.ts";
import { h, setAttribute, show, write } from "../ui/dom.ts";
import { degrees } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import type { Hands } from "./hands.ts";
import { onHeight } from "./pick.ts";

/** A circle on the ground, as thin far away as near by. */
const RING_VERTEX = /* glsl */ `
  varying vec2 at;
  void main() {
    at = position.xy;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }`;
const RING_FRAGMENT = /* glsl */ `
  uniform float width;
  varying vec2 at;
  void main() {
    float off = abs(length(at) - 1.0);
    float soft = max(fwidth(off), 1e-5);
    float a = 1.0 - smoothstep(width, width + soft, off);
    if (a < 0.01) discard;
    gl_FragColor = vec4(0.29, 0.72, 1.0, 0.95 * a);
  }`;
const RING_PX = 1.1;
const RING_M = 0.1;
const MIN_RING_PX = 54;
const STEP_RAD = Math.PI / 36;

export function tags(app: App, stage: Stage, hands: Hands, parent: HTMLElement): void {
  const name = h("div", { class: "tag", hidden: true, "data-testid": "tag" });
  const handle = h(
    "button",
    { type: "button", class: "rotate-handle", hidden: true, role: "slider", "data-testid": "rotate-handle", "aria-valuemin": -180, "aria-valuemax": 180 },
    icon("rotate"),
  );
  parent.append(name, handle);

  const width = { value: 0.02 };
  const ring = new THREE.Mesh(
    new THREE.PlaneGeometry(2.2, 2.2),
    new THREE.ShaderMaterial({ vertexShader: RING_VERTEX, fragmentShader: RING_FRAGMENT, uniforms: { width }, transparent: true, depthTest: false }),
  );
  ring.renderOrder = 80;
  ring.visible = false;
  stage.scene.add(ring);

  const at = new THREE.Vector3();
  const px = (point: THREE.Vector3) => {
    point.project(stage.camera);
    const { clientWidth: w, clientHeight: tall } = stage.canvas;
    return { x: ((point.x + 1) / 2) * w, y: ((1 - point.y) / 2) * tall, behind: Math.abs(point.z) > 1 };
  };

  stage.beforeDraw.push(() => {
    const selected = app.selected.value;
    const piece = selected ? stage.piece(selected) : null;
    const place = selected ? hands.placeOf(selected) : null;
    ring.visible = piece !== null;
    if (!selected || !piece || !place) {
      show(name, false);
      show(handle, false);
      return;
    }
    const size = piece.box.getSize(new THREE.Vector3());
    at.set(place.x, place.y, place.z + piece.box.max.z + 0.04);
    const top = px(at);
    at.set(place.x, place.y, 0.004);
    const radius = Math.max(Math.hypot(size.x, size.y) / 2 + RING_M, MIN_RING_PX * stage.metresPerPixel(at));
    ring.position.set(place.x, place.y, 0.004);
    ring.scale.setScalar(radius);
    width.value = (RING_PX * stage.metresPerPixel(ring.position)) / radius;
    at.set(place.x + radius * Math.cos(place.yaw), place.y + radius * Math.sin(place.yaw), 0.004);
    const knob = px(at);
    write(name, hands.label(selected));
    move(name, top.x, top.y);
    move(handle, knob.x, knob.y);
    show(name, !top.behind);
    show(handle, !knob.behind);
    setAttribute(handle, "aria-label", t.selection.rotate(hands.label(selected)));
    setAttribute(handle, "title", t.selection.rotate(hands.label(selected)));
    setAttribute(handle, "aria-valuenow", Math.round(degrees(place.yaw)));
  });

  let turning: ReturnType<Hands["turning"]> = null;
  let grip = 0;
  const yawAt = (event: PointerEvent): number | null => {
    const place = app.selected.value ? hands.placeOf(app.selected.value) : null;
    const ground = place && onHeight(hands.ray(event.clientX, event.clientY), 0.004);
    return place && ground ? Math.atan2(ground[1] - place.y, ground[0] - place.x) : null;
  };
  handle.addEventListener("pointerdown", (event) => {
    const selected = app.selected.value;
    if (event.button !== 0 || !selected) return;
    turning = hands.turning(selected);
    grip = (hands.placeOf(selected)?.yaw ?? 0) - (yawAt(event) ?? hands.placeOf(selected)?.yaw ?? 0);
    handle.setPointerCapture(event.pointerId);
    event.preventDefault();
    handle.focus({ preventScroll: true });
  });
  handle.addEventListener("pointermove", (event) => {
    const yaw = turning && yawAt(event);
    if (yaw !== null) turning?.turn(yaw + grip, event.shiftKey);
  });
  handle.addEventListener("pointerup", () => {
    turning?.done();
    turning = null;
  });
  handle.addEventListener("pointercancel", () => {
    turning?.cancel();
    turning = null;
  });
  handle.addEventListener("keydown", (event) => {
    const selected = app.selected.value;
    if (event.key === "Escape" && turning) {
      turning.cancel();
      turning = null;
      event.stopPropagation();
      return;
    }
    const by = { ArrowLeft: 1, ArrowUp: 1, ArrowRight: -1, ArrowDown: -1 }[event.key];
    const place = selected ? hands.placeOf(selected) : null;
    if (!by || !selected || !place) return;
    event.preventDefault();
    event.stopPropagation();
    void hands.put(selected, { yaw: place.yaw + by * (event.shiftKey ? STEP_RAD / 5 : STEP_RAD) });
  });
}

function move(element: HTMLElement, x: number, y: number): void {
  element.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
}
