/**
 * The tour: three steps that show what the page can do. It starts on the first visit, and from the
 * help dialog. The tour is not modal: the page can be used while it is open.
 */
import type { App } from "../app.ts";
import { t } from "../strings.ts";
import { iconButton } from "../ui/card.ts";
import { h, show, write } from "../ui/dom.ts";
import { persistedSignal } from "../ui/signal.ts";

/**
 * The elements that each step is about, as CSS selectors. A step about the whole view has an empty
 * selector.
 */
const TARGETS = [".views .segments", "", ".world-button, .flag, [data-testid=drive-button], [data-testid=program-button]"];
/**
 * URL parameters of pages that were opened for a purpose, for example to watch a replay. Such a
 * page does not start the tour.
 */
const BUSY_PARAMETERS = ["world", "replay", "result", "build"];

const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";

/**
 * Whether the page starts the tour. A browser that is controlled by a program, such as a test, gets
 * the tour only if the URL requests it (`/sim?tour`).
 */
export function wantsTour(search: string, wasSeen: boolean, isAutomated: boolean): boolean {
  const parameters = new URLSearchParams(search);
  if (parameters.has("tour")) return true;
  return !wasSeen && !isAutomated && !BUSY_PARAMETERS.some((name) => parameters.has(name));
}

export function tour(app: App): { element: HTMLElement; start(): void } {
  const seen = persistedSignal("tour.seen", false, isBoolean);
  const { steps } = t.tour;
  let step = 0;
  let focusedBefore: Element | null = null;

  const progress = h("p", { class: "hint", "data-testid": "tour-progress" });
  const title = h("h2", { id: "tour-title" });
  const text = h("p", { "data-testid": "tour-text" });
  const button = (label: string, kind: string, testid: string, click: () => void) =>
    h("button", { type: "button", class: kind, "data-testid": testid, on: { click } }, label);
  const back = button(t.tour.back, "plain", "tour-back", () => showStep(step - 1));
  const next = button(t.tour.next, "primary", "tour-next", () => (step + 1 < steps.length ? showStep(step + 1) : close()));
  const example = button(t.program.runExample, "plain wide", "tour-example", () => {
    close();
    app.runExample();
  });
  const element = h(
    "section",
    { class: "tour", role: "dialog", "aria-labelledby": title.id, "data-testid": "tour", hidden: true },
    h("header", { class: "tour-head" }, progress, iconButton("close", t.tour.skip, () => close(), "tour-close")),
    h("div", { class: "tour-body", "aria-live": "polite" }, title, text),
    example,
    h("div", { class: "row" }, back, h("span", { class: "spring" }), next),
  );
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });

  function showStep(now: number): void {
    step = now;
    write(progress, t.tour.progress(step + 1, steps.length));
    write(title, steps[step].title);
    write(text, steps[step].text);
    write(next, step + 1 < steps.length ? t.tour.next : t.tour.done);
    // A hidden button can't keep the focus, so the focus moves to the next button.
    if (step === 0 && document.activeElement === back) next.focus();
    show(back, step > 0);
    show(example, step + 1 === steps.length);
    mark(TARGETS[step]);
  }

  function mark(selector: string): void {
    for (const marked of document.querySelectorAll(".tour-target")) marked.classList.remove("tour-target");
    if (selector === "") return;
    for (const target of document.querySelectorAll(selector)) target.classList.add("tour-target");
  }

  function start(): void {
    if (element.hidden) focusedBefore = document.activeElement;
    show(element, true);
    showStep(0);
    next.focus();
  }

  function close(): void {
    const hadFocus = element.contains(document.activeElement);
    show(element, false);
    mark("");
    seen.value = true;
    if (hadFocus && focusedBefore instanceof HTMLElement) focusedBefore.focus();
  }

  if (wantsTour(location.search, seen.value, navigator.webdriver)) {
    const stop = app.world.watch((world) => {
      if (!world) return;
      // `watch` calls the listener once before it returns, so `stop` is not assigned yet.
      queueMicrotask(() => stop());
      start();
    });
  }
  return { element, start };
}
