/**
 * Requests the road and the findings of the shown document from the server's builder. At most one
 * request is in progress; after it, only the newest document is requested.
 */
import { messageOf } from "../ui/platform.ts";
import { Signal } from "../ui/signal.ts";
import type { Preview } from "./client.ts";
import { isEqual, type ProjectDocument } from "./document.ts";

/** Delay between a change and its request, so that several steps of a drag share one request. */
const DELAY_MS = 25;
/** Delay before a request is repeated if it got no response or the server failed. */
const RETRY_MS = 2000;
/** Status codes with which the server refuses a document. Other failures concern every document. */
const REFUSED: readonly number[] = [400, 413, 422];

export class Previewer {
  readonly preview = new Signal<Preview | null>(null);
  /** Why the server can't read the document; empty otherwise. */
  readonly problem = new Signal("");
  /** Why the server can't check any document, such as a lost connection; empty if it can. */
  readonly failure = new Signal("");
  /** The document of the current preview. */
  shown: ProjectDocument | null = null;
  #wanted: ProjectDocument | null = null;
  #isAsking = false;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(readonly ask: (document: ProjectDocument) => Promise<Preview>) {}

  /** Whether the server has answered the request for the newest document. */
  get isCurrent(): boolean {
    return !this.#isAsking && this.#timer === null && this.#wanted === null;
  }

  want(document: ProjectDocument, delayMs = DELAY_MS): void {
    this.#wanted = document;
    if (this.#isAsking || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#ask();
    }, delayMs);
  }

  async #ask(): Promise<void> {
    const document = this.#wanted;
    if (!document) return;
    this.#wanted = null;
    this.#isAsking = true;
    let delayMs = DELAY_MS;
    try {
      const preview = await this.ask(document);
      const before = this.preview.value;
      // The road depends only on the track. If the track is the same, the old road object is kept,
      // because the views draw a road again only if its object has changed.
      const hasOldRoad = before && this.shown && isEqual(this.shown.track, document.track);
      this.shown = document;
      this.preview.value = hasOldRoad ? { ...preview, road: before.road } : preview;
      this.problem.value = "";
      this.failure.value = "";
    } catch (error) {
      const status = (error as { status?: number }).status ?? 0;
      const isRefused = REFUSED.includes(status);
      this.problem.value = isRefused ? messageOf(error) : "";
      this.failure.value = isRefused ? "" : messageOf(error);
      if (status === 0 || status >= 500) {
        this.#wanted ??= document;
        delayMs = RETRY_MS;
      }
    } finally {
      this.#isAsking = false;
    }
    if (this.#wanted) this.want(this.#wanted, delayMs);
  }
}
