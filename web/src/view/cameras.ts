/** The camera modes of the 3D view: orbit, chase and top. All modes share one `OrbitControls`. */
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { CAR } from "../scene/playback.ts";
import type { SceneView } from "../scene/scene-view.ts";
import { cameraForArea, fitBounds, shiftCamera, shiftOf, type Area, type CameraPose } from "./framing.ts";

export type CameraMode = "orbit" | "chase" | "top";
export const MODES: readonly CameraMode[] = ["orbit", "chase", "top"];

/**
 * Most objects are lower than this. The camera's near plane is computed from this height, so a
 * higher object is clipped when the camera comes close.
 */
const HIGHEST_M = 0.5;
/** Duration of a transition to another view. */
const TRANSITION_S = 0.45;
/**
 * Distances of the chase camera in metres: behind the car, above it, and to the point ahead that it
 * looks at.
 */
const CHASE = { back: 0.95, up: 0.5, ahead: 0.35 };

/** An animated change from one camera pose to another. */
interface CameraTransition {
  from: CameraPose;
  to: CameraPose;
  /** Seconds since the start of the transition. */
  elapsed: number;
}

export class Cameras {
  readonly controls: OrbitControls;
  #mode: CameraMode;
  #transition: CameraTransition | null = null;
  #bounds = new THREE.Box2(new THREE.Vector2(0, 0), new THREE.Vector2(5, 5));
  /** Smoothed heading of the car, in radians. The chase camera follows this heading. */
  #heading: number | null = null;
  /** Position of the car at the last step of the chase camera. */
  #followed = new THREE.Vector3();
  /** Whether the user is moving the camera with mouse or touch. */
  #userMoving = false;
  #isStill = false;
  /**
   * Whether the view is still the default view: the user has not changed it since the last reset.
   */
  #isDefaultView = true;
  /** The free area and the canvas size that the view was last adapted to. */
  #seenArea = "";
  #seenCanvas = "";
  /** Whether an object is being dragged, so that the camera must not move. */
  #isHeld = false;
  /** Whether the default view should have changed while the camera was held. */
  #isOutdated = false;
  /** Displacement of the image on the canvas, in pixels. */
  readonly #shift = new THREE.Vector2();

