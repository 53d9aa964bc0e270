/** The evaluation card: the form that starts a run, the progress of the run, and its result. */
import type { App } from "../app.ts";
import { t } from "../strings.ts";
import { card } from "../ui/card.ts";
import { show } from "../ui/dom.ts";
import { setupForm } from "./evaluation-form.ts";
import { runningPanel } from "./evaluation-live.ts";
import { resultPanel } from "./evaluation-result.ts";
import { history } from "./history.ts";

export function evaluation(app: App): HTMLElement {
  const { element, body } = card({
    icon: "flag",
    title: t.evaluation.title,
    close: t.evaluation.close,
    testid: "eval-card",
    onClose: () => (app.evaluating.value = false),
  });
  element.classList.add("evaluation");
  const records = history(app);
  const start = setupForm(app);
  const live = runningPanel(app);
  const result = resultPanel(app);
  body.append(live, result, start, records.element);

  function update(): void {
    const view = app.session.value;
    const here = view !== null && view.session.world === app.world.value?.world;
    show(live, view?.active ?? false);
    show(result, view !== null && !view.active && here);
    show(start, !view?.active);
    show(element, app.evaluating.value && (app.judged || (view?.active ?? false)));
  }
  app.session.watch((view, before) => {
    // Opens the card when a run starts or ends, even if another page started it. If the program
    // panel is open, the card stays closed: the panel shows the run itself, and the card would hide
    // the 3D view.
    const opens = !app.programming.value;
    if (opens && view?.active && view.session.id !== before?.session.id) app.evaluating.value = true;
    if (before?.active && view && !view.active) {
      if (opens) app.evaluating.value = true;
      records.refresh();
      element.scrollIntoView({ block: "start" });
    }
    update();
  });
  app.evaluating.watch((open) => {
    update();
    if (open) records.refresh();
  });
  app.world.watch(() => {
    update();
    if (app.evaluating.value) records.refresh();
  });
  return element;
}
