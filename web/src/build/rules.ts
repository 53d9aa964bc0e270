/** The tab with the rules of a world: its judging script, its settings, and a test drive. */
import { t } from "../strings.ts";
import { fill, h } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";
import type { BuilderClient } from "./client.ts";
import { type ConfigPanel, configPanel } from "./config-form.ts";
import type { Editor } from "./editor.ts";
import { putConfig, readConfig } from "./rules-config.ts";
import { scriptPanel } from "./script-panel.ts";
import { drivePanel } from "./try-drive.ts";
import { runPanel } from "./try-run.ts";

export function rulesTab(editor: Editor, client: BuilderClient): HTMLElement {
  const texts = t.buildTabs.rules;
  const element = h("section", { class: "rules", "aria-label": texts.title, "data-testid": "rules" });
  let panel: ConfigPanel | null = null;
  /** The parts of the tab. They are created once, because they keep following the document. */
  let parts: HTMLElement[] | null = null;

  const add = h("button", { type: "button", class: "primary", "data-testid": "rules-add" }, icon("flag"), texts.add);
  add.addEventListener("click", () =>
    editor.apply(texts.add, (draft) => {
      draft.evaluation ??= {
        config: { description: texts.usualDescription, better: "lower", time_limit_s: 180, robot: "gen1" },
        script: { template: "lap_time" },
      };
    }),
  );
  const remove = h(
    "button",
    { type: "button", class: "plain", "data-testid": "rules-remove" },
    icon("bin"),
    texts.remove,
  );
  remove.addEventListener("click", () => editor.apply(texts.remove, (draft) => delete draft.evaluation));

  function drawAbsent(): void {
    panel = null;
    fill(element, h("p", { class: "note" }, texts.absent), add);
  }

  function drawPresent(): void {
    const first = readConfig(editor.document.value.evaluation?.config ?? {});
    panel = configPanel((label, form) => {
      editor.apply(label, (draft) => {
        if (draft.evaluation) putConfig(draft.evaluation.config, form);
      });
    }, first);
    parts ??= [
      h("h2", {}, texts.judging),
      scriptPanel(editor, client),
      drivePanel(editor, client),
      runPanel(editor, client),
      h("div", { class: "row" }, remove),
    ];
    fill(element, h("h2", {}, texts.task), panel.element, ...parts);
  }

  editor.document.watch((document) => {
    const { evaluation } = document;
    if (!evaluation) {
      if (panel || element.childElementCount === 0) drawAbsent();
    } else if (panel) {
      panel.show(readConfig(evaluation.config));
    } else {
      drawPresent();
    }
  });
  return element;
}
