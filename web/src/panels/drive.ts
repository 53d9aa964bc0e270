/**
 * Manual driving with keyboard, gamepad or touch.
 *
 * Each input has a dead-man switch. The car stops when the keys or the finger are released, when no
 * shoulder button of the gamepad is held, and when the page loses the focus.
 */
import type { App } from "../app.ts";
import { DriveLink } from "../net/drive.ts";
import { t } from "../strings.ts";
import { card } from "../ui/card.ts";
import { h, isTyping, show, write } from "../ui/dom.ts";
import { speedText } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import { hasTouchScreen } from "../ui/platform.ts";
import { listen } from "../ui/scope.ts";
import { persistedSignal } from "../ui/signal.ts";
import type { CameraMode } from "../view/cameras.ts";

/** Interval between two commands. */
const SEND_MS = 50;
/**
 * Duration of a change of the steering from full left to full right, and of the speed from 0 to the
 * chosen maximum. Changes are smoothed, because a key is either pressed or not.
 */
const STEER_S = 0.22;
const SPEED_S = 0.35;
/** Smaller stick positions count as 0. */
const DEAD_ZONE = 0.12;
const KEYS: Readonly<Record<string, "ahead" | "back" | "left" | "right">> = {
  KeyW: "ahead",
  ArrowUp: "ahead",
  KeyS: "back",
  ArrowDown: "back",
  KeyA: "left",
  ArrowLeft: "left",
  KeyD: "right",
  ArrowRight: "right",
};
const isSpeed = (value: unknown): value is number => typeof value === "number" && value > 0 && value <= 10;

/** Input of the user. Both values are from −1 to 1; positive values mean forward and left. */
export interface DriveInput {
  speed: number;
  steering: number;
}

/** Input from the pressed keys; null if no key is pressed. */
export function inputFromKeys(held: ReadonlySet<string>): DriveInput | null {
  if (held.size === 0) return null;
  const pressed = (name: string) => (held.has(name) ? 1 : 0);
  return { speed: pressed("ahead") - pressed("back"), steering: pressed("left") - pressed("right") };
}

/** Input from a gamepad; null if no shoulder button is held. */
export function inputFromGamepad(pad: {
  axes: readonly number[];
  buttons: readonly { pressed: boolean; value: number }[];
}): DriveInput | null {
  if (!pad.buttons[4]?.pressed && !pad.buttons[5]?.pressed) return null;
  const axis = (i: number) => {
    const value = pad.axes[i] ?? 0;
    return Math.abs(value) < DEAD_ZONE ? 0 : value;
  };
  const triggers = (pad.buttons[7]?.value ?? 0) - (pad.buttons[6]?.value ?? 0);
  return { speed: triggers !== 0 ? triggers : 0 - axis(3), steering: 0 - axis(0) };
}

