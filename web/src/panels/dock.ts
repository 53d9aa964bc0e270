/** The bar at the bottom: pause, step, speed, reset, brightness, and buttons that open panels. */
import { type App, attempt, messageOf } from "../app.ts";
import { ThrottledPoster } from "../manipulate/throttled-poster.ts";
import { API, post, send } from "../net/api.ts";
import { keyed } from "../shortcuts.ts";
import { t } from "../strings.ts";
import { h, setAttribute, write } from "../ui/dom.ts";
import { icon, setIcon, type IconName } from "../ui/icons.ts";
import type { Signal } from "../ui/signal.ts";

/** Real-time factors to choose from; 0 means as fast as possible. */
const SPEEDS = [0.25, 0.5, 1, 2, 5, 10, 0];
/**
 * After an input the slider ignores the server's value for this time, because the server may not
 * have received the new value yet.
 */
const SYNC_DELAY_MS = 400;

export interface Dock {
  element: HTMLElement;
  pause(): void;
  step(): void;
  reset(): void;
}

export function dock(app: App): Dock {
  const pauseIcon = icon("pause");
  const pauseText = h("span", {}, t.dock.pause);
  const pause = () => void attempt(app, post("/clock", { paused: !app.state.value?.paused }));
  const step = () => void attempt(app, post("/step", { steps: 1 }));
  const reset = async () => {
    if (await attempt(app, post("/reset"))) app.toast(t.dock.resetDone, "note");
  };
  const pauseButton = h(
    "button",
    { type: "button", class: "primary pause", "data-testid": "pause", title: keyed(t.dock.pauseTitle, "pause"), on: { click: pause } },
    pauseIcon,
    pauseText,
  );
  const stepButton = button("step", t.dock.step, keyed(t.dock.stepTitle, "step"), "step", step);
  const resetButton = button("reset", t.dock.reset, keyed(t.dock.resetTitle, "reset"), "reset", () => void reset());
  const respawn = button(
    "respawn",
    t.dock.respawn,
    t.dock.respawnTitle,
    "respawn",
    () => void attempt(app, post("/respawn")),
  );

  const speed = h("select", {
    "data-testid": "speed",
    "aria-label": t.dock.speed,
    title: t.dock.speed,
    on: { change: () => void attempt(app, post("/clock", { speed: Number(speed.value) })) },
  });
  const option = (value: number) =>
    new Option(value === 0 ? t.dock.speedMax : t.dock.speedFactor(value), String(value));
  speed.append(...SPEEDS.map(option));

  const bright = brightness(app);

  app.state.watch((state) => {
    const paused = state?.paused ?? false;
    setIcon(pauseIcon, paused ? "play" : "pause");
    write(pauseText, paused ? t.dock.run : t.dock.pause);
    pauseButton.classList.toggle("is-paused", paused);
    for (const one of [pauseButton, stepButton, resetButton, respawn]) one.disabled = !state?.current;
    if (state?.evaluation.active) respawn.disabled = true;
  });
  app.speed.watch((value) => {
    if (![...speed.options].some((one) => Number(one.value) === value)) speed.append(option(value));
    speed.value = String(value);
  });

  const element = h(
    "footer",
    { class: "dock", "aria-label": t.dock.label },
    h("div", { class: "group" }, pauseButton, stepButton, h("span", { class: "select" }, speed)),
    h("div", { class: "group" }, resetButton, respawn),
    bright,
    h(
      "div",
      { class: "group tools" },
      toolButton("instruments", t.dock.instruments, keyed(t.dock.instrumentsTitle, "instruments"), "instruments-button", app.instruments),
      toolButton("code", t.program.button, keyed(t.program.buttonTitle, "program"), "program-button", app.programming),
      toolButton("drive", t.dock.drive, keyed(t.dock.driveTitle, "drive"), "drive-button", app.driving),
    ),
  );
  return { element, pause, step, reset: () => void reset() };
}

/** The brightness slider. The brightness applies to every viewer and to the robot's camera. */
function brightness(app: App): HTMLElement {
  const value = h("output", { class: "slider-value" }, "1.00");
  let lastInputMs = 0;
  const poster = new ThrottledPoster(send, (error) => app.toast(messageOf(error)));
  const input = h("input", {
    type: "range",
    min: 0.2,
    max: 2,
    step: 0.05,
    value: 1,
    "data-testid": "brightness",
    "aria-label": t.dock.brightness,
    on: {
      input: () => {
        lastInputMs = performance.now();
        paint(Number(input.value));
        void poster.post(`${API}/brightness`, { value: Number(input.value) });
      },
      dblclick: () => {
        input.value = "1";
        input.dispatchEvent(new Event("input"));
      },
    },
  });
  const paint = (now: number) => {
    write(value, now.toFixed(2));
    input.style.setProperty("--part", String((now - 0.2) / 1.8));
  };
  app.state.watch((state) => {
    if (!state || performance.now() - lastInputMs < SYNC_DELAY_MS) return;
    if (Number(input.value) !== state.brightness) input.value = String(state.brightness);
    paint(state.brightness);
  });
  return h("label", { class: "slider", title: t.dock.brightness }, icon("sun"), input, value);
}

function button(name: IconName, label: string, title: string, testid: string, click: () => void): HTMLButtonElement {
  return h(
    "button",
    { type: "button", class: "tool", title, "data-testid": testid, on: { click } },
    icon(name),
    h("span", {}, label),
  );
}

/** A button that toggles a signal. */
function toolButton(
  name: IconName,
  label: string,
  title: string,
  testid: string,
  on: Signal<boolean>,
): HTMLButtonElement {
  const element = button(name, label, title, testid, () => (on.value = !on.value));
  on.watch((value) => setAttribute(element, "aria-pressed", String(value)));
  return element;
}
