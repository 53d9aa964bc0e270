/**
 * The most used names of the Python package `chicane`, for the editor's completion. A test compares
 * them with the package.
 */
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";

/** The methods of each class with their arguments. Three dots stand for rarely used arguments. */
export const METHODS = {
  Robot: {
    drive: "speed, steering",
    stop: "",
    speed: "",
    set_speed: "value, duration=None",
    steering: "",
    set_steering: "value",
    camera: "*, width=None, height=None",
    camera_stream: "*, width=None, height=None",
    pan: "",
    set_pan: "value",
    tilt: "",
    set_tilt: "value",
    lidar: "*, step=None",
    lidar_stream: "*, step=None",
    imu: "",
    imu_stream: "",
    odom: "",
    odom_stream: "",
    battery: "",
    states: "include=(), *, step=None",
    states_stream: "include=(), *, step=None",
    play: "data=None, *, ...",
    info: "",
  },
  Sim: {
    state: "",
    step: "steps=None, *, duration=None, speed=None, steering=None, ...",
    observe: "steps=None, *, duration=None, speed=None, steering=None, ...",
    pose: "",
    vehicle: "",
    world: "",
    route: "",
    bounds: "",
    objects: "",
    lights: "",
    clock: "",
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;

export type ClassName = keyof typeof METHODS;

const isClass = (name: string): name is ClassName => Object.hasOwn(METHODS, name);

/**
 * The class of a variable, found by its assignment, such as `robot = Robot()` or `with Sim() as
 * sim`.
 */
function classOf(variable: string, text: string): ClassName | null {
  const assigned = new RegExp(`\\b${variable}\\s*=\\s*(?:chicane\\.)?(\\w+)\\(`).exec(text);
  const opened = new RegExp(`\\b(\\w+)\\([^()]*\\) as ${variable}\\b`).exec(text);
  const name = (assigned ?? opened)?.[1] ?? "";
  return isClass(name) ? name : null;
}

function methodsOf(name: ClassName): Completion[] {
  return Object.entries(METHODS[name]).map(([label, args]) => ({ label, type: "method", detail: `(${args})` }));
}

/** Completes the methods of a robot or a simulator, and the names of the package in its import. */
export function packageCompletions(context: CompletionContext): CompletionResult | null {
  const dotted = context.matchBefore(/(?<![.\w])[A-Za-z_]\w*\.\w*$/);
  if (dotted) {
    const dot = dotted.text.indexOf(".");
    const name = classOf(dotted.text.slice(0, dot), context.state.doc.toString());
    return name && { from: dotted.from + dot + 1, options: methodsOf(name), validFor: /^\w*$/ };
  }
  const imported = context.matchBefore(/\bfrom chicane import (?:\w+, )*\w*$/);
  const word = imported && /\w*$/.exec(imported.text);
  if (!imported || !word) return null;
  const options = Object.keys(METHODS).map((label) => ({ label, type: "class" }));
  return { from: imported.from + word.index, options, validFor: /^\w*$/ };
}
