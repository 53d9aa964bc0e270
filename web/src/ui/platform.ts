/** Helpers for values that the browser and the operating system report. */

/** The message of a thrown value, which need not be an `Error`. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether the device has a touch screen. */
export function hasTouchScreen(): boolean {
  return navigator.maxTouchPoints > 0 || matchMedia("(any-pointer: coarse)").matches;
}

/** Whether the operating system is set to reduced motion. */
export function prefersReducedMotion(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
