/**
 * Converts the settings of an evaluation to the values of a form and back. This module has no DOM
 * elements.
 */
import { type EvaluationConfig, isEqual } from "./document.ts";

/** Groups of paths that a judged program may use in addition to the robot's paths. */
export const GROUPS = ["state", "step", "world"] as const;
export type Group = (typeof GROUPS)[number];

/** The states of the road. A seed chooses one of the enabled states. */
export const SURFACES = ["dry", "damp", "dusty", "wet"] as const;
export type Surface = (typeof SURFACES)[number];

/** A number that a seed chooses between two bounds. Both bounds must be from `low` to `high`. */
export interface RangeSpec {
  /** Path in the document `vary`, such as `start.along`. */
  path: string;
  low: number;
  high: number;
  /** The bounds that the form shows when the range is switched on. */
  usual: readonly [number, number];
}

/**
 * The ranges of the document `vary`, which says what a seed changes in the world. The simulator
 * checks the same limits.
 */
export const RANGES: readonly RangeSpec[] = [
  { path: "start.along", low: -10, high: 10, usual: [-0.2, 0] },
  { path: "start.across", low: -1, high: 1, usual: [-0.05, 0.05] },
  { path: "start.yaw", low: -3.15, high: 3.15, usual: [-0.08, 0.08] },
  { path: "objects.scatter", low: 0, high: 50, usual: [1, 4] },
  { path: "lights.phase", low: 0, high: 60, usual: [0, 3] },
  { path: "brightness", low: 0.2, high: 2, usual: [0.8, 1.2] },
  { path: "friction", low: 0.2, high: 2, usual: [0.9, 1.1] },
  { path: "mass", low: 0.5, high: 2, usual: [0.9, 1.1] },
  { path: "noise.lidar", low: 0, high: 10, usual: [1, 1.5] },
  { path: "noise.imu", low: 0, high: 10, usual: [1, 2] },
  { path: "noise.camera", low: 0, high: 10, usual: [1, 2] },
  { path: "latency", low: 0, high: 0.5, usual: [0, 0.03] },
];

/** The single numbers of the document `vary`; 0 changes nothing. */
export const NUMBERS: readonly { path: string; high: number; usual: number }[] = [
  { path: "objects.jitter", high: 1, usual: 0.05 },
  { path: "objects.turn", high: 3.15, usual: 0.5 },
];

/** The document `vary` by path. A missing path means that a seed changes nothing there. */
export interface VaryForm {
  ranges: Readonly<Record<string, readonly [number, number]>>;
  numbers: Readonly<Record<string, number>>;
  surface: readonly Surface[];
}

export interface ConfigForm {
  description: string;
  better: "lower" | "higher";
  time_limit_s: number;
  robot: string;
  /** Null means the default of the simulator. */
  allow: readonly Group[] | null;
  vary: VaryForm;
}

export const MIN_TIME_LIMIT_S = 1;
export const MAX_TIME_LIMIT_S = 3600;
export const MAX_DESCRIPTION = 2000;
export const MAX_ROBOT = 64;

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function valueAt(document: Json, path: string): unknown {
  return path.split(".").reduce<unknown>((part, key) => (isObject(part) ? part[key] : undefined), document);
}

function isRange(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every((bound) => typeof bound === "number");
}

function readVary(vary: unknown): VaryForm {
  const document = isObject(vary) ? vary : {};
  const ranges = RANGES.flatMap(({ path }) => {
    const value = valueAt(document, path);
    return isRange(value) ? [[path, value] as const] : [];
  });
  const numbers = NUMBERS.flatMap(({ path }) => {
    const value = valueAt(document, path);
    return typeof value === "number" && value > 0 ? [[path, value] as const] : [];
  });
  const surface = Array.isArray(document["surface"]) ? document["surface"] : [];
  return {
    ranges: Object.fromEntries(ranges),
    numbers: Object.fromEntries(numbers),
    surface: SURFACES.filter((name) => surface.includes(name)),
  };
}

/** The document `vary`; null if no seed changes anything. */
function writeVary(form: VaryForm): Record<string, unknown> | null {
  const out: Record<string, Record<string, unknown> | unknown> = {};
  const put = (path: string, value: unknown): void => {
    const [group, key] = path.split(".");
    if (key === undefined) out[group] = value;
    else out[group] = { ...(out[group] as object | undefined), [key]: value };
  };
  for (const { path } of RANGES) if (form.ranges[path]) put(path, [...form.ranges[path]]);
  for (const { path } of NUMBERS) if (form.numbers[path]) put(path, form.numbers[path]);
  if (form.surface.length > 0) put("surface", [...form.surface]);
  return Object.keys(out).length > 0 ? out : null;
}

/** Converts settings to the values of the form. A missing setting has the simulator's default. */
export function readConfig(config: EvaluationConfig): ConfigForm {
  const allow: unknown = config.allow;
  return {
    description: config.description ?? "",
    better: config.better ?? "lower",
    time_limit_s: config.time_limit_s ?? 180,
    robot: config.robot ?? "gen1",
    allow: Array.isArray(allow) ? GROUPS.filter((group) => allow.includes(group)) : null,
    vary: readVary(config.vary),
  };
}

/** Converts the values of the form back to settings. */
export function writeConfig(form: ConfigForm): EvaluationConfig {
  const { description, better, time_limit_s, robot, allow } = form;
  const vary = writeVary(form.vary);
  return {
    description,
    better,
    time_limit_s,
    robot,
    ...(allow && { allow: [...allow] }),
    ...(vary && { vary }),
  };
}

/**
 * Changes only the settings that differ from the form, so that changes of another editor are not
 * undone.
 */
export function putConfig(config: EvaluationConfig, form: ConfigForm): void {
  const before = readConfig(config);
  const written = writeConfig(form);
  for (const key of ["description", "better", "time_limit_s", "robot", "allow", "vary"] as const) {
    if (isEqual(before[key], form[key])) continue;
    if (written[key] === undefined) delete config[key];
    else Object.assign(config, { [key]: written[key] });
  }
}

/** What is wrong with a range; null if it is valid. */
export function rangeProblem(
  spec: RangeSpec,
  [least, most]: readonly [number, number],
): "limits" | "order" | "whole" | null {
  const isWithin = (value: number): boolean => value >= spec.low && value <= spec.high;
  if (!isWithin(least) || !isWithin(most)) return "limits";
  if (spec.path === "objects.scatter" && !(Number.isInteger(least) && Number.isInteger(most))) return "whole";
  return least > most ? "order" : null;
}
