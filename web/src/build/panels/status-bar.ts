/** The bar below the views: snapping, zoom, position of the pointer and facts about the track. */
import { t } from "../../strings.ts";
import { iconButton } from "../../ui/card.ts";
import { h, write } from "../../ui/dom.ts";
import { fixed } from "../../ui/format.ts";
import { icon, type IconName } from "../../ui/icons.ts";
import type { PlanView } from "../plan/plan-view.ts";
import { GRID_STEPS, type EditorSession } from "../session.ts";
import type { SnapSettings } from "../snapping.ts";

const text = t.build.bar;

export function statusBar(session: EditorSession, plan: PlanView, fit: () => void): HTMLElement {
  const snapButton = (name: "grid" | "road" | "items", symbol: IconName) => {
    const button = h(
      "button",
      {
        type: "button",
        class: "tool",
        title: `${text.snap}: ${text[name]}`,
        "data-testid": `snap-${name}`,
        on: { click: () => (session.snap.value = { ...session.snap.value, [name]: !session.snap.value[name] }) },
      },
      icon(symbol),
      h("span", {}, text[name]),
    );
    session.snap.watch((snap: SnapSettings) => (button.ariaPressed = String(snap[name])));
    return button;
  };
  const step = h(
    "select",
    { "aria-label": text.step, title: text.step, "data-testid": "grid-step" },
    ...GRID_STEPS.map((value) => h("option", { value }, text.stepValue(value))),
  );
  step.addEventListener("change", () => (session.snap.value = { ...session.snap.value, step: Number(step.value) }));
  session.snap.watch((snap) => (step.value = String(snap.step)));
  const adding = h(
    "button",
    {
      type: "button",
      class: "tool",
      title: text.addingTitle,
      "data-testid": "adding",
      on: { click: () => (session.adding.value = !session.adding.value) },
    },
    icon("group"),
    h("span", {}, text.adding),
  );
  session.adding.watch((on) => (adding.ariaPressed = String(on)));
  return h(
    "footer",
    { class: "build-status", "aria-label": text.label },
    h(
      "div",
      { class: "group", role: "group", "aria-label": text.snap },
      snapButton("grid", "grid"),
      h("span", { class: "select" }, step),
      snapButton("road", "waypoints"),
      snapButton("items", "alignLeft"),
    ),
    adding,
    h("span", { class: "spring" }),
    trackFacts(session),
    pointerPosition(plan),
    h(
      "div",
      { class: "group" },
      ...zoomButtons(plan),
      iconButton("fit", text.fit, fit, "zoom-fit"),
    ),
  );
}

/** The zoom buttons. They are hidden on phones, where the user zooms with two fingers. */
function zoomButtons(plan: PlanView): HTMLElement[] {
  const buttons = [
    iconButton("minus", text.zoomOut, () => plan.zoom(1 / 1.3), "zoom-out"),
    iconButton("plus", text.zoomIn, () => plan.zoom(1.3), "zoom-in"),
  ];
  for (const button of buttons) button.classList.add("zoom-button");
  return buttons;
}

function trackFacts(session: EditorSession): HTMLElement {
  const element = h("span", { class: "track-facts", "data-testid": "track-facts" });
  session.preview.watch((preview) => {
    const road = preview?.road;
    if (!road) return write(element, "");
    const length = fixed(road.length, 1);
    write(element, road.tightest ? text.track(length, fixed(road.tightest.radius, 2)) : text.trackLength(length));
  });
  return element;
}

function pointerPosition(plan: PlanView): HTMLElement {
  const element = h("span", { class: "pointer-position mono" });
  plan.canvas.addEventListener("pointermove", () => {
    const { pointer } = plan;
    if (pointer) write(element, text.position(fixed(pointer.x, 2), fixed(pointer.y, 2)));
  });
  return element;
}
