/** The dialog that lists keyboard shortcuts and mouse gestures, and starts the tour. */
import { t } from "../strings.ts";
import { dialog } from "../ui/dialog.ts";
import { h } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";

export function help(startTour: () => void): HTMLDialogElement {
  const { element, body } = dialog({ icon: "help", title: t.help.title, close: t.help.close, testid: "help-dialog" });
  element.classList.add("help");
  const again = h("button", { type: "button", class: "plain", "data-testid": "show-tour" }, icon("help"), t.tour.again);
  again.addEventListener("click", () => {
    element.close();
    startTour();
  });
  body.append(
    again,
    h(
      "dl",
      { class: "keys" },
      ...t.help.rows.map(({ keys, action }) =>
        h("div", {}, h("dt", {}, ...keys.map((key) => h("kbd", {}, key))), h("dd", {}, action)),
      ),
    ),
  );
  return element;
}
