/** Fields and buttons that several kinds of items share. */
import { t } from "../../strings.ts";
import { h } from "../../ui/dom.ts";
import { icon, type IconName } from "../../ui/icons.ts";
import type { Actions } from "../actions.ts";
import { itemOf, type Item, type ItemKey } from "../items.ts";
import type { EditorSession } from "../session.ts";
import { numberField, type FormField } from "./fields.ts";

const text = t.build.inspector;
export const DEGREES = 180 / Math.PI;

/** Fields for the position of an item. */
export function placeFields(session: EditorSession, key: ItemKey): FormField[] {
  return (["x", "y"] as const).map((axis) =>
    numberField(session, {
      label: text[axis],
      unit: text.metres,
      testid: `item-${axis}`,
      min: -200,
      max: 200,
      step: session.snap.value.step,
      read: (document) => itemOf(document, key)?.value[axis] ?? null,
      write: (draft, value) => {
        const item = itemOf(draft, key);
        if (item) item.value[axis] = value;
      },
    }),
  );
}

export function yawField(session: EditorSession, key: ItemKey): FormField {
  return numberField(session, {
    label: text.yaw,
    unit: text.degrees,
    testid: "item-yaw",
    min: -360,
    max: 360,
    step: 5,
    decimals: 2,
    factor: DEGREES,
    read: (document) => yawOf(itemOf(document, key)),
    write: (draft, value) => {
      const item = itemOf(draft, key);
      if (item && item.kind !== "node") item.value.yaw = value;
    },
  });
}

function yawOf(item: Item | null): number | null {
  return item && item.kind !== "node" ? (item.value.yaw ?? 0) : null;
}

/** Buttons that are shown for every selection. */
export function commonActions(actions: Actions): HTMLElement {
  return h(
    "div",
    { class: "build-actions" },
    button("copy", text.duplicate, () => actions.duplicate(), "duplicate"),
    button("bin", text.delete, () => actions.remove(), "delete"),
  );
}

/**
 * A button with icon and text. If the label ends with a keyboard shortcut in parentheses, only the
 * tooltip shows the shortcut.
 */
export function button(name: IconName, label: string, onClick: () => void, testid: string): HTMLButtonElement {
  const shown = label.replace(/ \(.*\)$/, "");
  return h(
    "button",
    { type: "button", class: "plain", title: label, "data-testid": testid, on: { click: onClick } },
    icon(name),
    shown,
  );
}
