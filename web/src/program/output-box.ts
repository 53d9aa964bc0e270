/**
 * The output of the program. If a traceback names a place in the draft, the place is a button that
 * opens it.
 */
import type { LogLine } from "../net/session.ts";
import { t } from "../strings.ts";
import { fill, h } from "../ui/dom.ts";
import { placeInLine } from "./traceback.ts";

export interface OutputBox {
  element: HTMLElement;
  show(lines: readonly LogLine[]): void;
}

/** `pathsNow` returns the paths of the draft's files. */
export function outputBox(
  goTo: (path: string, line: number) => void,
  pathsNow: () => readonly string[],
): OutputBox {
  const pre = h("pre", {
    class: "lines",
    tabindex: 0,
    role: "log",
    "aria-label": t.program.output,
    "data-testid": "program-output",
  });
  let shown: readonly LogLine[] | null = null;
  let waiting: readonly LogLine[] | null = null;

  function draw(): void {
    const lines = waiting;
    waiting = null;
    if (lines === null || lines === shown) return;
    shown = lines;
    // The paths are read only now, because the draft can change while the frame is awaited.
    const paths = pathsNow();
    const isAtEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 8;
    if (lines.length === 0) fill(pre, h("span", { class: "line-none" }, t.program.noOutput));
    else fill(pre, ...lines.map((line) => lineElement(line, paths)));
    if (isAtEnd) pre.scrollTop = pre.scrollHeight;
  }

  function lineElement({ text, from }: LogLine, paths: readonly string[]): HTMLElement {
    const place = from === "note" ? null : placeInLine(text, paths);
    if (!place) return h("span", { class: `line line-${from}` }, `${text}\n`);
    const { path, line } = place;
    const link = h(
      "button",
      {
        type: "button",
        class: "line-place",
        title: t.program.goTo(path, line),
        "data-testid": "program-place",
        on: { click: () => goTo(path, line) },
      },
      text.slice(place.from, place.to),
    );
    return h("span", { class: `line line-${from}` }, text.slice(0, place.from), link, `${text.slice(place.to)}\n`);
  }

  return {
    element: pre,
    show(lines) {
      // The lines are drawn in the next frame, because a program can print many lines at once.
      // Otherwise each new line would redraw all lines.
      if (waiting === null) requestAnimationFrame(draw);
      waiting = lines;
    },
  };
}
