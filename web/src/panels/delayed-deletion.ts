/**
 * Deletions of worlds that can be undone: a deletion is sent to the server only some seconds after
 * the user has requested it. When the page is closed or its panels are rebuilt, all waiting
 * deletions are sent immediately.
 */
import { API } from "../net/api.ts";
import { listen, onEnd } from "../ui/scope.ts";

/** Time in which a deletion can be undone. */
const UNDO_MS = 6000;

export class DelayedDeletions {
  /** The timer of each requested deletion; undefined after the deletion was sent. */
  readonly #waiting = new Map<string, number | undefined>();

  /**
   * `send` deletes a world on the server. `changed` is called after a deletion was requested,
   * undone, sent or answered.
   */
  constructor(
    readonly send: (name: string) => Promise<unknown>,
    readonly changed: () => void,
  ) {
    listen(window, "pagehide", () => this.#sendAll());
    onEnd(() => this.#sendAll());
  }

  /**
   * Whether the user has requested the deletion of a world, and the server has not answered yet.
   */
  has(name: string): boolean {
    return this.#waiting.has(name);
  }

  /** Whether the deletion of a world was requested and not sent yet. */
  canUndo(name: string): boolean {
    return this.#waiting.get(name) !== undefined;
  }

  add(name: string): void {
    if (this.has(name)) return;
    const timer = window.setTimeout(() => {
      // The name stays in the list until the server has answered. Otherwise a refreshed list would
      // show the world as if it were not being deleted.
      this.#waiting.set(name, undefined);
      void this.send(name).finally(() => {
        this.#waiting.delete(name);
        this.changed();
      });
      this.changed();
    }, UNDO_MS);
    this.#waiting.set(name, timer);
    this.changed();
  }

  /**
   * Undoes a requested deletion. Does nothing if the deletion was already sent, because the server
   * then deletes the world.
   */
  undo(name: string): void {
    if (!this.canUndo(name)) return;
    clearTimeout(this.#waiting.get(name));
    this.#waiting.delete(name);
    this.changed();
  }

  #sendAll(): void {
    for (const [name, timer] of this.#waiting) {
      clearTimeout(timer);
      void fetch(`${API}/worlds/${encodeURIComponent(name)}`, { method: "DELETE", keepalive: true }).catch(() => {});
    }
    this.#waiting.clear();
  }
}
