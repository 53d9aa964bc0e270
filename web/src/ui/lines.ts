/** Boxes with lines of text: a log that grows, and the last lines of a program that has ended. */
import type { App } from "../app.ts";
import type { LogLine } from "../net/session.ts";
import { t } from "../strings.ts";
import { copy } from "./clipboard.ts";
import { fill, h, show, write } from "./dom.ts";
import { icon } from "./icons.ts";

/** A log that scrolls to new lines, unless the user has scrolled up. */
export function logBox(
  label: string,
  testid: string,
): { element: HTMLElement; show(all: readonly LogLine[], none: string): void } {
  const pre = h("pre", { class: "lines", tabindex: 0, role: "log", "aria-label": label, "data-testid": testid });
  let shown: readonly LogLine[] = [];
  return {
    element: h("details", { open: true, class: "lines-box" }, h("summary", {}, label), pre),
    show(all, none) {
      if (all === shown && pre.childElementCount > 0) return;
      const atEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 8;
      shown = all;
      if (all.length === 0) fill(pre, h("span", { class: "line-none" }, none));
      else fill(pre, ...all.map(({ text, from }) => h("span", { class: `line line-${from}` }, `${text}\n`)));
      if (atEnd) pre.scrollTop = pre.scrollHeight;
    },
  };
}

export interface ProgramEndBox {
  element: HTMLElement;
  /** Shows why the program failed (null if it did not), and its last lines. */
  show(failure: string | null, lines: readonly string[]): void;
}

/**
 * One sentence that says why a program failed, and its last lines with a button that copies them.
 * `opens` says whether the lines are expanded if the program failed.
 */
export function programEndBox(app: App, testid: string, opens = true): ProgramEndBox {
  const sentence = h("p", { class: "failure", "data-testid": `${testid}-failure` });
  const pre = h("pre", {
    class: "lines",
    tabindex: 0,
    role: "region",
    "aria-label": t.evaluation.lastLines,
    "data-testid": `${testid}-tail`,
  });
  const button = h(
    "button",
    { type: "button", class: "copy-lines", "data-testid": `${testid}-copy` },
    icon("copy"),
    t.evaluation.copyLines,
  );
  const details = h(
    "details",
    { class: "lines-box" },
    h("summary", {}, t.evaluation.lastLines),
    button,
    pre,
  );
  const element = h("div", { class: "program-end" }, sentence, details);
  let text = "";
  let wasFailed = false;
  button.addEventListener("click", () => void copy(app, text));
  return {
    element,
    show(failure, lines) {
      text = lines.join("\n");
      write(sentence, failure ?? "");
      show(sentence, failure !== null);
      write(pre, text || t.evaluation.noLastLines);
      pre.classList.toggle("line-none", text === "");
      show(button, text !== "");
      show(details, failure !== null || text !== "");
      show(element, failure !== null || text !== "");
      // The lines are expanded or collapsed only when a failure appears or disappears. Otherwise
      // each update would undo the choice of the user.
      if (opens && (failure !== null) !== wasFailed) details.open = failure !== null;
      wasFailed = failure !== null;
      pre.scrollTop = pre.scrollHeight;
    },
  };
}
