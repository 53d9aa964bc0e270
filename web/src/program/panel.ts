/**
 * The program panel: an editor for the files of a program, and the run of the program with its
 * output. The page loads this module when the panel is opened.
 */
import "../style/program.css";
import example from "../../../examples/lap_by_route.py?raw";
import type { App } from "../app.ts";
import { ApiError, get } from "../net/api.ts";
import { t } from "../strings.ts";
import { iconButton } from "../ui/card.ts";
import { h, show, write } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";
import { persistedSignal, Signal } from "../ui/signal.ts";
import { type Draft, MAIN, MAX_FILES, pathsOf, textOf, without } from "./draft.ts";
import { browserStorage, DraftStore } from "./draft-store.ts";
import { editors } from "./editors.ts";
import { fileBar, tabId, withAdded } from "./file-bar.ts";
import { runBox } from "./run-box.ts";
import { Runner } from "./runner.ts";
import { workspaceDialog } from "./workspace-dialog.ts";

export interface ProgramPanel {
  element: HTMLElement;
  /** Adds the example to the draft and runs it. */
  runExample(): void;
}

/** The path for the example if the draft has another `main.py`. */
const EXAMPLE = "example.py";
/** The draft on the first visit: the example, so that Run works immediately. */
const FIRST: Draft = { files: [{ path: MAIN, text: example }], open: MAIN, command: "" };

const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";

/**
 * The draft of this page. All panels share it, so that a newly created panel never stores an old
 * draft. Its listeners do not belong to the scope of a panel, because the draft outlives the
 * panels, and must follow other tabs also while there is no panel.
 */
let shared: DraftStore | null = null;
function sharedStore(): DraftStore {
  if (shared) return shared;
  const store = (shared = new DraftStore(browserStorage(), FIRST));
  window.addEventListener("storage", (event) => store.adopt(event));
  window.addEventListener("pagehide", () => store.flush());
  document.addEventListener("visibilitychange", () => document.hidden && store.flush());
  return store;
}

/**
 * The draft without the example, if the person has not changed the example. Used when a file of the
 * workspace replaces the example.
 */
function withoutExample(draft: Draft): Draft {
  return textOf(draft, MAIN) === example ? without(draft, MAIN) : draft;
}

export function programPanel(app: App): ProgramPanel {
  const texts = t.program;
  const store = sharedStore();
  const runner = new Runner(app, store);
  const message = new Signal<string | null>(null);

  /** The draft with the example, which is opened and which the command runs. */
  const withExample = (draft: Draft): Draft => {
    const path = pathsOf(draft).includes(MAIN) && textOf(draft, MAIN) !== example ? EXAMPLE : MAIN;
    const added = withAdded(draft, { path, text: example });
    return { ...added, command: added.open === MAIN ? "" : `python3 ${added.open}` };
  };
  /** Returns false if the draft has no room for the example. */
  const addExample = (): boolean => {
    const draft = withExample(store.draft.value);
    const fits = draft.files.length <= MAX_FILES;
    message.value = fits ? null : texts.tooMany(MAX_FILES);
    if (fits) store.change(draft);
    return fits;
  };
  const dialog = workspaceDialog((path, text) => {
    const draft = withAdded(withoutExample(store.draft.value), { path, text });
    message.value = draft.open === path ? null : texts.openedAs(path, draft.open);
    store.change(draft);
  });

  const run = (): void => void runner.run();
  const code = editors(store, tabId, run);
  const files = fileBar(store, message, { openWorkspace: () => dialog.open(), addExample });
  const notStored = h("p", { class: "error", role: "alert", "data-testid": "program-not-stored" });
  store.failed.watch((failed) => {
    write(notStored, failed ? texts.notStored : "");
    show(notStored, failed);
  });
  const work = h(
    "div",
    { class: "program-work" },
    files.below,
    notStored,
    files.tabs,
    code.element,
    runBox(app, store, runner, code),
  );
  const spectator = h("p", { class: "note", "data-testid": "program-spectator", hidden: true }, texts.spectator);
  const element = h(
    "div",
    { class: "program-panel" },
    h(
      "header",
      { class: "card-head" },
      icon("code"),
      h("h2", {}, texts.title),
      files.tools,
      iconButton("close", texts.close, () => (app.programming.value = false), "program-close"),
    ),
    spectator,
    work,
    dialog.element,
  );
  element.addEventListener("keydown", (event) => {
    const isInText = (event.target as Element).closest(".cm-editor") !== null;
    // In the editor, Escape only ends the use of the Tab key for indentation. Nothing else on the
    // page may react.
    if (event.key === "Escape" && isInText) event.stopPropagation();
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return;
    event.preventDefault();
    run();
  });

  // Spectators may not read the workspace or run programs.
  let isChecking = false;
  async function checkRole(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    const refused = await get("/workspace").then(
      () => false,
      (error: unknown) => error instanceof ApiError && error.status === 403,
    );
    isChecking = false;
    show(spectator, refused);
    show(work, !refused);
    show(files.tools, !refused);
  }
  app.programming.watch((open) => open && void checkRole());

  const seen = persistedSignal("program.seen", false, isBoolean);
  if (!seen.value) {
    seen.value = true;
    // When the panel is created for the first time, the camera image is shown too, because a person
    // who runs a program wants to see what the car sees.
    app.onboard.value = true;
  }
  return {
    element,
    runExample() {
      if (addExample()) run();
    },
  };
}
