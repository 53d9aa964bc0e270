/**
 * The bar above the editor: a tab for each file, and buttons that create, open, rename and delete
 * files.
 */
import { zip } from "../leaderboard/zip.ts";
import { t } from "../strings.ts";
import { iconButton } from "../ui/card.ts";
import { fill, h, show, write } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";
import { saveBlob } from "../ui/save-blob.ts";
import type { Signal } from "../ui/signal.ts";
import {
  type Draft,
  type DraftFile,
  freePath,
  MAIN,
  MAX_FILES,
  pathProblem,
  pathsOf,
  renamed,
  restored,
  textOf,
  withFile,
  without,
} from "./draft.ts";
import type { DraftStore } from "./draft-store.ts";

export interface FileBar {
  tabs: HTMLElement;
  tools: HTMLElement;
  /** The field for a name, and messages. */
  below: HTMLElement;
}

/** The id of the tab of a file. */
export function tabId(path: string): string {
  return `program-tab-${encodeURIComponent(path)}`;
}

/** `message` is the text below the bar; null if there is none. */
export function fileBar(
  store: DraftStore,
  message: Signal<string | null>,
  actions: { openWorkspace(): void; addExample(): void },
): FileBar {
  const texts = t.program;
  const change = (draft: Draft): void => {
    message.value = null;
    undo.clear();
    store.change(draft);
  };
  const name = nameForm();
  const undo = undoLine(store);

  const tabs = h("div", { class: "program-tabs", role: "tablist", "aria-label": texts.files });
  store.draft.watch((draft) => drawTabs(tabs, draft, (path) => store.change({ ...store.draft.value, open: path })));
  tabs.addEventListener("dblclick", (event) => (event.target as Element).closest("[role=tab]") && rename());
  tabs.addEventListener("keydown", (event) => moveTab(event, store));

  /** Whether the draft is full. If so, also shows a message. */
  const isFull = (): boolean => {
    if (store.draft.value.files.length < MAX_FILES) return false;
    message.value = texts.tooMany(MAX_FILES);
    return true;
  };
  function create(): void {
    if (isFull()) return;
    const { draft } = store;
    const suggested = pathsOf(draft.value).includes(MAIN) ? freePath("module.py", pathsOf(draft.value)) : MAIN;
    name.ask(suggested, (path) => pathProblem(path, pathsOf(draft.value)), (path) =>
      change(withFile(draft.value, { path, text: "" })),
    );
  }
  function rename(): void {
    const { open } = store.draft.value;
    const others = () => pathsOf(store.draft.value).filter((path) => path !== open);
    if (open)
      name.ask(open, (path) => pathProblem(path, others()), (path) => change(renamed(store.draft.value, open, path)));
  }
  function remove(): void {
    const { files, open } = store.draft.value;
    const at = files.findIndex((file) => file.path === open);
    if (at < 0) return;
    change(without(store.draft.value, open));
    undo.offer(files[at], at);
  }

  const perFile = [
    iconButton("pen", texts.rename, rename, "program-rename"),
    iconButton("download", texts.download, () => void download(store.draft.value), "program-download"),
    iconButton("bin", texts.remove, remove, "program-delete"),
  ];
  store.draft.watch(({ files }) => {
    show(tabs, files.length > 0);
    for (const button of perFile) button.disabled = files.length === 0;
  });
  const tool = (label: string, title: string, testid: string, click: () => void) =>
    h("button", { type: "button", class: "plain", title, "data-testid": testid, on: { click } }, label);
  const tools = h(
    "div",
    { class: "program-tools", role: "group", "aria-label": texts.tools },
    tool(texts.create, texts.createTitle, "program-new", create),
    tool(texts.open, texts.openTitle, "program-open", () => !isFull() && actions.openWorkspace()),
    tool(texts.example, texts.exampleTitle, "program-example", () => actions.addExample()),
    ...perFile,
  );
  const note = h("p", { class: "hint", role: "status", "data-testid": "program-message" });
  message.watch((text) => {
    write(note, text ?? "");
    show(note, text !== null);
  });
  return { tabs, tools, below: h("div", { class: "program-below" }, name.element, undo.element, note) };
}

