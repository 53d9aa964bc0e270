/** A value that can be set and watched; setting an equal one tells nobody. */
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

  /** Calls now and on every change; the answer ends it. */
  watch(listener: (value: T, before: T | undefined) => void): () => void {
    this.#listeners.add(listener);
    listener(this.#value, undefined);
    return () => this.#listeners.delete(listener);
  }
}

/** A signal that is kept in this browser under a name. What is kept but does not fit is passed over. */
export function remembered<T>(name: string, fallback: T, fits: (value: unknown) => value is T): Signal<T> {
  const key = `chicane.${name}`;
  let first = fallback;
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
    if (fits(kept)) first = kept;
  } catch {
    // No storage, or not ours: the fallback it is.
  }
  const signal = new Signal(first);
  signal.watch((value, before) => {
    if (before === undefined) return;
    try {
      localStorage.setItem(key, JSON.stringify(value));
    } catch {
      // Not remembered, then.
    }
  });
  return signal;
}
