/**
 * Builds the panels around the 3D view, and rebuilds them when the language, the units or the
 * keyboard shortcuts change.
 *
 * The app, the 3D view and the connection are kept, so nothing is loaded again.
 */
import type { App } from "./app.ts";
import { keys } from "./keys.ts";
import type { Manipulator } from "./manipulate/manipulator.ts";
import { selectionOverlay } from "./manipulate/selection-overlay.ts";
import { dock } from "./panels/dock.ts";
import { drive } from "./panels/drive.ts";
import { evaluation } from "./panels/evaluation.ts";
import { help } from "./panels/help.ts";
import { instruments } from "./panels/instruments.ts";
import { onboard } from "./panels/onboard.ts";
import { overlay } from "./panels/overlay.ts";
import { program } from "./panels/program.ts";
import { runView } from "./panels/run-view.ts";
import { selection } from "./panels/selection.ts";
import { settingsDialog } from "./panels/settings.ts";
import { signIn } from "./panels/sign-in.ts";
import { top } from "./panels/top.ts";
import { tour } from "./panels/tour.ts";
import { views } from "./panels/views.ts";
import { worlds, type WorldsDialog } from "./panels/worlds.ts";
import type { SceneView } from "./scene/scene-view.ts";
import { settings } from "./settings.ts";
import { language, t } from "./strings.ts";
import { h } from "./ui/dom.ts";
import { onEnd, scoped } from "./ui/scope.ts";
import type { Cameras } from "./view/cameras.ts";

/** The parts of the page that are created once. */
export interface PageParts {
  app: App;
  sceneView: SceneView;
  manipulator: Manipulator;
  cameras: Cameras;
  /** The element around the canvas of the 3D view. */
  view: HTMLElement;
  /** The element over the 3D view, for buttons and texts. */
  stage: HTMLElement;
}

/** The dialogs that other parts of the page open. */
interface Dialogs {
  worlds: WorldsDialog;
  settings: HTMLDialogElement;
}

export class Page {
  #built: { result: Dialogs; end: () => void };

  constructor(readonly parts: PageParts) {
    this.#built = scoped(() => build(parts));
    const changed = (_value: unknown, before: unknown) => before !== undefined && this.#rebuild();
    language.watch(changed);
    settings.speedUnit.watch(changed);
    settings.angleUnit.watch(changed);
    settings.shortcuts.watch(changed);
    settings.keys.watch(changed);
  }

  /** The worlds dialog. It is replaced when the panels are rebuilt. */
  get worlds(): WorldsDialog {
    return this.#built.result.worlds;
  }

  #rebuild(): void {
    const { app, sceneView } = this.parts;
    const { settings: before } = this.#built.result;
    const wasOpen = before.open;
    const scrolled = before.querySelector(".dialog-body")?.scrollTop ?? 0;
    const focused = document.activeElement?.getAttribute("data-testid");
    // Manual driving ends, because the old panels would not notice the release of a pressed key. An
    // open replay is opened again at the time that it showed.
    app.driving.value = false;
    const { value: run } = app.run;
    const time = app.replay.value?.now;
    app.replay.value = null;
    sceneView.showReplay(null);
    this.#built.end();
    if (run && time !== undefined) run.time = time;
    this.#built = scoped(() => build(this.parts));
    if (!wasOpen) return;
    const now = this.#built.result.settings;
    // When a dialog is closed, the browser returns the focus to the element that had the focus when
    // the dialog was opened. So the settings button is focused first.
    document.querySelector<HTMLElement>('.top [data-testid="settings"]')?.focus();
    now.showModal();
    const body = now.querySelector(".dialog-body");
    if (body) body.scrollTop = scrolled;
    if (focused) now.querySelector<HTMLElement>(`[data-testid="${CSS.escape(focused)}"]`)?.focus();
  }
}

function build({ app, sceneView, manipulator, cameras, view, stage }: PageParts): Dialogs {
  document.documentElement.lang = t.language;
  sceneView.canvas.setAttribute("aria-label", t.scene.canvas);
  const worldsDialog = worlds(app);
  const settingsElement = settingsDialog(sceneView, {
    help: () => helpDialog.showModal(),
    async changeQuality() {
      await sceneView.setQuality(settings.quality.value);
      // The 3D objects are new, so everything that is attached to them, such as the outline, must
      // be attached again.
      const { value: selected } = app.selected;
      app.selected.value = null;
      app.selected.value = selected;
      if (app.world.value) app.world.value = { ...app.world.value };
    },
  });
  const open = {
    worlds: () => worldsDialog.open(),
    help: () => helpDialog.showModal(),
    settings: () => settingsElement.showModal(),
  };
  const guide = tour(app);
  const helpDialog = help(open.settings, () => guide.start());
  const bottom = dock(app);
  const driving = drive(app);
  const run = runView(app, sceneView);
  const side = h(
    "aside",
    { class: "side" },
    run.card,
    selection(app, sceneView, manipulator),
    evaluation(app),
    driving.card,
    instruments(app, sceneView),
  );
  // Scrolls to a panel that was just opened, because it may be below the visible area.
  const opened = new MutationObserver((changes) => {
    const card = changes
      .map((change) => change.target as HTMLElement)
      .find((target) => target.matches(".card:not([hidden])"));
    if (card) side.scrollTop = card.offsetTop - side.offsetTop;
  });
  for (const card of side.children) opened.observe(card, { attributes: true, attributeFilter: ["hidden"] });
  // Screen readers announce the text of this element.
  const live = h("p", { class: "unseen", role: "status" });
  const over = [views(app), ...overlay(app, sceneView.canvas), onboard(app), driving.pad, run.notice, guide.element, live];
  stage.append(...over);
  selectionOverlay(app, sceneView, manipulator, view);
  const head = top(app, open);
  document.body.prepend(head);
  const around = [program(app), side, bottom.element, run.bar, run.page, worldsDialog.element, helpDialog, settingsElement, signIn(app)];
  document.body.append(...around);
  onEnd(() => {
    opened.disconnect();
    for (const element of [...over, head, ...around]) element.remove();
  });
  keys(app, manipulator, cameras, bottom, open);
  app.selected.watch((name) => (live.textContent = name ? t.selection.selected(manipulator.label(name)) : ""));
  return { worlds: worldsDialog, settings: settingsElement };
}
