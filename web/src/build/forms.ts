/** Parts of forms that the lists, tabs and dialogs of the builder share. */
import { ApiError } from "../net/api.ts";
import { t } from "../strings.ts";
import { dialog } from "../ui/dialog.ts";
import { type Child, h, show, write } from "../ui/dom.ts";
import type { IconName } from "../ui/icons.ts";
import { messageOf } from "../ui/platform.ts";
import { findingsOf } from "./client.ts";

let count = 0;

/** An id that no other element of the page has. */
export function freshId(word: string): string {
  return `${word}-${++count}`;
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** A control below its label, with an optional line of help. */
export function field(label: string, control: Control, help?: string): HTMLElement {
  control.id ||= freshId("field");
  const hint = help === undefined ? null : h("p", { class: "hint", id: `${control.id}-help` }, help);
  if (hint) control.setAttribute("aria-describedby", hint.id);
  const shown = control instanceof HTMLSelectElement ? h("div", { class: "select" }, control) : control;
  return h("div", { class: "form-field" }, h("label", { for: control.id }, label), shown, hint);
}

/** A list of options. The value of the element is the value of the chosen option. */
export function select(options: readonly (readonly [value: string, text: string])[], value: string): HTMLSelectElement {
  const element = h("select", {}, ...options.map(([key, text]) => h("option", { value: key }, text)));
  element.value = value;
  return element;
}

/** A group of radio buttons. Calls `onChange` with the chosen value. */
export function radios<T extends string>(
  legend: string,
  options: readonly (readonly [value: T, text: string])[],
  value: T,
  onChange: (value: T) => void,
): HTMLFieldSetElement {
  const name = freshId("choice");
  const option = ([key, text]: readonly [T, string]) =>
    h(
      "label",
      { class: "choice" },
      h("input", {
        type: "radio",
        name,
        value: key,
        checked: key === value,
        "data-testid": `${name.split("-")[0]}-${key}`,
        on: { change: () => onChange(key) },
      }),
      h("span", {}, text),
    );
  return h("fieldset", { class: "choices" }, h("legend", {}, legend), ...options.map(option));
}

/** A labelled slider that shows its value. */
export function slider(options: {
  label: string;
  min: number;
  max: number;
  step: number;
  value: number;
  text: (value: number) => string;
  testid: string;
}): { element: HTMLElement; input: HTMLInputElement; value: () => number } {
  const { label, min, max, step, value } = options;
  const id = freshId("slider");
  const input = h("input", { id, type: "range", min, max, step, value, "data-testid": options.testid });
  const shown = h("output", { class: "slider-value", for: id });
  const update = (): void => {
    const text = options.text(input.valueAsNumber);
    input.style.setProperty("--part", String((input.valueAsNumber - min) / (max - min)));
    input.setAttribute("aria-valuetext", text);
    write(shown, text);
  };
  input.addEventListener("input", update);
  update();
  const element = h(
    "div",
    { class: "form-slider" },
    h("label", { for: id }, label),
    h("div", { class: "slider wide" }, input, shown),
  );
  return { element, input, value: () => input.valueAsNumber };
}

/** A line that shows why an action failed. Screen readers read it immediately. */
export interface ErrorLine {
  element: HTMLElement;
  clear(): void;
  show(error: unknown): void;
}

export function errorLine(testid: string): ErrorLine {
  const element = h("p", { class: "error", role: "alert", hidden: true, "data-testid": testid });
  const set = (text: string): void => {
    write(element, text);
    show(element, text !== "");
  };
  return { element, clear: () => set(""), show: (error) => set(errorText(error)) };
}

/** The largest number of errors of a project that a message names. */
const MAX_NAMED = 3;

/**
 * The message of an error. It says what to do if the user is signed out, and names the errors of
 * the project that must be fixed.
 */
export function errorText(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) return t.buildTabs.signedOut;
  const findings = findingsOf(error);
  const named = findings.slice(0, MAX_NAMED).map((finding) => finding.text);
  return named.length === 0 ? messageOf(error) : t.buildTabs.mustBeFixed(findings.length, named.join(" "));
}

/**
 * Runs the action of a button. The button is disabled until the action has ended, so that a second
 * click does not repeat it. Returns undefined if the action failed.
 */
export async function busy<T>(
  button: HTMLButtonElement,
  error: ErrorLine,
  action: () => Promise<T>,
): Promise<T | undefined> {
  error.clear();
  button.disabled = true;
  try {
    return await action();
  } catch (problem) {
    error.show(problem);
    return undefined;
  } finally {
    button.disabled = false;
  }
}

/**
 * Opens a dialog. When the dialog is closed, it is removed from the page, and the element that had
 * the focus before gets it back.
 */
export function openDialog(
  options: { icon: IconName; title: string; testid: string; class?: string },
  ...children: Child[]
): HTMLDialogElement {
  const { element, body } = dialog({ ...options, close: t.buildTabs.close });
  if (options.class) element.classList.add(options.class);
  element.classList.add("build-dialog");
  const focused = document.activeElement;
  body.append(...children.flat().filter((child): child is Node | string => Boolean(child)));
  element.addEventListener("close", () => {
    element.remove();
    if (focused instanceof HTMLElement) focused.focus();
  });
  document.body.append(element);
  element.showModal();
  return element;
}

/** A number of bytes for display. */
export function bytesText(bytes: number): string {
  const texts = t.buildTabs;
  if (bytes < 1e6) return texts.kilobytes(String(Math.max(1, Math.round(bytes / 1e3))));
  if (bytes < 1e9) return texts.megabytes((bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0));
  return texts.gigabytes((bytes / 1e9).toFixed(1));
}

/** A length in metres for display. */
export function metres(value: number): string {
  return t.units.metres(String(Number(value.toFixed(2))));
}

/**
 * Date and time for display. For a text that is not a time, returns the sign for an unknown value.
 */
export function dateText(at: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return t.units.none;
  return new Intl.DateTimeFormat(t.language, { dateStyle: "medium", timeStyle: "short" }).format(time);
}

/** Makes the name of a world from a title: 1 to 64 lower-case letters, digits and underscores. */
export function worldName(title: string): string {
  const plain = title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  return plain.slice(0, 64) || "world";
}

/** A hidden file field, and the button that opens it. */
export function fileChooser(
  text: string,
  accept: string,
  testid: string,
  onFile: (file: File, button: HTMLButtonElement) => void,
): [HTMLInputElement, HTMLButtonElement] {
  const input = h("input", { type: "file", accept, hidden: true, "data-testid": `${testid}-file` });
  const button = h(
    "button",
    { type: "button", class: "plain", "data-testid": testid, on: { click: () => input.click() } },
    text,
  );
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    if (file) onFile(file, button);
    // Without this reset, choosing the same file again would cause no event.
    input.value = "";
  });
  return [input, button];
}
