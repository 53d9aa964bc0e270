/** Ways to look at the scene: orbit, chase, from above. One pair of controls for all; modes differ in what follows what. */
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { CAR } from "../scene/playback.ts";
import type { Stage } from "../scene/stage.ts";

export type CameraMode = "orbit" | "chase" | "top";
export const MODES: readonly CameraMode[] = ["orbit", "chase", "top"];

/** Things are not higher than this, as a rule; one that is gets cut when the view comes near it. */
const HIGHEST_M = 0.5;
const FLIGHT_S = 0.45;
const CHASE = { back: 0.95, up: 0.5, ahead: 0.35 };

interface Shot {
  position: THREE.Vector3;
  target: THREE.Vector3;
}

interface Flight {
  from: Shot;
  to: Shot;
  /** Seconds under way. */
  since: number;
}

/** Looks at the whole of a ground from a direction: as near as can be, and in the middle of the picture. */
function fitted(camera: THREE.PerspectiveCamera, bounds: THREE.Box2, direction: THREE.Vector3): Shot {
  const { min, max } = bounds;
  const corners = [0, 0.25].flatMap((z) => [
    new THREE.Vector3(min.x, min.y, z),
    new THREE.Vector3(max.x, min.y, z),
    new THREE.Vector3(max.x, max.y, z),
    new THREE.Vector3(min.x, max.y, z),
  ]);
  const probe = camera.clone();
  const target = new THREE.Vector3((min.x + max.x) / 2, (min.y + max.y) / 2, 0);
  let far = max.distanceTo(min);
  for (let round = 0; round < 12; round++) {
    probe.position.copy(target).addScaledVector(direction, far);
    probe.lookAt(target);
    probe.updateMatrixWorld(true);
    const seen = new THREE.Box2();
    for (const corner of corners) {
      const at = corner.clone().project(probe);
      seen.expandByPoint(new THREE.Vector2(at.x, at.y));
    }
    const [size, centre] = [seen.getSize(new THREE.Vector2()), seen.getCenter(new THREE.Vector2())];
    const part = Math.max(size.x / 2 / 0.94, size.y / 2 / 0.9);
    // Moves along the ground by what the picture is off its middle.
    const metres = far * Math.tan((camera.fov * Math.PI) / 360);
    const right = new THREE.Vector3(1, 0, 0).applyQuaternion(probe.quaternion);
    const ahead = new THREE.Vector3(0, 0, 1).cross(right);
    target
      .addScaledVector(right, centre.x * metres * camera.aspect)
      .addScaledVector(ahead, (centre.y * metres) / direction.z);
    far *= part;
  }
  return { position: target.clone().addScaledVector(direction, far), target };
}

export class Cameras {
  readonly controls: OrbitControls;
  #mode: CameraMode;
  #flight: Flight | null = null;
  #bounds = new THREE.Box2(new THREE.Vector2(0, 0), new THREE.Vector2(5, 5));
  /** The car's heading as the chase follows it. */
  #heading: number | null = null;
  #followed = new THREE.Vector3();
  /** Someone turns the view at the moment. */
  #hands = false;
  #still = false;
  /** The view is as the mode starts. */
  #untouched = true;