  /** `freeArea` is an element over the part of the canvas in which the whole world is shown. */
  constructor(
    readonly sceneView: SceneView,
    readonly freeArea: HTMLElement,
    mode: CameraMode,
    readonly reducedMotion: () => boolean,
  ) {
    this.#mode = mode;
    this.controls = new OrbitControls(sceneView.camera, sceneView.canvas);
    Object.assign(this.controls, {
      enableDamping: true,
      dampingFactor: 0.14,
      zoomToCursor: true,
      minDistance: 0.35,
      maxDistance: 60,
      zoomSpeed: 1.2,
      rotateSpeed: 0.8,
    });
    this.controls.addEventListener("change", () => sceneView.invalidate());
    this.controls.addEventListener("start", () => {
      this.#transition = null;
      this.#userMoving = true;
      this.#isDefaultView = false;
    });
    const resized = new ResizeObserver(() => this.#adapt());
    resized.observe(sceneView.canvas);
    resized.observe(freeArea);
    this.controls.addEventListener("end", () => {
      this.#userMoving = false;
    });
    this.#configureControls();
    sceneView.beforeDraw.push((seconds) => this.#step(seconds));
  }

  get mode(): CameraMode {
    return this.#mode;
  }

  /** Whether the camera is at rest: no transition, no user input, and no moving car to follow. */
  get isStill(): boolean {
    const isAdapted = this.sceneView.fits && this.#seenArea === keyOf(this.#area());
    return this.#isStill && isAdapted && this.#transition === null && !this.#userMoving;
  }

  /**
   * Stops the camera until `release`, so that the point under the pointer changes only if the
   * pointer moves. Otherwise a dragged object would jump when a panel opens or when the camera
   * follows the dragged car.
   */
  hold(): void {
    this.#isHeld = true;
    this.controls.enabled = false;
    if (this.#transition) this.#isOutdated = true;
    this.#transition = null;
  }

  /**
   * Lets the camera move again. Returns to the default view if the chase camera has lost the car,
   * or if the shown default view is out of date.
   */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.controls.enabled = true;
    const { position, heading } = this.#carPose();
    const turned = Math.abs(Math.sin((heading - (this.#heading ?? heading)) / 2));
    const hasLostCar = this.#mode === "chase" && (position.distanceTo(this.#followed) > 1e-3 || turned > 1e-3);
    if (hasLostCar || (this.#isOutdated && this.#isDefaultView)) this.resetView();
    this.#isOutdated = false;
  }

  set mode(mode: CameraMode) {
    this.#mode = mode;
    this.#configureControls();
    this.resetView();
  }

  /** Sets the ground of a new world, and returns to the default view immediately. */
  setBounds(bounds: THREE.Box2): void {
    this.#bounds = bounds;
    this.#heading = null;
    this.resetView(true);
  }

  /** Returns to the default view of the mode. */
  resetView(immediately = false): void {
    const { camera } = this.sceneView;
    const from: CameraPose = {
      position: camera.position.clone(),
      target: this.controls.target.clone(),
      shift: this.#shift.clone(),
    };
    const to = this.#defaultPose();
    this.#isDefaultView = true;
    this.#isStill = false;
    const still = immediately || this.reducedMotion();
    this.#transition = still ? null : { from, to, elapsed: 0 };
    if (still) {
      camera.position.copy(to.position);
      this.controls.target.copy(to.target);
      this.#setShift(to.shift);
      this.controls.update();
    }
    this.sceneView.invalidate();
  }

  #area(): Area {
    const [canvas, free] = [this.sceneView.canvas, this.freeArea].map((element) => element.getBoundingClientRect());
    return { x: free.x - canvas.x, y: free.y - canvas.y, width: free.width, height: free.height };
  }

  /**
   * Adapts the view to a new size of the window or of the panels. If the user has not moved the
   * camera, the view becomes the default view for the new size.
   */
  #adapt(): void {
    const { clientWidth, clientHeight } = this.sceneView.canvas;
    const [canvas, area] = [`${clientWidth} ${clientHeight}`, keyOf(this.#area())];
    const isNewCanvas = canvas !== this.#seenCanvas;
    if (!isNewCanvas && area === this.#seenArea) return;
    this.#seenCanvas = canvas;
    this.#seenArea = area;
    if (this.#isHeld) this.#isOutdated = true;
    else if (this.#isDefaultView) this.resetView(isNewCanvas);
    else this.#setShift(this.#shift);
  }

  #setShift(shift: THREE.Vector2): void {
    this.#shift.copy(shift);
    shiftCamera(this.sceneView.camera, this.sceneView.canvas, shift);
    this.sceneView.invalidate();
  }

  /** Rotates the camera by angles in radians, and scales its distance. Used for keys. */
  orbitBy(left: number, up: number, distanceFactor: number): void {
    const { camera } = this.sceneView;
    this.#isDefaultView = false;
    const offset = camera.position.clone().sub(this.controls.target);
    const around = new THREE.Spherical().setFromVector3(new THREE.Vector3(offset.x, offset.z, -offset.y));
    around.theta -= left;
    around.phi = Math.min(1.5, Math.max(0.05, around.phi - up));
    around.radius = Math.min(60, Math.max(0.35, around.radius * distanceFactor));
    const turned = new THREE.Vector3().setFromSpherical(around);
    camera.position.set(turned.x, -turned.z, turned.y).add(this.controls.target);
    this.controls.update();
    this.sceneView.invalidate();
  }

  /** The axis of the world that is closest to the viewing direction, as a unit vector. */
  ahead(): [number, number] {
    const along = new THREE.Vector3(0, 1, 0).applyQuaternion(this.sceneView.camera.quaternion);
    const view = this.sceneView.camera.getWorldDirection(new THREE.Vector3());
    // If the camera looks straight down, use the direction of the upper edge of the screen.
    const { x, y } = Math.abs(view.z) > 0.95 ? along : view;
    return Math.abs(x) > Math.abs(y) ? [Math.sign(x), 0] : [0, Math.sign(y) || 1];
  }

  /** Enables the gestures of the mode. */
  #configureControls(): void {
    const top = this.#mode === "top";
    this.controls.enableRotate = !top;
    this.controls.enablePan = this.#mode !== "chase";
    this.controls.maxPolarAngle = top ? 0 : 0.49 * Math.PI;
    this.controls.screenSpacePanning = top;
    this.controls.mouseButtons.LEFT = top ? THREE.MOUSE.PAN : THREE.MOUSE.ROTATE;
    this.controls.touches.ONE = top ? THREE.TOUCH.PAN : THREE.TOUCH.ROTATE;
  }

  /** The default camera pose of the mode, with world or car in the middle of the free area. */
  #defaultPose(): CameraPose {
    const { canvas } = this.sceneView;
    const area = this.#area();
    const camera = cameraForArea(this.sceneView.camera, canvas, area);
    const shift = shiftOf(canvas, area);
    const size = this.#bounds.getSize(new THREE.Vector2());
    const centre = this.#bounds.getCenter(new THREE.Vector2());
    const middle = new THREE.Vector3(centre.x, centre.y, 0);
    const half = Math.tan((camera.fov * Math.PI) / 360);
    if (this.#mode === "chase") {
      const { position, heading } = this.#carPose();
      this.#heading = heading;
      this.#followed.copy(position);
      const ahead = new THREE.Vector3(Math.cos(heading), Math.sin(heading), 0);
      return {
        position: position
          .clone()
          .addScaledVector(ahead, -CHASE.back)
          .setZ(position.z + CHASE.up),
        target: position.clone().addScaledVector(ahead, CHASE.ahead),
        shift,
      };
    }
    if (this.#mode === "top") {
      const far = 1.06 * Math.max(size.y / 2 / half, size.x / 2 / (half * camera.aspect));
      return { position: new THREE.Vector3(centre.x, centre.y - 0.001, far), target: middle, shift };
    }
    const wide = camera.aspect >= 1;
    const up = wide ? 0.72 : 1;
    const candidates = [
      [-0.26, -0.72],
      [-0.72, 0.2],
    ].map(([x, y]) => fitBounds(camera, this.#bounds, new THREE.Vector3(x, y, up).normalize(), shift));
    const far = (pose: CameraPose) => pose.position.distanceTo(pose.target);
    // The second direction is used if it brings the camera at least 10 % closer.
    return far(candidates[1]) < 0.9 * far(candidates[0]) ? candidates[1] : candidates[0];
  }

  #carPose(): { position: THREE.Vector3; heading: number } {
    const node = this.sceneView.item(CAR)?.node;
    if (!node) return { position: new THREE.Vector3(), heading: 0 };
    const ahead = new THREE.Vector3(1, 0, 0).applyQuaternion(node.quaternion);
    return { position: node.position, heading: Math.atan2(ahead.y, ahead.x) };
  }

  /** Advances the camera by `seconds`. Returns whether the camera moves. */
  #step(seconds: number): boolean {
    const { camera } = this.sceneView;
    let moving = this.#transition !== null;
    if (this.#isHeld) {
      moving = false;
    } else if (this.#transition) {
      this.#advanceTransition(this.#transition, seconds);
    } else {
      if (this.#mode === "chase" && this.sceneView.item(CAR)) moving = this.#chase(seconds);
      if (this.controls.update(seconds)) moving = true;
    }
    // The near plane is halfway to the height of the highest objects. With a nearer plane, the depth
    // buffer could not separate layers of the road that are half a millimetre apart.
    const near = Math.max(0.02, 0.5 * (camera.position.z - HIGHEST_M));
    if (Math.abs(near - camera.near) > 0.1 * near) {
      camera.near = near;
      camera.updateProjectionMatrix();
    }
    this.#isStill = !moving;
    return moving;
  }

  /** Moves and turns the camera with the car. Does not turn it while the user rotates the view. */
  #chase(seconds: number): boolean {
    const { camera } = this.sceneView;
    const { position, heading } = this.#carPose();
    const step = position.clone().sub(this.#followed);
    if (step.length() > 1) {
      // The car was teleported. In a replay, where the user moves through the run, the camera
      // follows immediately.
      this.resetView(this.sceneView.replaying);
      return true;
    }
    this.#followed.copy(position);
    camera.position.add(step);
    this.controls.target.add(step);
    const before = this.#heading ?? heading;
    let turn = Math.atan2(Math.sin(heading - before), Math.cos(heading - before));
    turn *= 1 - Math.exp(-seconds / 0.22);
    this.#heading = before + turn;
    if (Math.abs(turn) > 1e-5 && !this.#userMoving) {
      const up = new THREE.Vector3(0, 0, 1);
      for (const point of [camera.position, this.controls.target])
        point.sub(position).applyAxisAngle(up, turn).add(position);
    }
    return step.length() > 1e-5 || Math.abs(turn) > 1e-5;
  }

  /** Advances a transition to the default view. */
  #advanceTransition(transition: CameraTransition, seconds: number): void {
    const { camera } = this.sceneView;
    transition.elapsed += seconds;
    const t = transition.elapsed / TRANSITION_S;
    const to = t >= 1 ? this.#defaultPose() : transition.to;
    const fraction = t >= 1 ? 1 : t * t * (3 - 2 * t);
    camera.position.lerpVectors(transition.from.position, to.position, fraction);
    this.controls.target.lerpVectors(transition.from.target, to.target, fraction);
    this.#setShift(new THREE.Vector2().lerpVectors(transition.from.shift, to.shift, fraction));
    if (t >= 1) this.#transition = null;
    camera.lookAt(this.controls.target);
  }
}

function keyOf({ x, y, width, height }: Area): string {
  return `${x} ${y} ${width} ${height}`;
}