function drawTabs(tabs: HTMLElement, { files, open }: Draft, onOpen: (path: string) => void): void {
  const drawn = [...tabs.children] as HTMLElement[];
  const isSame = drawn.length === files.length && files.every(({ path }, i) => drawn[i].dataset["path"] === path);
  if (!isSame)
    fill(
      tabs,
      ...files.map(({ path }) =>
        h(
          "button",
          {
            type: "button",
            role: "tab",
            id: tabId(path),
            class: "program-tab mono",
            "aria-controls": "program-text",
            "data-path": path,
            "data-testid": "program-tab",
            on: { click: () => onOpen(path) },
          },
          path,
        ),
      ),
    );
  for (const tab of tabs.children as HTMLCollectionOf<HTMLElement>) {
    const isOpen = tab.dataset["path"] === open;
    // Only the open tab can be reached with the Tab key. Arrow keys reach the other tabs.
    tab.tabIndex = isOpen ? 0 : -1;
    if (isOpen && tab.ariaSelected !== "true") tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    tab.ariaSelected = String(isOpen);
  }
}

/** Moves to another tab with the arrow keys, Home and End. */
function moveTab(event: KeyboardEvent, store: DraftStore): void {
  const { files, open } = store.draft.value;
  const at = files.findIndex((file) => file.path === open);
  const last = files.length - 1;
  const targets: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
  const target = targets[event.key];
  if (target === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const path = files[(target + files.length) % files.length].path;
  store.change({ ...store.draft.value, open: path });
  document.getElementById(tabId(path))?.focus();
}

interface NameForm {
  element: HTMLElement;
  ask(first: string, problemOf: (path: string) => keyof typeof t.program.nameProblems | null, onName: (path: string) => void): void;
}

/** A field for the name of a file. It is hidden until it is needed. */
function nameForm(): NameForm {
  const texts = t.program;
  const input = h("input", {
    type: "text",
    id: "program-name",
    class: "mono",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    maxlength: 200,
    "aria-describedby": "program-name-error",
    "data-testid": "program-name",
  });
  const error = h("p", { class: "error", role: "alert", id: "program-name-error", "data-testid": "program-name-error" });
  const cancel = h("button", { type: "button", class: "plain" }, texts.cancel);
  const form = h(
    "form",
    { class: "program-name", hidden: true, novalidate: true },
    h("label", { for: input.id }, texts.name),
    h("div", { class: "row" }, input, h("button", { class: "primary", "data-testid": "program-name-ok" }, texts.nameButton), cancel),
    error,
  );
  let asked: Parameters<NameForm["ask"]> | null = null;
  let before: Element | null = null;
  const close = (): void => {
    asked = null;
    show(form, false);
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!asked) return;
    const [, problemOf, onName] = asked;
    const path = input.value.trim();
    const problem = problemOf(path);
    write(error, problem ? texts.nameProblems[problem](path) : "");
    if (problem) return input.focus();
    close();
    onName(path);
  });
  cancel.addEventListener("click", close);
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  return {
    element: form,
    ask(...question) {
      asked = question;
      before = document.activeElement;
      input.value = question[0];
      write(error, "");
      show(form, true);
      input.focus();
      // Selects the name without its ending, because a person usually changes only this part.
      input.setSelectionRange(question[0].lastIndexOf("/") + 1, question[0].replace(/\.\w+$/, "").length);
    },
  };
}

/**
 * The line that offers to restore a deleted file, until the user creates, renames or deletes a
 * file.
 */
function undoLine(store: DraftStore): { element: HTMLElement; offer(file: DraftFile, at: number): void; clear(): void } {
  const text = h("span", {});
  const button = h("button", { type: "button", class: "plain", "data-testid": "program-undo" }, icon("undo"), t.program.undo);
  const element = h("div", { class: "row program-undo", role: "status", hidden: true }, text, button);
  let deleted: { file: DraftFile; at: number } | null = null;
  const clear = (): void => {
    deleted = null;
    show(element, false);
  };
  button.addEventListener("click", () => {
    if (deleted) store.change(restored(store.draft.value, deleted.file, deleted.at));
    clear();
  });
  return {
    element,
    clear,
    offer(file, at) {
      deleted = { file, at };
      write(text, t.program.removed(file.path));
      show(element, true);
      button.focus();
    },
  };
}

/** Downloads the only file, or an archive of all files. */
async function download({ files, open }: Draft): Promise<void> {
  const encoder = new TextEncoder();
  const isOne = files.length === 1;
  const data = isOne
    ? new Blob([files[0].text], { type: "text/plain" })
    : await zip(files.map(({ path, text }) => ({ name: path, bytes: encoder.encode(text) })));
  saveBlob(data, isOne ? open.slice(open.lastIndexOf("/") + 1) : "program.zip");
}

/**
 * The draft with a file from the workspace or an example. If the draft has another file with the
 * same path, the new file gets another name.
 */
export function withAdded(draft: Draft, file: DraftFile): Draft {
  if (textOf(draft, file.path) === file.text) return { ...draft, open: file.path };
  return withFile(draft, { path: freePath(file.path, pathsOf(draft)), text: file.text });
}
