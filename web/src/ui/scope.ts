/**
 * The lifetime of the page's panels.
 *
 * A change of the language, of a unit or of a keyboard shortcut rebuilds all panels. Everything
 * that the old panels have registered elsewhere must end then: listeners of signals, of the window
 * and of the document, timers, and 3D objects. While panels are being built there is a current
 * scope, and the functions below register with it.
 */

let current: (() => void)[] | null = null;

/**
 * Calls `build`. Returns its result, and a function that ends everything that `build` registered.
 */
export function scoped<T>(build: () => T): { result: T; end: () => void } {
  const outer = current;
  const ends: (() => void)[] = [];
  current = ends;
  try {
    return { result: build(), end: () => ends.splice(0).toReversed().forEach((end) => end()) };
  } finally {
    current = outer;
  }
}

/** Calls `end` when the current scope ends. Without a current scope it is never called. */
export function onEnd(end: () => void): void {
  current?.push(end);
}

type Events = WindowEventMap & DocumentEventMap;

/** Adds a listener to the window or the document until the current scope ends. */
export function listen<K extends keyof Events>(
  target: Window | Document,
  type: K,
  listener: (event: Events[K]) => void,
  options?: AddEventListenerOptions,
): void {
  target.addEventListener(type, listener as EventListener, options);
  onEnd(() => target.removeEventListener(type, listener as EventListener, options));
}

/** Calls `run` every `ms` milliseconds until the current scope ends. */
export function every(ms: number, run: () => void): void {
  const timer = setInterval(run, ms);
  onEnd(() => clearInterval(timer));
}

/** Adds an item to a list until the current scope ends. */
export function addTo<T>(list: T[], item: T): void {
  list.push(item);
  onEnd(() => {
    const at = list.indexOf(item);
    if (at >= 0) list.splice(at, 1);
  });
}
