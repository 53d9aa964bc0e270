/**
 * Drags by touch. Chromium starts a fling at the end of a fast drag even if `touch-action` is `none`.
 * The fling moves nothing, but the next tap only stops it: the tapped button gets pointer events and
 * no `click`. A cancelled `touchmove` prevents the fling.
 */

/** Prevents flings on an element. `isDrag` tells whether the touch is a drag of the page. */
export function preventFling(element: HTMLElement, isDrag: () => boolean = () => true): void {
  element.addEventListener(
    "touchmove",
    (event) => {
      // While the browser scrolls, the event cannot be cancelled.
      if (event.cancelable && isDrag()) event.preventDefault();
    },
    { passive: false },
  );
}
