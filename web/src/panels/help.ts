/** The dialog that lists keyboard shortcuts and mouse gestures, and starts the tour. */
import { keyLabel, keyOf } from "../shortcuts.ts";
import { settings } from "../settings.ts";
import { t } from "../strings.ts";
import { dialog } from "../ui/dialog.ts";
import { h } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";

export function help(openSettings: () => void, startTour: () => void): HTMLDialogElement {
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
      ...t.help.rows.flatMap(({ keys = [], shortcuts = [], action }) => {
        const own = settings.shortcuts.value ? shortcuts.map((shortcut) => keyLabel(keyOf(shortcut))) : [];
        const all = [...own, ...keys];
        return all.length === 0
          ? []
          : [h("div", {}, h("dt", {}, ...all.map((key) => h("kbd", {}, key))), h("dd", {}, action))];
      }),
    ),
    h(
      "button",
      {
        type: "button",
        class: "plain",
        "data-testid": "change-keys",
        on: {
          click: () => {
            element.close();
            openSettings();
          },
        },
      },
      t.help.changeKeys,
    ),
  );
  return element;
}
