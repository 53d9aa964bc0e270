/** The card of what is selected: its pose with numbers to type, and a light's RED and GREEN. */
import { type App, attempt } from "../app.ts";
import type { Hands } from "../manipulate/hands.ts";
import type { Place } from "../manipulate/history.ts";
import { post } from "../net/api.ts";
import { CAR } from "../scene/playback.ts";
import type { Stage } from "../scene/stage.ts";
import { t } from "../strings.ts";
import { card, fact, iconButton } from "../ui/card.ts";
import { h, setAttribute, show, write } from "../ui/dom.ts";
import { degrees, fixed } from "../ui/format.ts";
import { icon, redraw } from "../ui/icons.ts";

type Axis = keyof Place;

export function selection(app: App, stage: Stage, hands: Hands): HTMLElement {
  const { element, title, body } = card({
    icon: "box",
    title: "",
    close: t.selection.close,
    testid: "selection",
    onClose: () => (app.selected.value = null),
  });
  const head = element.querySelector("svg");
  const kind = h("p", { class: "hint" });

  const fields = new Map<Axis, HTMLInputElement>();
  const field = (axis: Axis, unit: string): HTMLElement => {
    const input = h("input", {
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      spellcheck: "false",
      "aria-label": t.selection[axis],
      "data-testid": `pose-${axis}`,
      on: {
        change: () => typed(axis, input),
        keydown: (event: KeyboardEvent) => {
          if (event.key === "Enter") input.blur();
          if (event.key === "Escape") {
            input.dataset["left"] = "";
            input.blur();
            event.stopPropagation();
          }
        },
        focus: () => input.select(),
      },
    });
    fields.set(axis, input);
    return h(
      "label",
      { class: "number" },
      h("span", { class: "label" }, t.selection[axis]),
      input,
      h("span", { class: "unit" }, unit),
    );
  };
  const pose = h(
    "div",
    { class: "pose" },
    field("x", t.selection.metres),
    field("y", t.selection.metres),
    field("z", t.selection.metres),
    field("yaw", t.selection.degrees),
  );

  const speed = fact(t.selection.speed);
  const steering = fact(t.selection.steering);
  const motion = h("dl", { class: "facts" }, speed.element, steering.element);

  const lamp = (colour: "red" | "green") =>
    h(
      "button",
      {
        type: "button",
        class: `lamp lamp-${colour}`,
        "data-testid": `light-${colour}`,
        "aria-pressed": "false",
        on: { click: () => setLight(colour) },
      },
      h("span", { class: "bulb", "aria-hidden": "true" }),
      t.selection[colour],
    );
  const [red, green] = [lamp("red"), lamp("green")];
  const countdown = h("p", { class: "countdown", role: "status", "data-testid": "light-yellow" });
  const bar = h("span", { class: "countdown-bar", "aria-hidden": "true" });
  const lights = h(
    "fieldset",
    { class: "lights", "aria-label": t.selection.light },
    h("div", { class: "lamps" }, red, green),
    countdown,
    bar,
  );

  const homeButton = h(
    "button",
    { type: "button", class: "quiet", on: { click: () => void goHome() } },
    icon("reset"),
    t.selection.home,
  );
  body.append(
    kind,
    lights,
    pose,
    motion,
    h(
      "div",
      { class: "row" },
      homeButton,
      iconButton("undo", t.selection.undo, () => void hands.undo()),
    ),
  );

  function typed(axis: Axis, input: HTMLInputElement): void {
    const name = app.selected.value;
    if (!name || input.dataset["left"] !== undefined) {
      delete input.dataset["left"];
      return update(true);
    }
    const value = Number(input.value.trim().replace(",", "."));
    if (input.value.trim() === "" || !Number.isFinite(value)) {
      app.toast(t.selection.bad(t.selection[axis]));
      return update(true);
    }
    void hands.put(name, { [axis]: axis === "yaw" ? (value * Math.PI) / 180 : value });
  }

  function setLight(state: "red" | "green"): void {
    const name = app.selected.value;
    if (name) void attempt(app, post(`/traffic_lights/${encodeURIComponent(name)}`, { state }));
  }

  async function goHome(): Promise<void> {
    const name = app.selected.value;
    if (!name) return;
    const origin = name === CAR ? start() : app.world.value?.objects[name]?.origin;
    if (origin) await hands.put(name, origin);
  }

  /** Where the car starts: on the first waypoint, heading to the next. */
  function start(): Partial<Place> {
    const [a, b] = app.world.value?.track.route?.waypoints ?? [];
    if (!a || !b) return { x: 0, y: 0, yaw: 0 };
    return { x: a[0], y: a[1], yaw: Math.atan2(b[1] - a[1], b[0] - a[0]) };
  }

  function update(forced = false): void {
    const name = app.selected.value;
    const place = name ? hands.placeOf(name) : null;
    show(element, place !== null);
    if (!name || !place) return;
    const entry = app.world.value?.objects[name];
    const isCar = name === CAR;
    write(title, hands.label(name));
    write(kind, isCar ? (app.profile.value?.model_name ?? "") : t.selection.kinds[entry?.kind ?? "box"]);
    if (head) redraw(head as SVGSVGElement, isCar ? "car" : entry?.type === "light" ? "light" : "box");
    for (const [axis, input] of fields) {
      if (document.activeElement === input && !forced) continue;
      const text = axis === "yaw" ? fixed(degrees(place.yaw), 1) : fixed(place[axis], 3);
      if (input.value !== text) input.value = text;
      input.disabled = !isCar && !entry?.movable;
    }
    show(fields.get("z")?.closest("label") as HTMLElement, !isCar);
    show(motion, isCar);
    const vehicle = app.state.value?.vehicle;
    if (isCar && vehicle) {
      write(speed.value, `${fixed(vehicle.speed, 2)} m/s`);
      write(steering.value, `${fixed(degrees(vehicle.steering), 1)}°`);
    }
    const light = app.state.value?.lights.find((one) => one.name === name);
    show(lights, light !== undefined);
    if (!light) return;
    const yellow = light.state === "yellow";
    lights.disabled = yellow;
    setAttribute(lights, "data-state", light.state);
    for (const [button, state] of [
      [red, "red"],
      [green, "green"],
    ] as const)
      button.ariaPressed = String(light.state === state);
    const left = light.yellow_left ?? 0;
    write(countdown, yellow ? t.selection.yellow(left.toFixed(1)) : "");
    bar.style.setProperty("--left", yellow ? String(left / 3) : "0");
  }

  app.selected.watch(() => update(true));
  app.state.watch(() => app.selected.value && update());
  app.world.watch(() => update(true));
  stage.beforeDraw.push(() => {
    if (app.selected.value) update();
  });
  return element;
}
