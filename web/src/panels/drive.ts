/**
 * Driving by hand: keys, a gamepad or a finger. A dead-man switch is part of each: keys and finger are held, the
 * gamepad needs a shoulder button held, and a page that loses its focus lets go.
 */
import type { App } from "../app.ts";
import { DriveLink } from "../net/drive.ts";
import { t } from "../strings.ts";
import { card } from "../ui/card.ts";
import { h, isTyping, show, write } from "../ui/dom.ts";
import { remembered } from "../ui/signal.ts";

const SEND_MS = 50;
/** Keys are all or nothing: the wheels follow them in about this many seconds. */
const STEER_S = 0.22;
const SPEED_S = 0.35;
const DEAD_ZONE = 0.12;
const KEYS: Readonly<Record<string, "ahead" | "back" | "left" | "right">> = {
  KeyW: "ahead", ArrowUp: "ahead", KeyS: "back", ArrowDown: "back",
  KeyA: "left", ArrowLeft: "left", KeyD: "right", ArrowRight: "right",
};
const isSpeed = (value: unknown): value is number => typeof value === "number" && value > 0 && value <= 10;

/** What hands ask for, −1 to 1 each; null when nobody holds anything. */
export interface Wish {
  speed: number;
  steering: number;
}

/** From keys that are held. */
export function wishOfKeys(held: ReadonlySet<string>): Wish | null {
  if (held.size === 0) return null;
  const one = (name: string) => (held.has(name) ? 1 : 0);
  return { speed: one("ahead") - one("back"), steering: one("left") - one("right") };
}

/** From a gamepad: nothing without a shoulder button. */
export function wishOfPad(pad: { axes: readonly number[]; buttons: readonly { pressed: boolean; value: number }[] }): Wish | null {
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
  let touch: Wish | null = null;
  let moving = false;
  const now = { speed: 0, steering: 0 };
  const topSpeed = remembered("drive.speed", 1, isSpeed);

  const { element, body } = card({
    icon: "drive",
    title: t.drive.title,
    close: t.drive.close,
    testid: "drive",
    onClose: () => (app.driving.value = false),
  });
  const padText = h("p", { class: "hint" }, t.drive.pad);
  const limitValue = h("output", { class: "slider-value" });
  const limit = h("input", { type: "range", min: 0.2, max: 3, step: 0.1, "aria-label": t.drive.limit, "data-testid": "drive-limit", on: { input: () => (topSpeed.value = Number(limit.value)) } });
  topSpeed.watch((value) => {
    limit.value = String(value);
    limit.style.setProperty("--part", String((value - 0.2) / 2.8));
    write(limitValue, `${value.toFixed(1)} m/s`);
  });
  body.append(h("p", { class: "hint" }, t.drive.keys), padText, h("label", { class: "slider wide" }, h("span", {}, t.drive.limit), limit, limitValue));

  const knob = h("span", { class: "knob" });
  const pad = h("div", { class: "drive-pad", role: "application", "aria-label": t.drive.stick, "data-testid": "drive-pad", hidden: true }, knob);
  const pull = (event: PointerEvent) => {
    const box = pad.getBoundingClientRect();
    const reach = box.width / 2;
    const part = (v: number) => Math.max(-1, Math.min(1, v / reach));
    const [x, y] = [part(event.clientX - box.x - reach), part(event.clientY - box.y - reach)];
    touch = { speed: -y, steering: -x };
    knob.style.transform = `translate(${(x * reach * 0.6).toFixed(0)}px, ${(y * reach * 0.6).toFixed(0)}px)`;
  };
  const letGo = () => {
    touch = null;
    knob.style.transform = "";
  };
  pad.addEventListener("pointerdown", (event) => {
    pad.setPointerCapture(event.pointerId);
    pull(event);
  });
  pad.addEventListener("pointermove", (event) => touch && pull(event));
  pad.addEventListener("pointerup", letGo);
  pad.addEventListener("pointercancel", letGo);

  addEventListener("keydown", (event) => {
    const key = KEYS[event.code];
    if (!app.driving.value || !key || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
    held.add(key);
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true });
  addEventListener("keyup", (event) => {
    const key = KEYS[event.code];
    if (key) held.delete(key);
  });
  const drop = () => {
    if (moving) app.toast(t.drive.stopped, "note");
    held.clear();
    letGo();
    send(null, true);
  };
  addEventListener("blur", drop);
  document.addEventListener("visibilitychange", () => document.hidden && drop());

  /** Sends what is wished for; a last 0 when nothing is any more. */
  function send(wish: Wish | null, sharp = false): void {
    const limits = app.profile.value?.limits;
    if (!limits) return;
    const target = { speed: (wish?.speed ?? 0) * Math.min(topSpeed.value, limits.speed), steering: (wish?.steering ?? 0) * limits.steering };
    const follow = (from: number, to: number, range: number, seconds: number) => {
      const step = sharp ? Number.POSITIVE_INFINITY : (range * SEND_MS) / 1000 / seconds;
      return Math.abs(to - from) <= step ? to : from + Math.sign(to - from) * step;
    };
    // Letting go stops at once; only going on is smooth.
    now.speed = wish ? follow(now.speed, target.speed, topSpeed.value, SPEED_S) : 0;
    now.steering = follow(now.steering, target.steering, 2 * limits.steering, STEER_S);
    if (wish || moving) link.send(now.speed, now.steering);
    moving = wish !== null || now.steering !== 0;
  }

  let timer = 0;
  function tick(): void {
    const pads = navigator.getGamepads().filter((one) => one?.connected);
    const gamepad = pads[0];
    write(padText, gamepad ? t.drive.padOn(gamepad.id) : t.drive.pad);
    send(wishOfKeys(held) ?? touch ?? (gamepad ? wishOfPad(gamepad) : null));
  }
  app.driving.watch((on, before) => {
    show(element, on);
    show(pad, on);
    if (before === undefined) return;
    clearInterval(timer);
    if (on) {
      link.open();
      timer = window.setInterval(tick, SEND_MS);
    } else {
      held.clear();
      link.close();
      now.speed = now.steering = 0;
      moving = false;
    }
  });
  return { card: element, pad };
}
