/** What the robot says about itself, on one connection, and only while someone looks. */
import type { States } from "../wire/robot.ts";

const RETRY_MS = 2000;

export class Readings {
  #source: EventSource | null = null;
  #path = "";
  #timer = 0;

  constructor(readonly onStates: (states: States) => void) {}

  /** Asks for these readings and no others; none ends it. */
  want(names: readonly string[]): void {
    const path = names.length > 0 ? `/states?include=${names.join(",")}&step=1&stream=true` : "";
    if (path === this.#path) return;
    this.#path = path;
    this.#open();
  }

  #open(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
    if (!this.#path) return;
    const source = new EventSource(this.#path);
    this.#source = source;
    const read = (event: MessageEvent<string>) => this.onStates(JSON.parse(event.data) as States);
    source.addEventListener("state", read);
    source.addEventListener("message", read);
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED || source !== this.#source) return;
      this.#timer = window.setTimeout(() => this.#open(), RETRY_MS);
    });
  }
}
