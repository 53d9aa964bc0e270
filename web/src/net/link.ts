/**
 * The connection to the event stream, with its status.
 *
 * The browser resumes an interrupted stream itself, with the id of the last event. After an HTTP
 * error status the browser gives up. Then `Link` asks whether a token is missing, and retries with
 * a growing delay. `retryNow` skips the delay, for example when the network is back.
 */

import type { EvaluationEvent, RunEvent, State } from "../wire/sim.ts";

/** An event of the stream, with its parsed data. */
export type StreamEvent =
  | { name: "state"; data: State }
  | { name: "run"; data: RunEvent }
  | { name: "evaluation"; data: EvaluationEvent };

const NAMES = ["state", "run", "evaluation"] as const satisfies readonly StreamEvent["name"][];

export type LinkStatus = "connecting" | "live" | "lost" | "signed-out";

/** The part of `EventSource` that `Link` uses. Tests pass a fake with the same interface. */
export interface EventSourceLike {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: { data?: string }) => void): void;
  close(): void;
}

export interface LinkOptions {
  /** Opens a stream. */
  open(): EventSourceLike;
  /** Whether the server requires a token. `Link` asks this after the server refused the stream. */
  signedOut(): Promise<boolean>;
  onEvent(event: StreamEvent): void;
  onStatus(status: LinkStatus): void;
  setTimeout(run: () => void, ms: number): number;
  clearTimeout(timer: number): void;
}

/** The value of `EventSource.CLOSED`. Node.js, which runs the unit tests, does not define it. */
const CLOSED = 2;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 8000;

export class Link {
  #source: EventSourceLike | null = null;
  #timer = 0;
  #retryMs = FIRST_RETRY_MS;
  #status: LinkStatus = "connecting";

  constructor(readonly options: LinkOptions) {}

  /** Opens the stream. Does nothing if the stream is already open. */
  start(): void {
    if (this.#source) return;
    this.options.clearTimeout(this.#timer);
    const source = this.options.open();
    this.#source = source;
    const current = () => source === this.#source;
    source.addEventListener("open", () => {
      if (!current()) return;
      this.#retryMs = FIRST_RETRY_MS;
      this.#setStatus("live");
    });
    for (const name of NAMES) {
      source.addEventListener(name, ({ data }) => {
        if (!current() || data === undefined) return;
        let event: StreamEvent;
        try {
          event = { name, data: JSON.parse(data) } as StreamEvent;
        } catch {
          return; // A proxy has truncated this event. Ignore it.
        }
        this.options.onEvent(event);
      });
    }
    source.addEventListener("error", () => {
      if (!current()) return;
      this.#setStatus("lost");
      if (source.readyState === CLOSED) void this.#scheduleRetry();
    });
  }

  /** Closes the stream and cancels a pending retry. `start` opens the stream again. */
  stop(): void {
    this.options.clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  /** Reconnects immediately instead of waiting for the next retry. */
  retryNow(): void {
    if (this.#status === "live") return;
    this.stop();
    this.#retryMs = FIRST_RETRY_MS;
    this.start();
  }

  async #scheduleRetry(): Promise<void> {
    this.stop();
    const wait = this.#retryMs;
    this.#retryMs = Math.min(2 * wait, MAX_RETRY_MS);
    this.#timer = this.options.setTimeout(() => this.start(), wait);
    if (await this.options.signedOut()) {
      if (this.#source) return;
      this.stop();
      this.#setStatus("signed-out");
    }
  }

  #setStatus(status: LinkStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    this.options.onStatus(status);
  }
}