export function drive(app: App): { card: HTMLElement; pad: HTMLElement } {
  const link = new DriveLink();
  const held = new Set<string>();
  let touch: DriveInput | null = null;
  let moving = false;
  const current = { speed: 0, steering: 0 };
  const topSpeed = persistedSignal("drive.speed", 1, isSpeed);

  const { element, body } = card({
    icon: "drive",
    title: t.drive.title,
    close: t.drive.close,
    testid: "drive",
    onClose: () => (app.driving.value = false),
  });
  const padName = h("span", {});
  const padStatus = h("p", { class: "gamepad", role: "status", "data-testid": "gamepad" }, icon("gamepad"), padName);
  const limitValue = h("output", { class: "slider-value" });
  const limit = h("input", {
    type: "range",
    min: 0.2,
    max: 3,
    step: 0.1,
    "aria-label": t.drive.limit,
    "data-testid": "drive-limit",
    on: { input: () => (topSpeed.value = Number(limit.value)) },
  });
  topSpeed.watch((value) => {
    limit.value = String(value);
    limit.style.setProperty("--part", String((value - 0.2) / 2.8));
    write(limitValue, speedText(value, 1));
  });
  body.append(
    h("p", { class: "hint" }, t.drive.keys),
    padStatus,
    h("p", { class: "hint" }, t.drive.pad),
    h("label", { class: "slider wide" }, h("span", {}, t.drive.limit), limit, limitValue),
  );

  const knob = h("span", { class: "knob" });
  const pad = h(
    "div",
    { class: "drive-pad", role: "application", "aria-label": t.drive.stick, "data-testid": "drive-pad", hidden: true },
    knob,
  );
  const updatePad = (event: PointerEvent) => {
    const box = pad.getBoundingClientRect();
    const reach = box.width / 2;
    const part = (v: number) => Math.max(-1, Math.min(1, v / reach));
    const [x, y] = [part(event.clientX - box.x - reach), part(event.clientY - box.y - reach)];
    touch = { speed: -y, steering: -x };
    knob.style.transform = `translate(${(x * reach * 0.6).toFixed(0)}px, ${(y * reach * 0.6).toFixed(0)}px)`;
  };
  const releasePad = () => {
    touch = null;
    knob.style.transform = "";
  };
  pad.addEventListener("pointerdown", (event) => {
    pad.setPointerCapture(event.pointerId);
    updatePad(event);
  });
  pad.addEventListener("pointermove", (event) => touch && updatePad(event));
  pad.addEventListener("pointerup", releasePad);
  pad.addEventListener("pointercancel", releasePad);

  listen(
    window,
    "keydown",
    (event) => {
      const key = KEYS[event.code];
      if (!app.driving.value || !key || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      held.add(key);
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    { capture: true },
  );
  listen(window, "keyup", (event) => {
    const key = KEYS[event.code];
    if (key) held.delete(key);
  });
  const releaseAll = () => {
    if (moving) app.toast(t.drive.stopped, "note");
    held.clear();
    releasePad();
    send(null, true);
  };
  listen(window, "blur", releaseAll);
  listen(document, "visibilitychange", () => document.hidden && releaseAll());

  /** Sends a command. After the input has ended, sends speed 0 until the steering angle is 0. */
  function send(input: DriveInput | null, immediately = false): void {
    const limits = app.profile.value?.limits;
    if (!limits) return;
    const target = {
      speed: (input?.speed ?? 0) * Math.min(topSpeed.value, limits.speed),
      steering: (input?.steering ?? 0) * limits.steering,
    };
    const follow = (from: number, to: number, range: number, seconds: number) => {
      const step = immediately ? Number.POSITIVE_INFINITY : (range * SEND_MS) / 1000 / seconds;
      return Math.abs(to - from) <= step ? to : from + Math.sign(to - from) * step;
    };
    // Without input the speed becomes 0 immediately. All other changes are smoothed.
    current.speed = input ? follow(current.speed, target.speed, topSpeed.value, SPEED_S) : 0;
    current.steering = follow(current.steering, target.steering, 2 * limits.steering, STEER_S);
    if (input || moving) link.send(current.speed, current.steering);
    moving = input !== null || current.steering !== 0;
  }

  // The browser reports a gamepad only after one of its buttons was pressed.
  listen(window, "gamepadconnected", ({ gamepad }) => {
    if (!app.driving.value) app.toast(t.drive.padConnected(gamepad.id), "note");
  });

  // The on-screen stick is only for touch. With a mouse it would only cover the view.
  let hasTouch = hasTouchScreen();
  listen(window, "pointerdown", ({ pointerType }) => {
    if (pointerType !== "touch" || hasTouch) return;
    hasTouch = true;
    show(pad, app.driving.value);
  });

  let timer = 0;
  function tick(): void {
    const gamepad = navigator.getGamepads().find((one) => one?.connected);
    padStatus.dataset["connected"] = String(Boolean(gamepad));
    write(padName, gamepad ? t.drive.padOn(gamepad.id) : t.drive.padOff);
    send(inputFromKeys(held) ?? touch ?? (gamepad ? inputFromGamepad(gamepad) : null));
  }
  /** The camera mode before driving; null if it was the chase view. */
  let modeBefore: CameraMode | null = null;
  app.driving.watch((on, before) => {
    show(element, on);
    show(pad, on && hasTouch);
    if (before === undefined) return;
    clearInterval(timer);
    if (on) {
      modeBefore = app.camera.value === "chase" ? null : app.camera.value;
      app.camera.value = "chase";
      link.open();
      tick();
      timer = window.setInterval(tick, SEND_MS);
    } else {
      // Return to the earlier view, unless the user has chosen another one while driving.
      if (modeBefore && app.camera.value === "chase") app.camera.value = modeBefore;
      held.clear();
      link.close();
      current.speed = current.steering = 0;
      moving = false;
    }
  });
  return { card: element, pad };
}
