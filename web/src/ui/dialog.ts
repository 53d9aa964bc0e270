/** A modal dialog with icon, title and close button. Escape and a click outside close it too. */
import { iconButton } from "./card.ts";
import { h } from "./dom.ts";
import { icon, type IconName } from "./icons.ts";

let count = 0;

export function dialog(options: { icon: IconName; title: string; close: string; testid: string }): {
  element: HTMLDialogElement;
  body: HTMLElement;
} {
  const id = `dialog-${++count}`;
  const body = h("div", { class: "dialog-body" });
  const element = h(
    "dialog",
    { "aria-labelledby": id, "data-testid": options.testid },
    h(
      "header",
      { class: "card-head" },
      icon(options.icon),
      h("h2", { id }, options.title),
      iconButton("close", options.close, () => element.close()),
    ),
    body,
  );
  element.addEventListener("pointerdown", (event) => {
    if (event.target === element) element.close();
  });
  return { element, body };
}
