/** The buttons in the corner of the 3D view: cameras and recording. */
import type { App } from "../app.ts";
import { keyed } from "../shortcuts.ts";
import { t } from "../strings.ts";
import { h } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";
import { MODES } from "../view/cameras.ts";
import { recording } from "./recording.ts";

export function views(app: App): HTMLElement {
  const modes = MODES.map((mode) => {
    const label = keyed(t.cameras[mode], mode);
    const button = h(
      "button",
      {
        type: "button",
        role: "radio",
        title: label,
        "aria-label": t.cameras[mode],
        "data-testid": `camera-${mode}`,
        on: { click: () => (app.camera.value = mode) },
      },
      icon(mode),
    );
    app.camera.watch((now) => (button.ariaChecked = String(now === mode)));
    return button;
  });
  const label = keyed(t.cameras.onboard, "onboard");
  const onboard = h(
    "button",
    {
      type: "button",
      title: label,
      "aria-label": t.cameras.onboard,
      "data-testid": "camera-onboard",
      on: { click: () => (app.onboard.value = !app.onboard.value) },
    },
    icon("onboard"),
  );
  app.onboard.watch((on) => (onboard.ariaPressed = String(on)));
  return h(
    "div",
    { class: "views" },
    h("div", { class: "segments", role: "radiogroup", "aria-label": t.cameras.group }, ...modes),
    h("div", { class: "segments" }, onboard),
    recording(app),
  );
}
