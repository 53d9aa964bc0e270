/** The palette: tools, and objects that are dragged onto the field. */
import { t } from "../../strings.ts";
import { h } from "../../ui/dom.ts";
import { preventFling } from "../../ui/fling.ts";
import { icon, type IconName } from "../../ui/icons.ts";
import { OBJECT_KINDS, type ObjectKind } from "../document.ts";
import type { Point } from "../geometry.ts";
import type { PlanView } from "../plan/plan-view.ts";
import type { EditorSession, Tool } from "../session.ts";

const TOOL_ICONS: Readonly<Record<Tool, IconName>> = { select: "pointer", pen: "pen", pan: "hand" };
const KIND_ICONS: Readonly<Record<ObjectKind, IconName>> = {
  box: "box",
  cylinder: "cylinder",
  sphere: "record",
  cone: "cone",
  light: "light",
};
/** A press that moves less than this, in pixels, is a click. */
const CLICK_PX = 6;

export function palette(
  session: EditorSession,
  plan: PlanView,
  add: (kind: ObjectKind | "picture", at: Point) => void,
): HTMLElement {
  const tools = (Object.keys(TOOL_ICONS) as Tool[]).map((tool) => {
    const button = h(
      "button",
      {
        type: "button",
        class: "palette-button",
        role: "radio",
        "aria-label": t.build.tools[tool],
        title: t.build.tools[tool],
        "data-testid": `tool-${tool}`,
        on: { click: () => (session.tool.value = tool) },
      },
      icon(TOOL_ICONS[tool]),
    );
    session.tool.watch((now) => (button.ariaChecked = String(now === tool)));
    return button;
  });
  const things = [...OBJECT_KINDS, "picture" as const].map((kind) => thing(plan, kind, add));
  return h(
    "nav",
    { class: "palette", "aria-label": t.build.tools.label },
    h("div", { class: "palette-group", role: "radiogroup", "aria-label": t.build.tools.label }, ...tools),
    h("div", { class: "palette-group", role: "group", "aria-label": t.build.palette.label }, ...things),
  );
}

/**
 * The button for a kind of object, or for a picture. A drag puts the item on the field where the
 * pointer is released. A click puts it in the middle of the view.
 */
function thing(
  plan: PlanView,
  kind: ObjectKind | "picture",
  add: (kind: ObjectKind | "picture", at: Point) => void,
): HTMLButtonElement {
  const label = t.build.palette[kind];
  const button = h(
    "button",
    {
      type: "button",
      class: "palette-button palette-thing",
      "aria-label": t.build.palette.add(label),
      title: label,
      "data-testid": `add-${kind}`,
    },
    icon(kind === "picture" ? "picture" : KIND_ICONS[kind]),
    h("span", {}, label),
  );
  let start: Point | null = null;
  /** How far the pointer has moved since the press. */
  let moved: Point = { x: 0, y: 0 };
  let ghost: HTMLElement | null = null;
  /** Whether the last press was a drag, so that the click after it does nothing. */
  let wasDrag = false;

  const drop = () => {
    ghost?.remove();
    ghost = null;
    start = null;
  };
  button.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    start = { x: event.clientX, y: event.clientY };
    wasDrag = false;
    button.setPointerCapture(event.pointerId);
  });
  button.addEventListener("pointermove", (event) => {
    if (!start) return;
    moved = { x: event.clientX - start.x, y: event.clientY - start.y };
    if (!ghost && Math.hypot(moved.x, moved.y) > CLICK_PX) {
      wasDrag = true;
      ghost = h("div", { class: "palette-ghost", "aria-hidden": "true" }, icon(kind === "picture" ? "picture" : KIND_ICONS[kind]));
      document.body.append(ghost);
    }
    if (ghost) ghost.style.transform = `translate(${event.clientX}px, ${event.clientY}px)`;
  });
  button.addEventListener("pointerup", (event) => {
    if (!ghost) {
      start = null;
      return;
    }
    const at = plan.local(event);
    const isInside = at.x >= 0 && at.y >= 0 && at.x <= plan.viewport.width && at.y <= plan.viewport.height;
    drop();
    if (isInside) add(kind, plan.viewport.toWorld(at));
  });
  button.addEventListener("pointercancel", drop);
  // In a narrow window the palette is a row that the user scrolls sideways with a finger. There, a
  // sideways move scrolls the row and does not drag an object.
  const isScroll = () => getComputedStyle(button).touchAction !== "none" && Math.abs(moved.x) >= Math.abs(moved.y);
  preventFling(button, () => ghost !== null && !isScroll());
  button.addEventListener("click", () => {
    if (!wasDrag) add(kind, plan.viewport);
    wasDrag = false;
  });
  return button;
}
