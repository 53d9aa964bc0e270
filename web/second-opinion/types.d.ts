/** Position and rotation in z-up axes. */
export interface Pose {
  position: [number, number, number];
  /** Quaternion: x, y, z, w. */
  rotation: [number, number, number, number];
}

/**
 * The lower side of an object: its centre in the object's own frame, and its length and width, in
 * metres.
 */
export interface Footprint {
  foot: [number, number, number];
  size: [number, number];
}

/** Linear colours of a lamp. */
export interface Lamp {
  colour: [number, number, number];
  emissive: [number, number, number];
}

/** A view to draw. The program `bench/src/bin/second-opinion` writes it. */
export interface View {
  name: string;
  world: string;
  /** The camera looks along its +x axis. */
  camera: Pose;
  /** Vertical field of view, in radians. */
  vertical_fov: number;
  /** Distance from the camera to the near plane, in metres. */
  near: number;
  /** Height of the ground, in metres. The contact shadows lie on it. */
  ground_z: number;
  objects: { name: string; pose: Pose; shadow: Footprint | null }[];
  lights: { name: string; lamp_red: Lamp; lamp_green: Lamp }[];
  /** Pose of the car, and the angles of its wheels and of its camera mount, in radians. */
  car: {
    pose: Pose;
    steering: [number, number];
    spin: [number, number, number, number];
    pan: number;
    tilt: number;
    shadow: Footprint;
  };
}

/** The content of `views.json`. */
export interface Views {
  width: number;
  height: number;
  views: View[];
}

/** An image: three bytes per pixel, and the label of the object at each pixel. */
export interface RenderedImage {
  rgb: Uint8Array;
  labels: Uint16Array;
}

/** An image of three.js. */
export interface ReferenceImage extends RenderedImage {
  /**
   * 1 for a pixel where no sample shows the sky, otherwise 0. The sky is not compared, because the
   * page draws none.
   */
  whole: Uint8Array;
}

/** A `ReferenceImage` in base64, because `page.evaluate` returns JSON. */
export interface EncodedImage {
  rgb: string;
  labels: string;
  whole: string;
}

declare global {
  interface Window {
    draw: (view: View, width: number, height: number) => Promise<EncodedImage>;
  }
}
