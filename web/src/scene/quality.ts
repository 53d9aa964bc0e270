/**
 * Chooses the rendering quality for this machine.
 *
 * Without a graphics card the browser renders on the CPU. The simulator may need the same CPU, so
 * the level is then low: no shadow maps, no antialiasing, no reflections, and cheap materials. At
 * every level the resolution is reduced while frames take too long, unless the URL sets the level.
 */

export const LEVELS = ["low", "medium", "high"] as const;
export type QualityLevel = (typeof LEVELS)[number];
/** The choice of the user. `auto` selects the level that fits the graphics card. */
export type QualityChoice = QualityLevel | "auto";

export interface Quality {
  level: QualityLevel;
  /** Whether materials must be cheap: at the low level, which is for rendering on the CPU. */
  software: boolean;
  /** Whether the URL of the page sets the quality. Then the resolution is constant. */
  fixed: boolean;
  shadows: boolean;
  /** Width and height of the shadow map, in pixels. */
  shadowMap: number;
  antialias: boolean;
  /** Whether glossy materials reflect their surroundings, and bright colours are tone-mapped. */
  reflections: boolean;
  /** Whether the surroundings of the field have many trees and spectators. */
  detailed: boolean;
  /** Upper limit of rendered pixels per CSS pixel, along one axis. */
  maxPixelRatio: number;
}

export const isQualityChoice = (value: unknown): value is QualityChoice =>
  value === "auto" || LEVELS.includes(value as QualityLevel);

/**
 * The quality for a choice of the user. The URL parameter `?quality=`, with a level as its value,
 * overrides the choice. For `auto`, the renderer name of a temporary WebGL context decides.
 */
export function detectQuality(choice: QualityChoice = "auto"): Quality {
  const wanted = new URLSearchParams(location.search).get("quality");
  if (isQualityChoice(wanted) && wanted !== "auto") return { ...qualityAt(wanted), fixed: true };
  if (choice !== "auto") return qualityAt(choice);
  return qualityOf(rendererName());
}

let knownRenderer: string | null = null;

/** The WebGL renderer name; empty if it is unknown. */
function rendererName(): string {
  if (knownRenderer !== null) return knownRenderer;
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl?.getExtension("WEBGL_debug_renderer_info");
  knownRenderer = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return knownRenderer;
}

const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Whether the browser renders on the CPU, regardless of the chosen quality. */
export const isSoftwareRenderer = (): boolean => SOFTWARE.test(rendererName());

/**
 * The quality for a WebGL renderer name. Graphics chips of phones and small laptops get the medium
 * level.
 */
export function qualityOf(renderer: string): Quality {
  if (SOFTWARE.test(renderer)) return qualityAt("low");
  return qualityAt(/mali|adreno|powervr|videocore|intel.*(hd|uhd)/i.test(renderer) ? "medium" : "high");
}

export function qualityAt(level: QualityLevel): Quality {
  const low = level === "low";
  const high = level === "high";
  return {
    level,
    software: low,
    fixed: false,
    shadows: !low,
    shadowMap: high ? 4096 : 2048,
    antialias: !low,
    reflections: !low,
    detailed: high,
    maxPixelRatio: low ? 1 : high ? 2 : 1.5,
  };
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