  constructor(
    readonly stage: Stage,
    mode: CameraMode,
    readonly calm: () => boolean,
  ) {
    this.#mode = mode;
    this.controls = new OrbitControls(stage.camera, stage.canvas);
    Object.assign(this.controls, {
      enableDamping: true,
      dampingFactor: 0.14,
      zoomToCursor: true,
      minDistance: 0.35,
      maxDistance: 60,
      zoomSpeed: 1.2,
      rotateSpeed: 0.8,
    });
    this.controls.addEventListener("change", () => stage.invalidate());
    this.controls.addEventListener("start", () => {
      this.#flight = null;
      this.#hands = true;
      this.#untouched = false;
    });
    // Panels come and go: as long as nobody has chosen a view, all of the world stays in it.
    new ResizeObserver(() => {
      if (this.#untouched && this.#mode !== "chase") this.home(true);
    }).observe(stage.canvas);
    this.controls.addEventListener("end", () => {
      this.#hands = false;
    });
    this.#rules();
    stage.beforeDraw.push((seconds) => this.#step(seconds));
  }

  get mode(): CameraMode {
    return this.#mode;
  }

  /** Whether the view rests: nothing flies, nobody turns it, and nothing is to be followed. */
  get isStill(): boolean {
    return this.#still && this.stage.fits && this.#flight === null && !this.#hands;
  }

  set mode(mode: CameraMode) {
    this.#mode = mode;
    this.#rules();
    this.home();
  }

  /** Another world: looks at all of it. */
  setBounds(bounds: THREE.Box2): void {
    this.#bounds = bounds;
    this.#heading = null;
    this.home(true);
  }

  /** The whole of the mode's view again. */
  home(at_once = false): void {
    const { camera } = this.stage;
    const from: Shot = { position: camera.position.clone(), target: this.controls.target.clone() };
    const to = this.#shot();
    this.#untouched = true;
    this.#still = false;
    const still = at_once || this.calm();
    this.#flight = still ? null : { from, to, since: 0 };
    if (still) {
      camera.position.copy(to.position);
      this.controls.target.copy(to.target);
      this.controls.update();
    }
    this.stage.invalidate();
  }

  /** Turns by degrees, for keys. */
  nudge(left: number, up: number, nearer: number): void {
    const { camera } = this.stage;
    this.#untouched = false;
    const offset = camera.position.clone().sub(this.controls.target);
    const around = new THREE.Spherical().setFromVector3(new THREE.Vector3(offset.x, offset.z, -offset.y));
    around.theta -= left;
    around.phi = Math.min(1.5, Math.max(0.05, around.phi - up));
    around.radius = Math.min(60, Math.max(0.35, around.radius * nearer));
    const turned = new THREE.Vector3().setFromSpherical(around);
    camera.position.set(turned.x, -turned.z, turned.y).add(this.controls.target);
    this.controls.update();
    this.stage.invalidate();
  }

  /** The axis of the world that is nearest to where the view looks. */
  ahead(): [number, number] {
    const along = new THREE.Vector3(0, 1, 0).applyQuaternion(this.stage.camera.quaternion);
    const view = this.stage.camera.getWorldDirection(new THREE.Vector3());
    // Straight down it is the upper edge of the screen that is ahead.
    const { x, y } = Math.abs(view.z) > 0.95 ? along : view;
    return Math.abs(x) > Math.abs(y) ? [Math.sign(x), 0] : [0, Math.sign(y) || 1];
  }

  #rules(): void {
    const top = this.#mode === "top";
    this.controls.enableRotate = !top;
    this.controls.enablePan = this.#mode !== "chase";
    this.controls.maxPolarAngle = top ? 0 : 0.49 * Math.PI;
    this.controls.screenSpacePanning = top;
    this.controls.mouseButtons.LEFT = top ? THREE.MOUSE.PAN : THREE.MOUSE.ROTATE;
    this.controls.touches.ONE = top ? THREE.TOUCH.PAN : THREE.TOUCH.ROTATE;
  }

  /** Where the mode starts. */
  #shot(): Shot {
    const { camera } = this.stage;
    const size = this.#bounds.getSize(new THREE.Vector2());
    const centre = this.#bounds.getCenter(new THREE.Vector2());
    const middle = new THREE.Vector3(centre.x, centre.y, 0);
    const half = Math.tan((camera.fov * Math.PI) / 360);
    if (this.#mode === "chase") {
      const { position, heading } = this.#car();
      this.#heading = heading;
      this.#followed.copy(position);
      const ahead = new THREE.Vector3(Math.cos(heading), Math.sin(heading), 0);
      return {
        position: position
          .clone()
          .addScaledVector(ahead, -CHASE.back)
          .setZ(position.z + CHASE.up),
        target: position.clone().addScaledVector(ahead, CHASE.ahead),
      };
    }
    if (this.#mode === "top") {
      const far = 1.06 * Math.max(size.y / 2 / half, size.x / 2 / (half * camera.aspect));
      return { position: new THREE.Vector3(centre.x, centre.y - 0.001, far), target: middle };
    }
    const wide = camera.aspect >= 1;
    const up = wide ? 0.72 : 1;
    const shots = [
      [-0.26, -0.72],
      [-0.72, 0.2],
    ].map(([x, y]) => fitted(camera, this.#bounds, new THREE.Vector3(x, y, up).normalize()));
    const far = (shot: Shot) => shot.position.distanceTo(shot.target);
    // From the long side, or from the short one on a tall screen.
    return far(shots[1]) < 0.9 * far(shots[0]) ? shots[1] : shots[0];
  }

  #car(): { position: THREE.Vector3; heading: number } {
    const node = this.stage.piece(CAR)?.node;
    if (!node) return { position: new THREE.Vector3(), heading: 0 };
    const ahead = new THREE.Vector3(1, 0, 0).applyQuaternion(node.quaternion);
    return { position: node.position, heading: Math.atan2(ahead.y, ahead.x) };
  }

  /** Goes on by some seconds; whether it moves. */
  #step(seconds: number): boolean {
    const { camera } = this.stage;
    let moving = this.#flight !== null;
    if (this.#flight) {
      this.#fly(this.#flight, seconds);
    } else {
      if (this.#mode === "chase" && this.stage.piece(CAR)) moving = this.#chase(seconds);
      if (this.controls.update(seconds)) moving = true;
    }
    // Layers of the road lie half a millimetre apart, so depths must be fine: nothing is nearer than this.
    const near = Math.max(0.02, 0.5 * (camera.position.z - HIGHEST_M));
    if (Math.abs(near - camera.near) > 0.1 * near) {
      camera.near = near;
      camera.updateProjectionMatrix();
    }
    this.#still = !moving;
    return moving;
  }

  /** Goes along with the car and turns after it, except while someone looks round. */
  #chase(seconds: number): boolean {
    const { camera } = this.stage;
    const { position, heading } = this.#car();
    const step = position.clone().sub(this.#followed);
    if (step.length() > 1) {
      // It was put somewhere.
      this.home();
      return true;
    }
    this.#followed.copy(position);
    camera.position.add(step);
    this.controls.target.add(step);
    const before = this.#heading ?? heading;
    let turn = Math.atan2(Math.sin(heading - before), Math.cos(heading - before));
    turn *= 1 - Math.exp(-seconds / 0.22);
    this.#heading = before + turn;
    if (Math.abs(turn) > 1e-5 && !this.#hands) {
      const up = new THREE.Vector3(0, 0, 1);
      for (const point of [camera.position, this.controls.target])
        point.sub(position).applyAxisAngle(up, turn).add(position);
    }
    return step.length() > 1e-5 || Math.abs(turn) > 1e-5;
  }

  /** On the way from where the camera was to where the mode starts. */
  #fly(flight: Flight, seconds: number): void {
    const { camera } = this.stage;
    flight.since += seconds;
    const t = flight.since / FLIGHT_S;
    const to = t >= 1 ? this.#shot() : flight.to;
    const part = t >= 1 ? 1 : t * t * (3 - 2 * t);
    camera.position.lerpVectors(flight.from.position, to.position, part);
    this.controls.target.lerpVectors(flight.from.target, to.target, part);
    if (t >= 1) this.#flight = null;
    camera.lookAt(this.controls.target);
  }
}
