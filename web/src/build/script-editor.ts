/**
 * The Python editor of judging scripts. The page loads this module only when a script is edited,
 * because the editor is larger than the rest of the page.
 */
import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python, pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { t } from "../strings.ts";
import type { ScriptCheck } from "./client.ts";
import { SCRIPT_NAMES, SIM_NAMES, type SimPath } from "./sim-names.ts";

export interface ScriptEditor {
  element: HTMLElement;
  text(): string;
  /** Replaces the text, for example after another person has changed the file. */
  setText(text: string): void;
  setErrors(errors: ScriptCheck["errors"]): void;
  /** Moves the cursor to a line, which counts from 1. */
  goTo(line: number): void;
  destroy(): void;
}

/** The names after a dot, as the completion shows them. */
function completionsOf(path: SimPath): Completion[] {
  const info = t.buildTabs.simNames[path] as Readonly<Record<string, string>>;
  const names: Readonly<Record<string, string | null>> = SIM_NAMES[path];
  return Object.entries(names).map(([label, args]) => ({
    label,
    type: args === null ? "property" : "method",
    detail: args === null ? undefined : `(${args})`,
    info: info[label],
  }));
}

const isPath = (text: string): text is SimPath => Object.hasOwn(SIM_NAMES, text);

/** Completes the names of `sim` and its parts, and the names that a script defines. */
export function simCompletions(context: CompletionContext): CompletionResult | null {
  const dotted = context.matchBefore(/\bsim(?:\.\w+)*\.\w*$/);
  if (dotted) {
    const dot = dotted.text.lastIndexOf(".");
    const path = dotted.text.slice(0, dot);
    return isPath(path) ? { from: dotted.from + dot + 1, options: completionsOf(path), validFor: /^\w*$/ } : null;
  }
  const word = context.matchBefore(/(?<![.\w])\w+$/);
  if (!word) return null;
  const options = ["sim", ...SCRIPT_NAMES].map((label) => ({
    label,
    type: label === "SimError" ? "class" : "variable",
  }));
  return { from: word.from, options, validFor: /^\w*$/ };
}

/** The errors of the check at their lines. An error of the whole script is shown at its first line. */
export function diagnosticsOf(state: EditorState, errors: ScriptCheck["errors"]): Diagnostic[] {
  return errors.map((error) => {
    // The script may have become shorter since the check.
    const line = state.doc.line(Math.min(Math.max(1, error.line ?? 1), state.doc.lines));
    return { from: line.from, to: line.to, severity: "error", message: error.text };
  });
}

export function scriptEditor(options: {
  text: string;
  label: string;
  describedBy: string;
  onChange: (text: string) => void;
  onBlur: () => void;
}): ScriptEditor {
  let isQuiet = false;
  const view = new EditorView({
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(),
        highlightActiveLineGutter(),
        highlightActiveLine(),
        history(),
        drawSelection(),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        autocompletion(),
        python(),
        pythonLanguage.data.of({ autocomplete: simCompletions }),
        syntaxHighlighting(classHighlighter),
        lintGutter(),
        // Tab accepts a completion or indents. After Escape, the next Tab leaves the editor.
        keymap.of([
          { key: "Tab", run: acceptCompletion },
          ...closeBracketsKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          ...completionKeymap,
          indentWithTab,
        ]),
        EditorView.contentAttributes.of({
          "aria-label": options.label,
          "aria-describedby": options.describedBy,
          tabindex: "0",
          "data-testid": "script-text",
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isQuiet) options.onChange(update.state.doc.toString());
          if (update.focusChanged && !update.view.hasFocus) options.onBlur();
        }),
      ],
    }),
  });
  return {
    element: view.dom,
    text: () => view.state.doc.toString(),
    setText(text) {
      if (text === view.state.doc.toString()) return;
      // The text comes from the server, so it must not be saved again.
      isQuiet = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      isQuiet = false;
    },
    setErrors: (errors) => view.dispatch(setDiagnostics(view.state, diagnosticsOf(view.state, errors))),
    goTo(line) {
      const at = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines)).from;
      view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}
