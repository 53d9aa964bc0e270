/**
 * The editors of the draft: one for each file that was opened, so that every file has its own undo
 * history.
 */
import { t } from "../strings.ts";
import { fill, h, setAttribute } from "../ui/dom.ts";
import { type PythonEditor, pythonEditor } from "../ui/python-editor.ts";
import { packageCompletions } from "./chicane-names.ts";
import { pathsOf, textOf, withText } from "./draft.ts";
import type { DraftStore } from "./draft-store.ts";
import type { DraftError } from "./traceback.ts";

export interface Editors {
  element: HTMLElement;
  /** Opens a file at a line, and focuses its editor. */
  goTo(path: string, line: number): void;
  /** Marks an error; null removes all marks. */
  setError(error: DraftError | null): void;
}

export function editors(store: DraftStore, tabId: (path: string) => string, onRun: () => void): Editors {
  const help = h("p", { class: "hint", id: "program-editor-help" }, t.program.editorHelp);
  const place = h("div", { class: "program-editor" });
  const element = h("div", { class: "program-text", role: "tabpanel", id: "program-text" }, place, help);
  const made = new Map<string, PythonEditor>();
  let shown: string | null = null;

  function editorOf(path: string): PythonEditor {
    const known = made.get(path);
    if (known) return known;
    const editor = pythonEditor({
      text: textOf(store.draft.value, path) ?? "",
      label: t.program.fileText(path),
      describedBy: help.id,
      testid: "program-text",
      complete: packageCompletions,
      onChange: (text) => store.change(withText(store.draft.value, path, text)),
      onRun,
    });
    made.set(path, editor);
    return editor;
  }

  store.draft.watch((draft) => {
    const paths = pathsOf(draft);
    for (const [path, editor] of made) {
      const text = textOf(draft, path);
      // The text of a file can also change by an undo or in another tab of the browser.
      if (text !== null) editor.setText(text);
      if (paths.includes(path)) continue;
      editor.destroy();
      made.delete(path);
    }
    const isNew = !made.has(draft.open);
    if (draft.open === shown && !isNew) return;
    shown = draft.open;
    help.hidden = draft.open === "";
    setAttribute(element, "aria-labelledby", draft.open ? tabId(draft.open) : null);
    setAttribute(element, "role", draft.open ? "tabpanel" : null);
    fill(place, draft.open === "" ? h("p", { class: "hint" }, t.program.noFiles) : editorOf(draft.open).element);
  });

  return {
    element,
    goTo(path, line) {
      store.change({ ...store.draft.value, open: path });
      editorOf(path).goTo(line);
    },
    setError(error) {
      for (const [path, editor] of made) editor.setErrors(error?.path === path ? [error] : []);
      if (error && !made.has(error.path)) editorOf(error.path).setErrors([error]);
    },
  };
}
