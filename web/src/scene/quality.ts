/**
 * How much is drawn, by what the machine can.
 *
 * Without a graphics card every pixel is paid for by the CPU that also simulates: then there are no shadow maps,
 * no antialiasing and cheap materials, and the picture has fewer pixels when frames take long.
 */

export interface Quality {
  /** The browser draws on the CPU. */
  software: boolean;
  /** Someone has decided: the picture keeps its pixels. */
  fixed: boolean;
  shadows: boolean;
  antialias: boolean;
  /** Pixels of the picture for a pixel of the page, at most. */
  maxPixelRatio: number;
}

/** Asks a context of its own, which is given back. `?quality=high` or `low` in the address decides instead. */
export function detect(): Quality {
  const wanted = new URLSearchParams(location.search).get("quality");
  if (wanted === "high" || wanted === "low") return { ...qualityOf(wanted === "low" ? "software" : ""), fixed: true };
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return qualityOf(name);
}

export function qualityOf(renderer: string): Quality {
  const software = /swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);
  return { software, fixed: false, shadows: !software, antialias: !software, maxPixelRatio: software ? 1 : 2 };
}

const SLOW_MS = 42;
const QUICK_MS = 19;
const MIN_SCALE = 0.5;

/** Fewer pixels while frames take long, more again when they don't. */
export class Scale {
  #scale: number;
  #mean = 25;
  #frames = 0;

  constructor(software: boolean) {
    this.#scale = software ? 0.8 : 1;
  }

  get value(): number {
    return this.#scale;
  }

  /** Takes the time from one drawn frame to the next; whether the scale is another one now. */
  frame(ms: number): boolean {
    if (ms > 400) return false; // It stood still.
    this.#mean += 0.12 * (ms - this.#mean);
    if (++this.#frames < 24) return false;
    const before = this.#scale;
    if (this.#mean > SLOW_MS) this.#scale = Math.max(MIN_SCALE, 0.8 * this.#scale);
    else if (this.#mean < QUICK_MS) this.#scale = Math.min(1, this.#scale / 0.8);
    if (this.#scale === before) return false;
    this.#frames = 0;
    this.#mean = 25;
    return true;
  }
}
