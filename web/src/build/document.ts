/**
 * The types of a project document, in the format of the server's builder. Lengths are in metres,
 * angles in radians. This module has no state.
 */

export type ObjectKind = "box" | "cylinder" | "sphere" | "cone" | "light";
export const OBJECT_KINDS: readonly ObjectKind[] = ["box", "cylinder", "sphere", "cone", "light"];

export interface Field {
  /** Size along x and y. */
  size: [number, number];
  ground?: Ground;
}

/** The floor. Its texture repeats every metre. */
export type Ground = "carpet" | "grass" | { picture: string };

export interface Fence {
  height?: number | null;
  colour?: string | null;
}

export interface TrackNode {
  x: number;
  y: number;
  /** Width of the road at this node; if missing, the width of the track. */
  width?: number | null;
}

export interface OuterLine {
  width?: number | null;
  colour?: string | null;
}

export interface CentreLine {
  width?: number | null;
  dash?: number | null;
  gap?: number | null;
  colour?: string | null;
}

export interface Track {
  closed?: boolean | null;
  width?: number | null;
  nodes: TrackNode[];
  direction?: "forward" | "backward" | null;
  /**
   * Distance along the centre line, in the direction of travel, from a node to the start line. The
   * node is the first one, or the last one if the track is open and its direction is backward.
   */
  start?: number | null;
  outer_line?: OuterLine | null;
  centre_line?: CentreLine | null;
  start_line?: boolean | null;
}

export interface Decal {
  picture: string;
  x: number;
  y: number;
  yaw?: number | null;
  width: number;
  height: number;
}

/**
 * An object. Each kind uses some of the optional fields; `OWN_FIELDS` in `commands.ts` lists them.
 */
export interface FieldObject {
  kind: ObjectKind;
  name: string;
  x: number;
  y: number;
  yaw?: number | null;
  size?: [number, number, number] | null;
  radius?: number | null;
  height?: number | null;
  base?: number | null;
  width?: number | null;
  tilt?: number | null;
  mass?: number | null;
  static?: boolean | null;
  colour?: string | null;
  /** A key is the name of a face, and its value is the file name of the picture on that face. */
  textures?: Record<string, string> | null;
  /** Objects with the same group are selected together. */
  group?: string | null;
}

/** The settings of an evaluation. */
export interface EvaluationConfig {
  description?: string;
  better?: "lower" | "higher";
  time_limit_s?: number;
  robot?: string;
  allow?: string[];
  vary?: Record<string, unknown>;
}

/** The evaluation of a project. */
export interface EvaluationDocument {
  config: EvaluationConfig;
  /** A file of the project, or a built-in template; missing if there is none yet. */
  script?: string | { template: string };
}

export interface ProjectDocument {
  version: 1;
  name: string;
  display_name?: string;
  field: Field;
  fence?: Fence | null;
  track: Track;
  decals?: Decal[] | null;
  objects?: FieldObject[] | null;
  evaluation?: EvaluationDocument;
}

/** The limits of the server for the lists of a document. */
export const MAX_NODES = 500;
export const MAX_OBJECTS = 1000;
export const MAX_DECALS = 200;
/** The largest absolute coordinate. */
export const MAX_COORDINATE = 200;

/** The values that the server uses for a missing field. */
export const DEFAULTS = {
  trackWidth: 0.7,
  outerLine: 0.03,
  fenceHeight: 0.25,
  fenceColour: "#29548c",
  centreLine: { width: 0.02, dash: 0.2, gap: 0.2 },
} as const;

/** The properties of a new object of each kind, which are the defaults of the server. */
export const NEW_OBJECT: Readonly<Record<ObjectKind, Omit<FieldObject, "name" | "x" | "y">>> = {
  box: { kind: "box", yaw: 0, size: [0.3, 0.2, 0.2], mass: 0.5, static: false },
  cylinder: { kind: "cylinder", yaw: 0, radius: 0.297 / (2 * Math.PI), height: 0.21, mass: 0.3, static: false },
  sphere: { kind: "sphere", yaw: 0, radius: 0.11, mass: 0.2, static: false },
  cone: { kind: "cone", yaw: 0, base: 0.135, height: 0.23, mass: 0.25, static: false },
  light: { kind: "light", yaw: 0, width: 0.18, tilt: Math.PI / 12 },
};

/** The faces of each kind that can have a picture. */
export const FACES: Readonly<Record<ObjectKind, readonly string[]>> = {
  box: ["front", "back", "left", "right", "top", "bottom"],
  cylinder: ["side", "top", "bottom"],
  sphere: ["surface"],
  cone: ["side"],
  light: [],
};

/** The colour of an object for which the document has no colour. */
export const KIND_COLOURS: Readonly<Record<ObjectKind, string>> = {
  box: "#c79a5b",
  cylinder: "#ece8d9",
  sphere: "#d8483c",
  cone: "#e85d1a",
  light: "#20242b",
};

export function isClosed(track: Track): boolean {
  return track.closed ?? true;
}

export function isBackward(track: Track): boolean {
  return track.direction === "backward";
}

/** The smallest number of nodes that the server accepts. */
export function leastNodes(closed: boolean): number {
  return closed ? 3 : 2;
}

export function objectsOf(document: ProjectDocument): FieldObject[] {
  return (document.objects ??= []);
}

export function decalsOf(document: ProjectDocument): Decal[] {
  return (document.decals ??= []);
}

/** Width of the road at a node. */
export function widthAt(track: Track, node: TrackNode): number {
  return node.width ?? track.width ?? DEFAULTS.trackWidth;
}

/** Size of an object along its own axes: x, y and height. */
export function sizeOf(object: FieldObject): [number, number, number] {
  const usual = NEW_OBJECT[object.kind];
  const value = (key: "radius" | "height" | "base" | "width" | "tilt") => object[key] ?? usual[key] ?? 0;
  switch (object.kind) {
    case "box":
      return object.size ?? (usual.size as [number, number, number]);
    case "cylinder":
      return [2 * value("radius"), 2 * value("radius"), value("height")];
    case "sphere":
      return [2 * value("radius"), 2 * value("radius"), 2 * value("radius")];
    case "cone":
      return [value("base"), value("base"), value("height")];
    case "light": {
      const tall = (value("width") * 16) / 9;
      return [Math.max(0.12, tall * Math.sin(value("tilt")) + 0.03), value("width"), 0.03 + tall * Math.cos(value("tilt"))];
    }
  }
}

/** Colour of an object in the views. */
export function colourOf(object: FieldObject): string {
  return object.colour ?? KIND_COLOURS[object.kind];
}

/** A deep copy of a document or of one of its parts. */
export function copyOf<T>(value: T): T {
  return structuredClone(value);
}

/** Whether two JSON values are equal. The order of the keys of an object does not matter. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [one, two] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(one).filter((key) => one[key] !== undefined);
  const others = Object.keys(two).filter((key) => two[key] !== undefined);
  return keys.length === others.length && keys.every((key) => isEqual(one[key], two[key]));
}

/** Rounds to a tenth of a millimetre, so that documents stay readable. */
export function round(value: number): number {
  return Math.round(value * 1e4) / 1e4 + 0;
}

/** The same angle in the range from −π to π, rounded to a millionth of a radian. */
export function roundAngle(value: number): number {
  const turned = Math.atan2(Math.sin(value), Math.cos(value));
  return Math.round(turned * 1e6) / 1e6 + 0;
}
