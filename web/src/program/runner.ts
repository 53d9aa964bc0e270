/** Starts and stops the program of the draft, and keeps track of which session is its run. */
import { type App, messageOf } from "../app.ts";
import { post } from "../net/api.ts";
import type { SessionView } from "../net/session.ts";
import { t } from "../strings.ts";
import { persistedSignal, Signal } from "../ui/signal.ts";
import type { RunRequest, Started, StartRequest } from "../wire/sim.ts";
import { commandOf, MAX_BYTES, sizeOf } from "./draft.ts";
import type { DraftStore } from "./draft-store.ts";
import { keepOwnSession, ownSession } from "./own-session.ts";

/** The state of the run. `others` means that a session which this tab did not start is active. */
export type RunStatus =
  | { kind: "idle" | "offline" | "starting" | "others" }
  | { kind: "running" | "ended"; view: SessionView; isJudged: boolean };

const isText = (value: unknown): value is string => typeof value === "string";
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";

/** The options for a judged run that the person has set in the form of the evaluation card. */
function judgedOptions(): StartRequest {
  const isRepeatable = persistedSignal("repeatable", true, isBoolean).value;
  const student = persistedSignal("student", "", isText).value;
  return { pace: isRepeatable ? "virtual" : "real", ...(student && { student }) };
}

export class Runner {
  readonly status = new Signal<RunStatus>({ kind: "idle" });
  /**
   * Why a start or a stop failed; null otherwise. The next start or a successful stop clears it.
   */
  readonly problem = new Signal<string | null>(null);
  #isStarting = false;
  /** Id of the session that this page has started, until its first event arrives. */
  #started: string | null = null;

  constructor(
    readonly app: App,
    readonly store: DraftStore,
  ) {
    const update = (): void => this.#update();
    app.session.watch(update);
    app.link.watch(update);
    app.state.watch((state, before) => {
      const now = state?.evaluation;
      if (now?.active !== before?.evaluation.active || now?.session !== before?.evaluation.session) update();
    });
  }

  /** Whether `run` would start the program. */
  get isReady(): boolean {
    return ["idle", "ended"].includes(this.status.value.kind);
  }

  #update(): void {
    this.status.value = this.#statusNow();
  }

  #statusNow(): RunStatus {
    const { app } = this;
    if (this.#isStarting) return { kind: "starting" };
    const own = ownSession();
    const view = own && app.session.value?.session.id === own.id ? app.session.value : null;
    if (view) this.#started = null;
    if (own && view?.active) return { kind: "running", view, isJudged: own.isJudged };
    if (app.link.value === "lost" || app.link.value === "signed-out") return { kind: "offline" };
    const current = app.state.value?.evaluation;
    if (current?.active && current.session !== own?.id) return { kind: "others" };
    // The response to the start can arrive before the first event of the session.
    if (own && !view && (this.#started === own.id || current?.active)) return { kind: "starting" };
    return own && view ? { kind: "ended", view, isJudged: own.isJudged } : { kind: "idle" };
  }

  /** Runs the draft as it is now. Does nothing if `isReady` is false. */
  async run(): Promise<void> {
    if (!this.isReady) return;
    this.store.flush();
    const draft = this.store.draft.value;
    const bytes = sizeOf(draft.files);
    this.problem.value =
      draft.files.length === 0
        ? t.program.noFiles
        : bytes > MAX_BYTES
          ? t.program.tooLarge(Math.ceil(bytes / 1024), MAX_BYTES / 1024)
          : null;
    if (this.problem.value !== null) return;
    const isJudged = this.app.judged;
    const files = Object.fromEntries(draft.files.map(({ path, text }) => [path, text]));
    const body: RunRequest = { command: commandOf(draft), files };
    this.#isStarting = true;
    this.#update();
    try {
      const { session } = isJudged
        ? await post<Started>("/evaluation/start", { ...body, ...judgedOptions() })
        : await post<Started>("/evaluation/run", body);
      this.#started = session.id;
      keepOwnSession({ id: session.id, isJudged, files });
    } catch (error) {
      this.problem.value = messageOf(error);
    }
    this.#isStarting = false;
    this.#update();
  }

  async stop(): Promise<void> {
    try {
      await post("/evaluation/stop");
      this.problem.value = null;
    } catch (error) {
      this.problem.value = messageOf(error);
    }
  }
}
