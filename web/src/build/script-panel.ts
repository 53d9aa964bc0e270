/** The judging script: a built-in one with its options, or a Python file of the project. */
import { t } from "../strings.ts";
import { fill, h, show, write } from "../ui/dom.ts";
import type { BuilderClient, ScriptTemplate } from "./client.ts";
import { type Constant, constantsOf, withConstant } from "./constants.ts";
import type { Editor } from "./editor.ts";
import { busy, type ErrorLine, errorLine, field, freshId, radios, select } from "./forms.ts";
import { type SaveState, ScriptFile } from "./script-file.ts";
import type { ScriptEditor } from "./script-editor.ts";

/** The file of a new script. */
const NEW_FILE = "rules.py";

type Script = string | { template: string } | undefined;

/** The options of a script as number fields. `onChange` gets the name and the new number. */
function optionFields(constants: readonly Constant[], onChange: (name: string, value: number) => void): HTMLElement {
  const rows = constants.map(({ name, value, meaning }) => {
    const input = h("input", { type: "number", step: "any", required: true, value, "data-testid": `option-${name}` });
    input.addEventListener("change", () => input.reportValidity() && onChange(name, input.valueAsNumber));
    return field(name, input, meaning);
  });
  return h(
    "details",
    { class: "rules-section", hidden: rows.length === 0 },
    h("summary", {}, t.buildTabs.rules.options),
    ...rows,
  );
}

/** The state of a file and the result of its check. */
function statusLine(file: ScriptFile, editor: ScriptEditor): HTMLElement {
  const texts = t.buildTabs.rules;
  const saved = h("p", { class: "hint", role: "status", "data-testid": "script-state" });
  const errors = h("ul", { class: "script-errors", "data-testid": "script-errors" });
  const checked = h("p", { class: "hint", role: "status", "data-testid": "script-check" });
  const buttons = h("div", { class: "row", hidden: true });
  const problem = errorLine("script-error");
  const load = h("button", { type: "button", class: "plain", "data-testid": "script-theirs" }, texts.loadTheirs);
  load.addEventListener("click", () => void busy(load, problem, async () => editor.setText((await file.load()) ?? "")));
  const keep = h("button", { type: "button", class: "plain", "data-testid": "script-mine" }, texts.keepMine);
  keep.addEventListener("click", () => void busy(keep, problem, () => file.keepMine()));
  buttons.append(load, keep);
  const stateTexts: Record<SaveState, () => string> = {
    saved: () => texts.saved,
    waiting: () => texts.saving,
    saving: () => texts.saving,
    failed: () => texts.notSaved(file.problem),
    theirs: () => texts.theirs,
  };
  file.save.watch((state) => {
    write(saved, stateTexts[state]());
    saved.classList.toggle("error", state === "failed" || state === "theirs");
    show(buttons, state === "theirs");
  });
  file.check.watch(({ isKnown, errors: found, problem: why }) => {
    editor.setErrors(found);
    write(
      checked,
      why
        ? texts.notChecked(why)
        : !isKnown
          ? texts.checking
          : found.length === 0
            ? texts.correct
            : texts.wrong(found.length),
    );
    fill(
      errors,
      ...found.map(({ line, text }) =>
        h(
          "li",
          {},
          line === null || line === undefined
            ? h("span", { class: "error" }, text)
            : h(
                "button",
                { type: "button", class: "plain", on: { click: () => editor.goTo(line) } },
                texts.atLine(line, text),
              ),
        ),
      ),
    );
  });
  return h("div", { class: "form-stack" }, saved, buttons, problem.element, checked, errors);
}

/** A file of the project in the Python editor. */
async function fileView(
  client: BuilderClient,
  editor: Editor,
  name: string,
): Promise<{ element: HTMLElement; close(): void }> {
  const texts = t.buildTabs.rules;
  const file = new ScriptFile(client, editor.id, name);
  const text = (await file.load()) ?? "";
  const { scriptEditor } = await import("./script-editor.ts");
  const help = freshId("script-help");
  const options = h("div", {});
  const drawOptions = (script: string): void => {
    const isOpen = options.querySelector("details")?.open ?? false;
    const fields = optionFields(constantsOf(script), (constant, value) => {
      const next = withConstant(view.text(), constant, value);
      view.setText(next);
      file.change(next);
    });
    if (fields instanceof HTMLDetailsElement) fields.open = isOpen;
    fill(options, fields);
  };
  const view = scriptEditor({
    text,
    label: texts.scriptOf(name),
    describedBy: help,
    onChange: (changed) => file.change(changed),
    onBlur: () => {
      void file.flush().catch(() => undefined);
      drawOptions(view.text());
    },
  });
  drawOptions(text);
  return {
    element: h(
      "div",
      { class: "form-stack" },
      options,
      view.element,
      h("p", { class: "hint", id: help }, texts.editorHelp),
      statusLine(file, view),
    ),
    close() {
      file.close();
      view.destroy();
    },
  };
}

