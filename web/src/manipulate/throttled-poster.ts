const INTERVAL_MS = 50;

/**
 * Sends values that change quickly. For each path, at most one request is in progress. A body that
 * has to wait is sent after that request, and at least 50 ms after the start of that request. A new
 * body replaces a waiting body of the same path.
 */
export class ThrottledPoster {
  readonly #waiting = new Map<string, object>();
  readonly #busy = new Set<string>();

  constructor(
    readonly send: (path: string, body: object) => Promise<unknown>,
    readonly failed: (error: unknown) => void,
    readonly sleep: (ms: number) => Promise<void> = (ms) => new Promise((done) => setTimeout(done, ms)),
  ) {}

  /** Whether bodies of this path are being sent or are waiting. */
  isBusy(path: string): boolean {
    return this.#busy.has(path);
  }

  /**
   * Queues a body. If the path is busy, the returned promise resolves immediately. Otherwise the
   * promise resolves when no body of the path is queued any more. If a request fails, a body that
   * waits for it is dropped.
   */
  async post(path: string, body: object): Promise<void> {
    this.#waiting.set(path, body);
    if (this.#busy.has(path)) return;
    this.#busy.add(path);
    try {
      for (let next = this.#take(path); next; next = this.#take(path)) {
        const pause = this.sleep(INTERVAL_MS);
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
