/** What the parts of the page share: the simulator as it is known here, and what people here have chosen. */
import { Signal, remembered } from "./ui/signal.ts";
import type { LinkStatus } from "./net/link.ts";
import type { SessionView } from "./net/session.ts";
import type { EvaluationDocument, State, Vehicle, World } from "./wire/sim.ts";
import { MODES, type CameraMode } from "./view/cameras.ts";

/** The config of an evaluation, as far as the page needs it. */
export interface EvaluationConfig {
  description?: string;
  better?: string;
  time_limit_s?: number;
  robot?: string;
  run_command?: string;
}

export interface Evaluation extends Omit<EvaluationDocument, "config"> {
  config: EvaluationConfig;
}

const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
const isMode = (value: unknown): value is CameraMode => MODES.includes(value as CameraMode);

export class App {
  readonly link = new Signal<LinkStatus>("connecting");
  readonly state = new Signal<State | null>(null);
  /** The world that is drawn; null until one is. */
  readonly world = new Signal<World | null>(null);
  readonly profile = new Signal<Vehicle | null>(null);
  readonly evaluation = new Signal<Evaluation | null>(null);
  readonly session = new Signal<SessionView | null>(null);
  /** Requested real-time factor. */
  readonly speed = new Signal(1);
  /** Milliseconds for a question and its answer. */
  readonly latencyMs = new Signal<number | null>(null);
  /** Name of what is selected, `CAR` for the car. */
  readonly selected = new Signal<string | null>(null);

  readonly camera = remembered<CameraMode>("camera", "orbit", isMode);
  readonly onboard = remembered("onboard", false, isBoolean);
  readonly instruments = remembered("instruments", false, isBoolean);
  readonly lidar = remembered("lidar", false, isBoolean);
  readonly trail = remembered("trail", false, isBoolean);
  readonly driving = new Signal(false);
  readonly sound = new Signal(false);
  /** The evaluation's card is open. */
  readonly evaluating = new Signal(false);

  /** Tells people what went wrong or well. */
  toast: (text: string, kind?: "error" | "note") => void = () => {};

  /** Whether runs of this world are judged for this robot: then there is a flag. */
  get judged(): boolean {
    const robot = this.evaluation.value?.config.robot;
    return robot !== undefined && robot === this.profile.value?.generation;
  }
}

/** Runs something that may fail, and says so if it does. */
export async function attempt<T>(app: App, work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    app.toast(wordsOf(error));
    return null;
  }
}

/** What an error says. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether people asked for little motion. */
export function isCalm(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
