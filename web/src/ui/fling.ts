/**
 * Drags by touch. Chromium starts a fling at the end of a fast drag, even if `touch-action` is
 * `none`. The fling moves nothing, but the next tap only stops the fling: the tapped button gets
 * pointer events but no `click`. Cancelling `touchmove` prevents the fling.
 */

/**
 * Prevents flings on an element. `isDrag` says whether the touch is a drag that the page handles.
 */
export function preventFling(element: HTMLElement, isDrag: () => boolean = () => true): void {
  element.addEventListener(
    "touchmove",
    (event) => {
      // While the browser scrolls, the event can't be cancelled.
      if (event.cancelable && isDrag()) event.preventDefault();
    },
    { passive: false },
  );
}