/**
 * The options of a built-in script. If the user changes one, the script is copied to a file of the
 * project.
 */
function templateView(
  templates: readonly ScriptTemplate[],
  name: string,
  onTemplate: (name: string) => void,
  onOwn: (script: string) => void,
): HTMLElement {
  const texts = t.buildTabs.rules;
  const template = templates.find((one) => one.name === name);
  const known = templates.map((one) => [one.name, one.name] as const);
  const choice = select(template ? known : [...known, [name, name]], name);
  choice.dataset["testid"] = "rules-template";
  choice.addEventListener("change", () => onTemplate(choice.value));
  if (!template)
    return h(
      "div",
      { class: "form-stack" },
      field(texts.template, choice),
      h("p", { class: "error" }, texts.unknownTemplate(name)),
    );
  const edit = h(
    "button",
    { type: "button", class: "plain", "data-testid": "rules-edit", on: { click: () => onOwn(template.script) } },
    texts.edit,
  );
  return h(
    "div",
    { class: "form-stack" },
    field(texts.template, choice, template.description),
    optionFields(constantsOf(template.script), (constant, value) =>
      onOwn(withConstant(template.script, constant, value)),
    ),
    h("div", { class: "row" }, edit),
  );
}

/** Stores a script in the project and returns the name of its file. Existing scripts are kept. */
export async function storeScript(client: BuilderClient, id: string, script: string): Promise<string> {
  const taken = new Set((await client.read(id)).files.map((file) => file.name));
  let name = NEW_FILE;
  for (let number = 2; taken.has(name); number++) name = NEW_FILE.replace(".", `_${number}.`);
  await client.putFile(id, name, new Blob([script], { type: "text/x-python" }));
  return name;
}

/** The scripts that the project already has. */
async function scriptsOf(client: BuilderClient, id: string): Promise<string[]> {
  return (await client.read(id)).files.map((file) => file.name).filter((name) => name.endsWith(".py"));
}

/** The panel. It follows the document, also after undo and after changes by other editors. */
export function scriptPanel(editor: Editor, client: BuilderClient): HTMLElement {
  const texts = t.buildTabs.rules;
  const place = h("div", {});
  const error: ErrorLine = errorLine("rules-error");
  let close: (() => void) | null = null;
  let shown: string | null = null;
  let templates: readonly ScriptTemplate[] = [];

  const setScript = (script: Script): void =>
    editor.apply(texts.script, (draft) => {
      if (draft.evaluation) draft.evaluation.script = script;
    });
  const attempt = (action: () => Promise<void>): void => {
    error.clear();
    action().catch((problem: unknown) => error.show(problem));
  };
  const makeOwn = (script: string): void =>
    attempt(async () => setScript(await storeScript(client, editor.id, script)));

  const kinds = radios(
    texts.script,
    [
      ["template", texts.kinds.template],
      ["file", texts.kinds.file],
    ] as const,
    "template",
    (kind) => {
      if (kind === "template") return setScript({ template: templates[0]?.name ?? "lap_time" });
      attempt(async () => {
        // A script that the teacher wrote before is used again.
        const [own] = await scriptsOf(client, editor.id);
        setScript(own ?? (await storeScript(client, editor.id, templates[0]?.script ?? "")));
      });
    },
  );

  async function draw(script: Script): Promise<void> {
    // When the templates have arrived, a built-in script is drawn again, because its options come
    // from the templates. A file is not drawn again.
    const key = JSON.stringify(typeof script === "string" ? script : [script ?? null, templates.length]);
    if (key === shown) return;
    shown = key;
    close?.();
    close = null;
    for (const input of kinds.querySelectorAll("input"))
      input.checked = script !== undefined && (typeof script === "string") === (input.value === "file");
    if (typeof script !== "string") {
      fill(
        place,
        script === undefined
          ? h("p", { class: "note" }, texts.noScript)
          : templateView(templates, script.template, (template) => setScript({ template }), makeOwn),
      );
      return;
    }
    fill(place, h("p", { class: "hint" }, texts.loading));
    const view = await fileView(client, editor, script);
    // The document may have changed while the file was loaded.
    if (shown !== key) return view.close();
    close = view.close;
    fill(place, view.element);
  }

  const follow = (): void => attempt(() => draw(editor.document.value.evaluation?.script));
  attempt(async () => {
    templates = await client.templates();
    follow();
  });
  editor.document.watch(follow);
  return h("section", { class: "form-stack" }, kinds, error.element, place);
}
