/** A card beside the 3D view: icon, title, close button and body. */
import { t } from "../strings.ts";
import { h, type Child } from "./dom.ts";
import { icon, type IconName } from "./icons.ts";

export interface Card {
  element: HTMLElement;
  title: HTMLElement;
  body: HTMLElement;
}

let count = 0;

export function card(options: {
  icon: IconName;
  title: string;
  close: string;
  testid?: string;
  onClose: () => void;
  body?: Child[];
}): Card {
  const id = `card-${++count}`;
  const title = h("h2", { id }, options.title);
  const body = h("div", { class: "card-body" }, ...(options.body ?? []));
  const element = h(
    "section",
    { class: "card", "aria-labelledby": id, "data-testid": options.testid, hidden: true },
    h("header", { class: "card-head" }, icon(options.icon), title, iconButton("close", options.close, options.onClose)),
    body,
  );
  return { element, title, body };
}

/** A button with an icon and no text. */
export function iconButton(name: IconName, label: string, onClick: () => void, testid?: string): HTMLButtonElement {
  return h(
    "button",
    {
      type: "button",
      class: "icon-button",
      "aria-label": label,
      title: label,
      "data-testid": testid,
      on: { click: onClick },
    },
    icon(name),
  );
}

/** A label with a value that the caller updates. */
export function labelledValue(label: string, testid?: string): { element: HTMLElement; value: HTMLElement } {
  const value = h("dd", { "data-testid": testid }, t.units.none);
  return { element: h("div", { class: "fact" }, h("dt", {}, label), value), value };
}

/** A labelled switch. */
export function toggle(
  label: string,
  title: string,
  testid: string,
): { element: HTMLLabelElement; input: HTMLInputElement } {
  const input = h("input", { type: "checkbox", role: "switch", "data-testid": testid });
  return {
    element: h(
      "label",
      { class: "toggle", title },
      h("span", {}, label),
      input,
      h("span", { class: "toggle-track", "aria-hidden": "true" }),
    ),
    input,
  };
}
