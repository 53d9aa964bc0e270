/**
 * Name, ring and rotate handle of the selected object. Name and handle are HTML elements, so that
 * the handle can have the keyboard focus.
 */
import * as THREE from "three";
import type { App } from "../app.ts";
import type { SceneView } from "../scene/scene-view.ts";
import { t } from "../strings.ts";
import { h, setAttribute, show, write } from "../ui/dom.ts";
import { degrees } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import { addTo, onEnd } from "../ui/scope.ts";
import type { Manipulator } from "./manipulator.ts";
import { pointAtHeight } from "./pick.ts";

/** The ring: a circle on the ground with a constant line width in pixels. */
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
/** Half of the ring's line width. */
const RING_PX = 1.1;
/** Distance between the ring and the object. */
const RING_M = 0.1;
/** Smallest radius of the ring, so that the handle does not cover the object. */
const MIN_RING_PX = 54;
/** Rotation per key press. */
const STEP_RAD = Math.PI / 36;

export function selectionOverlay(
  app: App,
  sceneView: SceneView,
  manipulator: Manipulator,
  parent: HTMLElement,
): void {
  const name = h("div", { class: "tag", hidden: true, "data-testid": "tag" });
  const handle = h(
    "button",
    {
      type: "button",
      class: "rotate-handle",
      hidden: true,
      role: "slider",
      "data-testid": "rotate-handle",
      "aria-valuemin": -180,
      "aria-valuemax": 180,
    },
    icon("rotate"),
  );
  parent.append(name, handle);

  const width = { value: 0.02 };
  const ring = new THREE.Mesh(
    new THREE.PlaneGeometry(2.2, 2.2),
    new THREE.ShaderMaterial({
      vertexShader: RING_VERTEX,
      fragmentShader: RING_FRAGMENT,
      uniforms: { width },
      transparent: true,
      depthTest: false,
    }),
  );
  ring.renderOrder = 80;
  ring.visible = false;
  sceneView.scene.add(ring);
  onEnd(() => {
    name.remove();
    handle.remove();
    ring.removeFromParent();
    ring.geometry.dispose();
    ring.material.dispose();
  });

  const at = new THREE.Vector3();
  const px = (point: THREE.Vector3) => {
    point.project(sceneView.camera);
    const { clientWidth: w, clientHeight: tall } = sceneView.canvas;
    return { x: ((point.x + 1) / 2) * w, y: ((1 - point.y) / 2) * tall, behind: Math.abs(point.z) > 1 };
  };

  addTo(sceneView.beforeDraw, () => {
    const selected = app.selected.value;
    const item = selected ? sceneView.item(selected) : null;
    const pose = selected ? manipulator.poseOf(selected) : null;
    ring.visible = item !== null;
    if (!selected || !item || !pose) {
      show(name, false);
      show(handle, false);
      return;
    }
    const size = item.box.getSize(new THREE.Vector3());
    at.set(pose.x, pose.y, pose.z + item.box.max.z + 0.04);
    const top = px(at);
    at.set(pose.x, pose.y, 0.004);
    const radius = Math.max(Math.hypot(size.x, size.y) / 2 + RING_M, MIN_RING_PX * sceneView.metresPerPixel(at));
    ring.position.set(pose.x, pose.y, 0.004);
    ring.scale.setScalar(radius);
    width.value = (RING_PX * sceneView.metresPerPixel(ring.position)) / radius;
    at.set(pose.x + radius * Math.cos(pose.yaw), pose.y + radius * Math.sin(pose.yaw), 0.004);
    const knob = px(at);
    write(name, manipulator.label(selected));
    move(name, top.x, top.y);
    move(handle, knob.x, knob.y);
    show(name, !top.behind);
    show(handle, !knob.behind);
    setAttribute(handle, "aria-label", t.selection.rotate(manipulator.label(selected)));
    setAttribute(handle, "title", t.selection.rotate(manipulator.label(selected)));
    setAttribute(handle, "aria-valuenow", Math.round(degrees(pose.yaw)));
  });

  let turning: ReturnType<Manipulator["startTurn"]> = null;
  let grabOffset = 0;
  const yawAt = (event: PointerEvent): number | null => {
    const pose = app.selected.value ? manipulator.poseOf(app.selected.value) : null;
    const ground = pose && pointAtHeight(manipulator.ray(event.clientX, event.clientY), 0.004);
    return pose && ground ? Math.atan2(ground[1] - pose.y, ground[0] - pose.x) : null;
  };
  handle.addEventListener("pointerdown", (event) => {
    const selected = app.selected.value;
    if (event.button !== 0 || !selected) return;
    turning = manipulator.startTurn(selected);
    grabOffset = (manipulator.poseOf(selected)?.yaw ?? 0) - (yawAt(event) ?? manipulator.poseOf(selected)?.yaw ?? 0);
    handle.setPointerCapture(event.pointerId);
    event.preventDefault();
    handle.focus({ preventScroll: true });
  });
  handle.addEventListener("pointermove", (event) => {
    const yaw = turning && yawAt(event);
    if (yaw !== null) turning?.turn(yaw + grabOffset, event.shiftKey);
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
    const pose = selected ? manipulator.poseOf(selected) : null;
    if (!by || !selected || !pose) return;
    event.preventDefault();
    event.stopPropagation();
    void manipulator.moveTo(selected, { yaw: pose.yaw + by * (event.shiftKey ? STEP_RAD / 5 : STEP_RAD) });
  });
}

function move(element: HTMLElement, x: number, y: number): void {
  element.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
}
