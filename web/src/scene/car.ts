/** The car's joints: wheels that turn with the way they go, steering as the linkage does it, the camera. */
import type { CarModel } from "./load.ts";

/** What of the profile the joints need. */
export interface Measures {
  wheelbase: number;
  track: number;
  wheel_radius: number;
}

/** Angles of the left and right front wheel for one of the virtual wheel between them. */
export function ackermann(steering: number, { wheelbase, track }: Measures): [number, number] {
  if (Math.abs(steering) < 1e-6) return [0, 0];
  const radius = wheelbase / Math.tan(steering);
  return [Math.atan(wheelbase / (radius - track / 2)), Math.atan(wheelbase / (radius + track / 2))];
}

export class CarJoints {
  #spin = 0;

  constructor(
    readonly model: CarModel,
    readonly measures: Measures,
  ) {}

  /** Goes on by so many simulated seconds. */
  turn(speed: number, steering: number, seconds: number): void {
    this.#spin = (this.#spin + (speed * seconds) / this.measures.wheel_radius) % (2 * Math.PI);
    const front = ackermann(steering, this.measures);
    this.model.wheels.forEach((wheel, i) => wheel.rotation.set(0, this.#spin, front[i] ?? 0, "ZYX"));
  }

  /** Turns the camera. */
  look(pan: number, tilt: number): void {
    this.model.pan?.rotation.set(0, 0, pan);
    this.model.tilt?.rotation.set(0, -tilt, 0);
  }
}
