/** The joints of the car model: rolling wheels, Ackermann steering, and the camera. */
import type { CarModel } from "./load.ts";
import type { JointAngles } from "./run-poses.ts";

/** The dimensions from the profile that the joints need, in metres. */
export interface CarDimensions {
  wheelbase: number;
  track: number;
  wheel_radius: number;
}

/**
 * Steering angles of the left and the right front wheel. `steering` is the angle of an imaginary
 * wheel in the middle between them.
 */
export function ackermann(steering: number, { wheelbase, track }: CarDimensions): [number, number] {
  if (Math.abs(steering) < 1e-6) return [0, 0];
  const radius = wheelbase / Math.tan(steering);
  return [Math.atan(wheelbase / (radius - track / 2)), Math.atan(wheelbase / (radius + track / 2))];
}

/** Sets the joints of a car model to recorded angles. */
export function setJoints(model: Pick<CarModel, "wheels" | "pan" | "tilt">, angles: JointAngles): void {
  const front = [angles.steerLeft, angles.steerRight];
  model.wheels.forEach((wheel, i) => wheel.rotation.set(0, angles.wheels[i] ?? 0, front[i] ?? 0, "ZYX"));
  model.pan?.rotation.set(0, 0, angles.pan);
  model.tilt?.rotation.set(0, -angles.tilt, 0);
}

export class CarJoints {
  #spin = 0;

  constructor(
    readonly model: CarModel,
    readonly dimensions: CarDimensions,
  ) {}

  /** Rolls the wheels by the distance driven in `seconds`, and sets the steering angle. */
  advance(speed: number, steering: number, seconds: number): void {
    this.#spin = (this.#spin + (speed * seconds) / this.dimensions.wheel_radius) % (2 * Math.PI);
    const front = ackermann(steering, this.dimensions);
    this.model.wheels.forEach((wheel, i) => wheel.rotation.set(0, this.#spin, front[i] ?? 0, "ZYX"));
  }

  /** Sets pan and tilt of the camera, in radians. */
  setCamera(pan: number, tilt: number): void {
    this.model.pan?.rotation.set(0, 0, pan);
    this.model.tilt?.rotation.set(0, -tilt, 0);
  }
}
