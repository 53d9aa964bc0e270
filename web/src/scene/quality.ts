/**
 * Chooses the rendering quality for this machine.
 *
 * Without a graphics card the browser renders on the CPU. The simulator may need the same CPU, so
 * there are then no shadow maps and no antialiasing, and materials are cheaper. With or without a
 * graphics card, the resolution is reduced while frames take too long.
 */

export interface Quality {
  /** Whether the browser renders on the CPU. */
  software: boolean;
  /** Whether the address of the page sets the quality. Then the resolution is constant. */
  fixed: boolean;
  shadows: boolean;
  antialias: boolean;
  /** Upper limit of rendered pixels per CSS pixel, along one axis. */
  maxPixelRatio: number;
}

/**
 * Detects software rendering by the renderer name of a temporary WebGL context. The parameter
 * `?quality=high` or `?quality=low` in the address overrides the detection.
 */
export function detectQuality(): Quality {
  const wanted = new URLSearchParams(location.search).get("quality");
  if (wanted === "high" || wanted === "low") return { ...qualityOf(wanted === "low" ? "software" : ""), fixed: true };
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return qualityOf(name);
}

/** The quality for a WebGL renderer name. */
export function qualityOf(renderer: string): Quality {
  const software = /swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);
  return { software, fixed: false, shadows: !software, antialias: !software, maxPixelRatio: software ? 1 : 2 };
}

/** The resolution is reduced if the mean frame time is above this. */
const SLOW_MS = 42;
/** The resolution is raised if the mean frame time is below this. */
const FAST_MS = 19;
const MIN_SCALE = 0.5;

/** Adapts the resolution to the measured frame time. */
export class ResolutionScale {
  #scale: number;
  #mean = 25;
  #frames = 0;

  constructor(software: boolean) {
    this.#scale = software ? 0.8 : 1;
  }

  get value(): number {
    return this.#scale;
  }

  /** Adds the time between two drawn frames. Returns whether the scale has changed. */
  frame(ms: number): boolean {
    if (ms > 400) return false; // This was not a slow frame: nothing had to be drawn in between.
    this.#mean += 0.12 * (ms - this.#mean);
    if (++this.#frames < 24) return false;
    const before = this.#scale;
    if (this.#mean > SLOW_MS) this.#scale = Math.max(MIN_SCALE, 0.8 * this.#scale);
    else if (this.#mean < FAST_MS) this.#scale = Math.min(1, this.#scale / 0.8);
    if (this.#scale === before) return false;
    this.#frames = 0;
    this.#mean = 25;
    return true;
  }
}
