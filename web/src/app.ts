/** The state that all parts of the page share: data from the simulator and the user's choices. */
import { Signal, persistedSignal } from "./ui/signal.ts";
import type { LinkStatus } from "./net/link.ts";
import type { SessionView } from "./net/session.ts";
import type { RunAddress } from "./replay/address.ts";
import type { Replay } from "./replay/replay.ts";
import type { EvaluationDocument, State, Vehicle, World } from "./wire/sim.ts";
import { MODES, type CameraMode } from "./view/cameras.ts";
import { messageOf, prefersReducedMotion } from "./ui/platform.ts";

export { messageOf, prefersReducedMotion };

/** The fields of an evaluation's config that the page uses. */
export interface EvaluationConfig {
  description?: string;
  better?: string;
  time_limit_s?: number;
  robot?: string;
  run_command?: string;
  /** Unit of the record, such as `s`. */
  unit?: string;
  /** What a seed changes in the world. */
  vary?: Record<string, unknown> | null;
}

export interface Evaluation extends Omit<EvaluationDocument, "config"> {
  config: EvaluationConfig;
}

const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
const isMode = (value: unknown): value is CameraMode => MODES.includes(value as CameraMode);

export class App {
  readonly link = new Signal<LinkStatus>("connecting");
  readonly state = new Signal<State | null>(null);
  /** The world that the 3D view shows; null until the first world is loaded. */
  readonly world = new Signal<World | null>(null);
  readonly profile = new Signal<Vehicle | null>(null);
  readonly evaluation = new Signal<Evaluation | null>(null);
  readonly session = new Signal<SessionView | null>(null);
  /** Requested real-time factor; 0 means as fast as possible. */
  readonly speed = new Signal(1);
  /** Round-trip time of a request, in milliseconds; null if the last request failed. */
  readonly latencyMs = new Signal<number | null>(null);
  /** Name of the selected object, or `CAR`; null if nothing is selected. */
  readonly selected = new Signal<string | null>(null);

  readonly camera = persistedSignal<CameraMode>("camera", "orbit", isMode);
  readonly onboard = persistedSignal("onboard", false, isBoolean);
  readonly instruments = persistedSignal("instruments", false, isBoolean);
  readonly lidar = persistedSignal("lidar", false, isBoolean);
  readonly trail = persistedSignal("trail", false, isBoolean);
  readonly driving = new Signal(false);
  readonly sound = new Signal(false);
  /** The run that the page shows; null while it shows the live simulation. */
  readonly run = new Signal<RunAddress | null>(null);
  /** The replay in the 3D view; null until its run is loaded. */
  readonly replay = new Signal<Replay | null>(null);
  /** Whether the evaluation card is open. */
  readonly evaluating = new Signal(false);

  /** Whether the program panel is open. */
  readonly programming = persistedSignal("programming", false, isBoolean);

  /** Opens the program panel and runs the example in it. `panels/program.ts` sets this function. */
  runExample: () => void = () => {};
  /** Shows a message for a few seconds. `panels/overlay.ts` sets this function. */
  toast: (text: string, kind?: "error" | "note") => void = () => {};

  /**
   * Whether the world has an evaluation for the simulated car. If not, the page has no Evaluate
   * button.
   */
  get judged(): boolean {
    const robot = this.evaluation.value?.config.robot;
    const car = this.profile.value;
    if (robot === undefined || car === null) return false;
    return robot === car.generation || car.aliases.includes(robot);
  }
}

/** Waits for `work` and returns its result. If `work` fails, shows the error and returns null. */
export async function attempt<T>(app: App, work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    app.toast(messageOf(error));
    return null;
  }
}
