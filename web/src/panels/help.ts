/** The dialog that lists keyboard shortcuts and mouse gestures. */
import { t } from "../strings.ts";
import { dialog } from "../ui/dialog.ts";
import { h } from "../ui/dom.ts";

export function help(): HTMLDialogElement {
  const { element, body } = dialog({ icon: "help", title: t.help.title, close: t.help.close, testid: "help-dialog" });
  element.classList.add("help");
  body.append(
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
