import { onEnd } from "./scope.ts";

/** An observable value. Setting the identical value (`Object.is`) does not call the listeners. */
export class Signal<T> {
  #value: T;
  readonly #listeners = new Set<(value: T, before: T | undefined) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set value(value: T) {
    if (Object.is(value, this.#value)) return;
    const before = this.#value;
    this.#value = value;
    for (const listener of [...this.#listeners]) listener(value, before);
  }

  /**
   * Calls the listener now and on every change. The returned function and the end of the current
   * scope remove the listener.
   */
  watch(listener: (value: T, before: T | undefined) => void): () => void {
    this.#listeners.add(listener);
    listener(this.#value, undefined);
    const stop = () => void this.#listeners.delete(listener);
    onEnd(stop);
    return stop;
  }
}

/** A signal that is stored in `localStorage`. A stored value that `fits` rejects is ignored. */
export function persistedSignal<T>(name: string, fallback: T, fits: (value: unknown) => value is T): Signal<T> {
  const key = `chicane.${name}`;
  let first = fallback;
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
    if (fits(kept)) first = kept;
  } catch {
    // Storage is disabled or holds invalid JSON, so use the fallback.
  }
  const signal = new Signal(first);
  signal.watch((value, before) => {
    if (before === undefined) return;
    try {
      localStorage.setItem(key, JSON.stringify(value));
    } catch {
      // Storage is disabled or full. The value is then lost when the page is closed.
    }
  });
  return signal;
}
