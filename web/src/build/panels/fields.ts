/** The fields of the inspector. A field shows a value of the document and changes it. */
import { t } from "../../strings.ts";
import { toggle } from "../../ui/card.ts";
import { h, setAttribute } from "../../ui/dom.ts";
import { fixed } from "../../ui/format.ts";
import type { ProjectDocument } from "../document.ts";
import type { EditorSession } from "../session.ts";

export interface FormField {
  element: HTMLElement;
  /** Shows the value of the document. */
  update(document: ProjectDocument): void;
}

let count = 0;

/** A field for a number. The up and down arrow keys change it by a step. */
export function numberField(
  session: EditorSession,
  options: {
    label: string;
    unit: string;
    min: number;
    max: number;
    step: number;
    decimals?: number;
    testid: string;
    /**
     * The shown value is the value in the document times this factor, for example 180/π for
     * degrees.
     */
    factor?: number;
    read(document: ProjectDocument): number | null;
    write(draft: ProjectDocument, value: number): void;
  },
): FormField {
  const { label, min, max, step, factor = 1, decimals = 3 } = options;
  const id = `build-field-${++count}`;
  const input = h("input", { id, type: "text", inputmode: "decimal", autocomplete: "off", "data-testid": options.testid });
  const text = (value: number | null) => (value === null ? "" : String(Number(fixed(value * factor, decimals))));
  let shown = "";
  const update = (document: ProjectDocument) => {
    shown = text(options.read(document));
    if (input.value !== shown && input !== globalThis.document.activeElement) input.value = shown;
  };
  const set = (value: number) => {
    session.apply(t.build.steps.field(label), (draft) => options.write(draft, value / factor));
    input.value = shown = text(options.read(session.document.value));
  };
  input.addEventListener("change", () => {
    const value = Number(input.value.trim().replace(",", "."));
    if (input.value.trim() === shown) return;
    if (input.value.trim() === "" || !Number.isFinite(value) || value < min || value > max) {
      session.say(t.build.notANumber(label, String(min), String(max)));
      input.value = shown;
      return;
    }
    set(value);
  });
  input.addEventListener("keydown", (event) => {
    const by = { ArrowUp: step, ArrowDown: -step }[event.key];
    if (by === undefined) {
      if (event.key === "Enter") input.blur();
      return;
    }
    event.preventDefault();
    set(Math.min(max, Math.max(min, Number(fixed((Number(input.value) || 0) + by, decimals)))));
  });
  const element = h(
    "div",
    { class: "build-field" },
    h("label", { for: id }, label),
    h("span", { class: "build-unit", "data-unit": options.unit }, input),
  );
  return { element, update };
}

/** A field for a text. `write` returns why the text is refused, or null. */
export function textField(
  session: EditorSession,
  options: {
    label: string;
    testid: string;
    maxLength: number;
    read(document: ProjectDocument): string;
    write(text: string): string | null;
  },
): FormField {
  const id = `build-field-${++count}`;
  const input = h("input", {
    id,
    type: "text",
    maxlength: options.maxLength,
    autocomplete: "off",
    spellcheck: "false",
    "data-testid": options.testid,
  });
  const update = (document: ProjectDocument) => {
    const text = options.read(document);
    if (input.value !== text && input !== globalThis.document.activeElement) input.value = text;
  };
  input.addEventListener("change", () => {
    const refused = options.write(input.value);
    if (refused === null) return;
    session.say(refused);
    input.value = options.read(session.document.value);
  });
  input.addEventListener("keydown", (event) => event.key === "Enter" && input.blur());
  return { element: h("div", { class: "build-field wide-field" }, h("label", { for: id }, options.label), input), update };
}

/** A field with a switch. */
export function toggleField(
  session: EditorSession,
  options: {
    label: string;
    testid: string;
    read(document: ProjectDocument): boolean;
    write(draft: ProjectDocument, value: boolean): void;
  },
): FormField {
  const { element, input } = toggle(options.label, options.label, options.testid);
  element.classList.add("wide-field");
  input.addEventListener("change", () => {
    const { checked } = input;
    session.apply(t.build.steps.field(options.label), (draft) => options.write(draft, checked));
  });
  return { element, update: (document) => (input.checked = options.read(document)) };
}

/**
 * A field for a colour. While the document has no colour, the field shows the colour `usual`. If
 * the document has a colour, a button beside the field removes it from the document.
 */
export function colourField(
  session: EditorSession,
  options: {
    label: string;
    testid: string;
    usual: string;
    read(document: ProjectDocument): string | null;
    write(draft: ProjectDocument, colour: string | null): void;
  },
): FormField {
  const id = `build-field-${++count}`;
  const input = h("input", { id, type: "color", "data-testid": options.testid });
  const change = (colour: string | null) =>
    session.apply(t.build.steps.field(options.label), (draft) => options.write(draft, colour));
  // The browser sends `input` for every change in its colour dialog. All these changes together are
  // one undo step.
  input.addEventListener("input", () => {
    session.begin(t.build.steps.field(options.label));
    session.drag((draft) => options.write(draft, input.value));
  });
  input.addEventListener("change", () => {
    session.begin(t.build.steps.field(options.label));
    session.drag((draft) => options.write(draft, input.value));
    session.commit();
  });
  const reset = h(
    "button",
    { type: "button", class: "quiet small", "data-testid": `${options.testid}-reset`, on: { click: () => change(null) } },
    t.build.inspector.standardColour,
  );
  const update = (document: ProjectDocument) => {
    const colour = options.read(document);
    input.value = colour ?? options.usual;
    reset.hidden = colour === null;
  };
  const element = h(
    "div",
    { class: "build-field wide-field colour-field" },
    h("label", { for: id }, options.label),
    h("span", { class: "row" }, reset, input),
  );
  return { element, update };
}

/** A choice from a list. */
export function selectField(options: {
  label: string;
  testid: string;
  choices: Readonly<Record<string, string>>;
  read(document: ProjectDocument): string;
  choose(value: string): void;
}): FormField {
  const id = `build-field-${++count}`;
  const select = h(
    "select",
    { id, "data-testid": options.testid },
    ...Object.entries(options.choices).map(([value, text]) => h("option", { value }, text)),
  );
  select.addEventListener("change", () => options.choose(select.value));
  const element = h(
    "div",
    { class: "build-field wide-field" },
    h("label", { for: id }, options.label),
    h("span", { class: "select" }, select),
  );
  return { element, update: (document) => (select.value = options.read(document)) };
}

/** A section of the inspector with a heading. */
export function section(title: string, fields: readonly (FormField | HTMLElement)[], testid: string): FormField {
  const heading = h("h2", {}, title);
  const elements = fields.map((field) => (field instanceof HTMLElement ? field : field.element));
  const element = h("section", { class: "build-section", "data-testid": testid }, heading, ...elements);
  const update = (document: ProjectDocument) => {
    for (const field of fields) if (!(field instanceof HTMLElement)) field.update(document);
  };
  return { element, update };
}

/** Shows a field only if a condition holds. */
export function shownIf(field: FormField, condition: (document: ProjectDocument) => boolean): FormField {
  const update = (document: ProjectDocument) => {
    const isShown = condition(document);
    setAttribute(field.element, "hidden", !isShown);
    if (isShown) field.update(document);
  };
  return { element: field.element, update };
}
