/** Place and turn in axes whose z is up. */
export interface Pose {
  position: [number, number, number];
  /** x, y, z, w. */
  rotation: [number, number, number, number];
}

/** Where a thing stands: the middle of its lower side in its own frame, and its length and width. */
export interface Foot {
  foot: [number, number, number];
  size: [number, number];
}

/** Linear colours of a lamp. */
export interface Lamp {
  colour: [number, number, number];
  emissive: [number, number, number];
}

/** A picture to be drawn; `bench/src/bin/second-opinion` writes it. */
export interface View {
  name: string;
  world: string;
  /** Looks along its x. */
  camera: Pose;
  /** Radians. */
  vertical_fov: number;
  near: number;
  ground_z: number;
  objects: { name: string; pose: Pose; shadow: Foot | null }[];
  lights: { name: string; lamp_red: Lamp; lamp_green: Lamp }[];
  car: {
    pose: Pose;
    steering: [number, number];
    spin: [number, number, number, number];
    pan: number;
    tilt: number;
    shadow: Foot;
  };
}

/** All of them. */
export interface Views {
  width: number;
  height: number;
  views: View[];
}

/** What a picture holds: three bytes a pixel, and what is seen there. */
export interface Drawn {
  rgb: Uint8Array;
  labels: Uint16Array;
}

/** Both as text, on their way out of the browser. */
export interface Sent {
  rgb: string;
  labels: string;
}

declare global {
  interface Window {
    draw: (view: View, width: number, height: number) => Promise<Sent>;
  }
}
