/**
 * The container of the program panel. The code of the panel and of its editor is loaded when the
 * panel is opened for the first time, because it is larger than the rest of the page.
 */
import type { App } from "../app.ts";
import { t } from "../strings.ts";
import { fill, h, show } from "../ui/dom.ts";
import { onEnd, scoped } from "../ui/scope.ts";
import type { ProgramPanel } from "../program/panel.ts";

export function program(app: App): HTMLElement {
  const element = h(
    "section",
    { class: "program", "aria-label": t.program.title, "data-testid": "program", hidden: true },
    h("p", { class: "notice", role: "status" }, t.program.loading),
  );
  let loaded: Promise<ProgramPanel | null> | null = null;
  // The panel is built later than the other panels, so its listeners belong to a separate scope.
  // `end` ends this scope.
  let end = () => {};
  let ended = false;
  onEnd(() => {
    ended = true;
    end();
  });

  async function load(): Promise<ProgramPanel | null> {
    try {
      const { programPanel } = await import("../program/panel.ts");
      if (ended) return null;
      const { result: panel, end: endPanel } = scoped(() => programPanel(app));
      end = endPanel;
      fill(element, panel.element);
      return panel;
    } catch (error) {
      console.warn(error);
      fill(element, h("p", { class: "notice", role: "alert" }, t.program.notLoaded));
      return null;
    }
  }

  function update(): void {
    const isOpen = app.programming.value && app.run.value === null;
    if (isOpen) loaded ??= load();
    show(element, isOpen);
  }
  app.programming.watch(update);
  // The result page of a run and its replay use the whole width, so the panel is hidden.
  app.run.watch(update);
  app.runExample = () => {
    app.programming.value = true;
    void loaded?.then((panel) => panel?.runExample());
  };
  return element;
}
