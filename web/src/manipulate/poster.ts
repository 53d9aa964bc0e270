/**
 * Sends what changes quickly: one request at a time and at most 20 a second for each path; the newest body
 * takes the place of one that still waits.
 */
const EVERY_MS = 50;

export class Poster {
  readonly #waiting = new Map<string, object>();
  readonly #busy = new Set<string>();

  constructor(
    readonly send: (path: string, body: object) => Promise<unknown>,
    readonly failed: (error: unknown) => void,
    readonly sleep: (ms: number) => Promise<void> = (ms) => new Promise((done) => setTimeout(done, ms)),
  ) {}

  /** Whether something of this path is on its way. */
  isBusy(path: string): boolean {
    return this.#busy.has(path);
  }

  /** Sends a body when it is its turn; answers when nothing of this path is on its way any more. */
  async post(path: string, body: object): Promise<void> {
    this.#waiting.set(path, body);
    if (this.#busy.has(path)) return;
    this.#busy.add(path);
    try {
      for (let next = this.#take(path); next; next = this.#take(path)) {
        const pause = this.sleep(EVERY_MS);
        try {
          await this.send(path, next);
        } catch (error) {
          this.#waiting.delete(path);
          this.failed(error);
        }
        if (this.#waiting.has(path)) await pause;
      }
    } finally {
      this.#busy.delete(path);
    }
  }

  #take(path: string): object | undefined {
    const body = this.#waiting.get(path);
    this.#waiting.delete(path);
    return body;
  }
}
