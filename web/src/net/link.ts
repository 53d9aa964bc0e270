/**
 * The event stream: stays connected, and says when it is not.
 *
 * The browser resumes a broken stream by itself, with the id of the last event. It gives up after an error
 * status; then we ask why, and try again: slower and slower, at once when the network or the page is back.
 */

export type LinkStatus = "connecting" | "live" | "lost" | "signed-out";

/** The part of an `EventSource` that is used. */
export interface Source {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: { data?: string }) => void): void;
  close(): void;
}

export interface LinkOptions {
  /** Opens a stream. */
  open(): Source;
  /** Whether a token is asked for: asked when the server refuses the stream. */
  signedOut(): Promise<boolean>;
  /** Names of events that are handed on. */
  events: readonly string[];
  onEvent(name: string, data: unknown): void;
  onStatus(status: LinkStatus): void;
  setTimeout(run: () => void, ms: number): number;
  clearTimeout(timer: number): void;
}

const CLOSED = 2;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 8000;

export class Link {
  #source: Source | null = null;
  #timer = 0;
  #retryMs = FIRST_RETRY_MS;
  #status: LinkStatus = "connecting";

  constructor(readonly options: LinkOptions) {}

  /** Connects, unless it is connected. */
  start(): void {
    if (this.#source) return;
    this.options.clearTimeout(this.#timer);
    const source = this.options.open();
    this.#source = source;
    const current = () => source === this.#source;
    source.addEventListener("open", () => {
      if (!current()) return;
      this.#retryMs = FIRST_RETRY_MS;
      this.#tell("live");
    });
    for (const name of this.options.events) {
      source.addEventListener(name, ({ data }) => {
        if (!current() || data === undefined) return;
        let read: unknown;
        try {
          read = JSON.parse(data);
        } catch {
          return; // Torn by a proxy; the next one is whole.
        }
        this.options.onEvent(name, read);
      });
    }
    source.addEventListener("error", () => {
      if (!current()) return;
      this.#tell("lost");
      if (source.readyState === CLOSED) void this.#later();
    });
  }

  /** Lets go of the connection; `start` takes it up again. */
  stop(): void {
    this.options.clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  /** Does not wait any longer. */
  hurry(): void {
    if (this.#status === "live") return;
    this.stop();
    this.#retryMs = FIRST_RETRY_MS;
    this.start();
  }

  async #later(): Promise<void> {
    this.stop();
    const wait = this.#retryMs;
    this.#retryMs = Math.min(2 * wait, MAX_RETRY_MS);
    this.#timer = this.options.setTimeout(() => this.start(), wait);
    if (await this.options.signedOut()) {
      if (this.#source) return;
      this.stop();
      this.#tell("signed-out");
    }
  }

  #tell(status: LinkStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    this.options.onStatus(status);
  }
}
