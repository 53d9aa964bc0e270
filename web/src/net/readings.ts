/**
 * Receives readings of the robot's sensors over one event stream. The stream is open only while a
 * panel shows a reading.
 */
import type { States } from "../wire/robot.ts";

const RETRY_MS = 2000;

export class ReadingsStream {
  #source: EventSource | null = null;
  #path = "";
  #timer = 0;

  constructor(readonly onStates: (states: States) => void) {}

  /** Requests exactly these readings. An empty list closes the stream. */
  subscribe(names: readonly string[]): void {
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
