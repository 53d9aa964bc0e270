/** The Python editor of judging scripts, which completes the names of `sim`. */
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { t } from "../strings.ts";
import { type PythonEditor, pythonEditor } from "../ui/python-editor.ts";
import { SCRIPT_NAMES, SIM_NAMES, type SimPath } from "./sim-names.ts";

export type ScriptEditor = PythonEditor;

/** The names that can follow `path` and a dot, as the completion shows them. */
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

export function scriptEditor(options: {
  text: string;
  label: string;
  describedBy: string;
  onChange: (text: string) => void;
  onBlur: () => void;
}): ScriptEditor {
  return pythonEditor({ ...options, testid: "script-text", complete: simCompletions });
}
