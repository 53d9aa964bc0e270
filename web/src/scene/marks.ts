/** Markers in the 3D view that are not part of the world: lidar points and trails of the car. */
import * as THREE from "three";
import type { LidarScan, Odometry } from "../wire/robot.ts";
import type { Pose } from "../wire/sim.ts";

/** Largest number of points of a trail. */
const MAX_TRAIL = 6000;
/** Smallest distance between two points of a trail. */
const STEP_M = 0.02;

/** Points of the last lidar scan, in the car's frame. `at` is the lidar's position on the car. */
export class LidarPoints {
  readonly points: THREE.Points;
  readonly #positions: Float32Array;

  /** `beams` is the number of beams of a scan. */
  constructor(
    readonly at: readonly number[],
    readonly beams: number,
  ) {
    this.#positions = new Float32Array(3 * beams);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.#positions, 3));
    geometry.setDrawRange(0, 0);
    const material = new THREE.PointsMaterial({ color: 0xff3d7f, size: 4.5, sizeAttenuation: false, depthTest: true });
    this.points = new THREE.Points(geometry, material);
    this.points.frustumCulled = false;
  }

  show(scan: LidarScan): void {
    let count = 0;
    for (const [key, range] of Object.entries(scan.ranges)) {
      if (range === null || count >= this.beams) continue;
      const angle = (Number(key) * Math.PI) / 180;
      this.#positions.set(
        [this.at[0] + range * Math.cos(angle), this.at[1] + range * Math.sin(angle), this.at[2]],
        3 * count,
      );
      count++;
    }
    const { geometry } = this.points;
    geometry.setDrawRange(0, count);
    geometry.attributes["position"].needsUpdate = true;
  }
}

/** A line to which points are appended. */
class Trail {
  readonly line: THREE.Line;
  readonly #positions = new Float32Array(3 * MAX_TRAIL);
  #count = 0;

  constructor(
    colour: number,
    readonly z: number,
  ) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.#positions, 3));
    this.line = new THREE.Line(
      geometry,
      new THREE.LineBasicMaterial({ color: colour, depthTest: false, transparent: true }),
    );
    this.line.frustumCulled = false;
    this.line.renderOrder = 60;
    this.clear();
  }

  clear(): void {
    this.#count = 0;
    this.line.geometry.setDrawRange(0, 0);
  }

  /** Appends a point. Returns false if the point is too close to the last point. */
  add(x: number, y: number): boolean {
    const last = 3 * (this.#count - 1);
    if (this.#count > 0 && Math.hypot(x - this.#positions[last], y - this.#positions[last + 1]) < STEP_M) return false;
    if (this.#count === MAX_TRAIL) {
      // Drop the older half.
      this.#positions.copyWithin(0, 3 * (MAX_TRAIL / 2));
      this.#count = MAX_TRAIL / 2;
    }
    this.#positions.set([x, y, this.z], 3 * this.#count++);
    this.line.geometry.setDrawRange(0, this.#count);
    this.line.geometry.attributes["position"].needsUpdate = true;
    return true;
  }
}

/** The true path of the car and the path estimated by odometry. Both start at the same point. */
export class Trails {
  readonly truth = new Trail(0xffffff, 0.012);
  readonly odometry = new Trail(0xffb020, 0.014);
  readonly group = new THREE.Group().add(this.truth.line, this.odometry.line);
  /** Pose of the odometry frame in the world, computed from the first reading. */
  #origin: { x: number; y: number; yaw: number } | null = null;
  /** Distance between estimated and true position, in metres. */
  drift = 0;

  clear(): void {
    this.#origin = null;
    this.drift = 0;
    this.truth.clear();
    this.odometry.clear();
  }

  /** Appends an odometry reading, and the true pose of the car at the time of that reading. */
  add(odom: Odometry, truth: Pose): void {
    const yaw = (odom.orientation.yaw * Math.PI) / 180;
    const { x, y } = odom.position;
    this.#origin ??= odometryOrigin(x, y, yaw, truth);
    const { yaw: turn } = this.#origin;
    const bx = this.#origin.x + x * Math.cos(turn) - y * Math.sin(turn);
    const by = this.#origin.y + x * Math.sin(turn) + y * Math.cos(turn);
    this.odometry.add(bx, by);
    this.truth.add(truth.x, truth.y);
    this.drift = Math.hypot(bx - truth.x, by - truth.y);
  }
}

/** Pose of the odometry frame in the world, chosen so that the reading equals the true pose. */
export function odometryOrigin(
  x: number,
  y: number,
  yaw: number,
  truth: Pick<Pose, "x" | "y" | "yaw">,
): { x: number; y: number; yaw: number } {
  const turn = truth.yaw - yaw;
  return {
    x: truth.x - (x * Math.cos(turn) - y * Math.sin(turn)),
    y: truth.y - (x * Math.sin(turn) + y * Math.cos(turn)),
    yaw: turn,
  };
}
