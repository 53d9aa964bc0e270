/** The card of the selected object: pose fields, and the RED and GREEN buttons of a light. */
import { type App, attempt } from "../app.ts";
import type { Manipulator } from "../manipulate/manipulator.ts";
import type { UprightPose } from "../manipulate/history.ts";
import { post } from "../net/api.ts";
import { CAR } from "../scene/playback.ts";
import type { SceneView } from "../scene/scene-view.ts";
import { t } from "../strings.ts";
import { card, labelledValue, iconButton } from "../ui/card.ts";
import { h, setAttribute, show, write } from "../ui/dom.ts";
import { angleText, degrees, fixed, speedText } from "../ui/format.ts";
import { icon, setIcon } from "../ui/icons.ts";
import { addTo } from "../ui/scope.ts";

type Axis = keyof UprightPose;

export function selection(app: App, sceneView: SceneView, manipulator: Manipulator): HTMLElement {
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
        change: () => onTyped(axis, input),
        keydown: (event: KeyboardEvent) => {
          if (event.key === "Enter") input.blur();
          if (event.key === "Escape") {
            input.dataset["cancelled"] = "";
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
  const poseFields = h(
    "div",
    { class: "pose" },
    field("x", t.selection.metres),
    field("y", t.selection.metres),
    field("z", t.selection.metres),
    field("yaw", t.selection.degrees),
  );

  const speed = labelledValue(t.selection.speed);
  const steering = labelledValue(t.selection.steering);
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

  const resetButton = h(
    "button",
    { type: "button", class: "quiet", on: { click: () => void resetPosition() } },
    icon("reset"),
    t.selection.resetPosition,
  );
  body.append(
    kind,
    lights,
    poseFields,
    motion,
    h(
      "div",
      { class: "row" },
      resetButton,
      iconButton("undo", t.selection.undo, () => void manipulator.undo()),
    ),
  );

  function onTyped(axis: Axis, input: HTMLInputElement): void {
    const name = app.selected.value;
    if (!name || input.dataset["cancelled"] !== undefined) {
      delete input.dataset["cancelled"];
      return update(true);
    }
    const value = Number(input.value.trim().replace(",", "."));
    if (input.value.trim() === "" || !Number.isFinite(value)) {
      app.toast(t.selection.notANumber(t.selection[axis], input.value));
      return update(true);
    }
    void manipulator.moveTo(name, { [axis]: axis === "yaw" ? (value * Math.PI) / 180 : value });
  }

  function setLight(state: "red" | "green"): void {
    const name = app.selected.value;
    if (name) void attempt(app, post(`/traffic_lights/${encodeURIComponent(name)}`, { state }));
  }

  async function resetPosition(): Promise<void> {
    const name = app.selected.value;
    if (!name) return;
    const origin = name === CAR ? carStart() : app.world.value?.objects[name]?.origin;
    if (origin) await manipulator.moveTo(name, origin);
  }

  /** Start pose of the car: at the first waypoint, facing the second one. */
  function carStart(): Partial<UprightPose> {
    const [a, b] = app.world.value?.track.route?.waypoints ?? [];
    if (!a || !b) return { x: 0, y: 0, yaw: 0 };
    return { x: a[0], y: a[1], yaw: Math.atan2(b[1] - a[1], b[0] - a[0]) };
  }

  /** Updates the card. Unless forced, a field that is being edited is left unchanged. */
  function update(forced = false): void {
    const name = app.selected.value;
    const pose = name ? manipulator.poseOf(name) : null;
    show(element, pose !== null);
    if (!name || !pose) return;
    const entry = app.world.value?.objects[name];
    const isCar = name === CAR;
    write(title, manipulator.label(name));
    write(kind, isCar ? (app.profile.value?.model_name ?? "") : t.selection.kinds[entry?.kind ?? "box"]);
    if (head) setIcon(head as SVGSVGElement, isCar ? "car" : entry?.type === "light" ? "light" : "box");
    for (const [axis, input] of fields) {
      if (document.activeElement === input && !forced) continue;
      const text = axis === "yaw" ? fixed(degrees(pose.yaw), 1) : fixed(pose[axis], 3);
      if (input.value !== text) input.value = text;
      input.disabled = !isCar && !entry?.movable;
    }
    show(fields.get("z")?.closest("label") as HTMLElement, !isCar);
    show(motion, isCar);
    const vehicle = app.state.value?.vehicle;
    if (isCar && vehicle) {
      write(speed.value, speedText(vehicle.speed, 2));
      write(steering.value, angleText(vehicle.steering, 1));
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
    bar.style.setProperty("--left", yellow ? String(left / (app.world.value?.yellow_s ?? left)) : "0");
  }

  app.selected.watch(() => update(true));
  app.state.watch(() => app.selected.value && update());
  app.world.watch(() => update(true));
  addTo(sceneView.beforeDraw, () => {
    if (app.selected.value) update();
  });
  return element;
}
