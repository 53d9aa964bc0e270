/**
 * A Python editor. Pages load this module only when a person edits a text, because the code of the
 * editor is larger than the rest of a page.
 */
import "../style/editor.css";
import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  type CompletionSource,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python, pythonLanguage } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import {
  type Command,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

/** An error of a text. An error without a line belongs to the whole text. */
export interface TextError {
  /** Line number, counted from 1. */
  line?: number | null;
  text: string;
}

export interface PythonEditor {
  element: HTMLElement;
  text(): string;
  /** Replaces the text, for example after another person has changed the file. */
  setText(text: string): void;
  setErrors(errors: readonly TextError[]): void;
  /** Moves the cursor to a line, counted from 1. */
  goTo(line: number): void;
  destroy(): void;
}

/** The errors at their lines. An error of the whole text is shown at its first line. */
export function diagnosticsOf(state: EditorState, errors: readonly TextError[]): Diagnostic[] {
  return errors.map((error) => {
    // The text may have become shorter since the check.
    const line = state.doc.line(Math.min(Math.max(1, error.line ?? 1), state.doc.lines));
    return { from: line.from, to: line.to, severity: "error", message: error.text };
  });
}

/**
 * The command of the Tab key: accepts a completion. CodeMirror accepts none for a moment after it
 * has opened the list of completions, and while it computes the list again. During this time the
 * Tab key does nothing, because it would otherwise indent the line and close the list. The command
 * looks for the list in the page, because the status of CodeMirror does not tell whether the list
 * is shown: it is "pending" as soon as one of several sources is pending.
 */
const acceptOrWait: Command = (view) =>
  acceptCompletion(view) || view.dom.querySelector(".cm-tooltip-autocomplete") !== null;

export function pythonEditor(options: {
  text: string;
  label: string;
  describedBy: string;
  testid: string;
  complete: CompletionSource;
  onChange: (text: string) => void;
  onBlur?: () => void;
  /** Called for Ctrl+Enter, or Cmd+Enter on a Mac. */
  onRun?: () => void;
}): PythonEditor {
  let isQuiet = false;
  const { onRun } = options;
  const runKeys = onRun ? [{ key: "Mod-Enter", run: () => (onRun(), true) }] : [];
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
        pythonLanguage.data.of({ autocomplete: options.complete }),
        syntaxHighlighting(classHighlighter),
        lintGutter(),
        // Tab accepts a completion or indents. After Escape, the next Tab leaves the editor.
        keymap.of([
          ...runKeys,
          { key: "Tab", run: acceptOrWait },
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
          "data-testid": options.testid,
        }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isQuiet) options.onChange(update.state.doc.toString());
          if (update.focusChanged && !update.view.hasFocus) options.onBlur?.();
        }),
      ],
    }),
  });
  return {
    element: view.dom,
    text: () => view.state.doc.toString(),
    setText(text) {
      if (text === view.state.doc.toString()) return;
      // The caller already has this text, so the change must not be reported and saved again.
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
