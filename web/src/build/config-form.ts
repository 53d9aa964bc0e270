/** The form with the settings of an evaluation. */
import { t } from "../strings.ts";
import { type Child, h, show, write } from "../ui/dom.ts";
import { field, freshId, radios } from "./forms.ts";
import {
  type ConfigForm,
  type Group,
  GROUPS,
  MAX_DESCRIPTION,
  MAX_ROBOT,
  MAX_TIME_LIMIT_S,
  MIN_TIME_LIMIT_S,
  NUMBERS,
  rangeProblem,
  RANGES,
  type RangeSpec,
  type Surface,
  SURFACES,
} from "./rules-config.ts";

/** A part of the form. `show` displays values. A part calls its `Change` when the user edits. */
interface Part {
  element: HTMLElement;
  show(form: ConfigForm): void;
}

/** Changes some values of the form. `label` is the name of the changed setting. */
type Change = (label: string, change: Partial<ConfigForm>) => void;

export interface ConfigPanel {
  element: HTMLElement;
  show(form: ConfigForm): void;
}

/** Sets the value of a control, unless the user is typing in it. */
function setValue(control: HTMLInputElement | HTMLTextAreaElement, value: string): void {
  if (document.activeElement !== control && control.value !== value) control.value = value;
}

function taskPart(change: Change): Part {
  const texts = t.buildTabs.rules;
  const description = h("textarea", { rows: 3, maxlength: MAX_DESCRIPTION, "data-testid": "rules-description" });
  description.addEventListener("change", () => change(texts.description, { description: description.value }));
  const limit = h("input", {
    type: "number",
    min: MIN_TIME_LIMIT_S,
    max: MAX_TIME_LIMIT_S,
    step: "any",
    required: true,
    "data-testid": "rules-limit",
  });
  limit.addEventListener(
    "change",
    () => limit.reportValidity() && change(texts.limit, { time_limit_s: limit.valueAsNumber }),
  );
  const robot = h("input", { type: "text", required: true, maxlength: MAX_ROBOT, "data-testid": "rules-robot" });
  robot.addEventListener("change", () => robot.reportValidity() && change(texts.robot, { robot: robot.value.trim() }));
  const better = radios(
    texts.better,
    [
      ["lower", t.evaluation.better.lower],
      ["higher", t.evaluation.better.higher],
    ] as const,
    "lower",
    (chosen) => change(texts.better, { better: chosen }),
  );
  return {
    element: h(
      "div",
      { class: "form-stack" },
      field(texts.description, description, texts.descriptionHelp),
      better,
      h("div", { class: "form-pair" }, field(texts.limit, limit), field(texts.robot, robot)),
    ),
    show(form) {
      setValue(description, form.description);
      setValue(limit, String(form.time_limit_s));
      setValue(robot, form.robot);
      for (const input of better.querySelectorAll("input")) input.checked = input.value === form.better;
    },
  };
}

function checkbox(
  label: string,
  testid: string,
  onChange: (isOn: boolean) => void,
): { element: HTMLElement; input: HTMLInputElement } {
  const input = h("input", { type: "checkbox", "data-testid": testid });
  input.addEventListener("change", () => onChange(input.checked));
  return { element: h("label", { class: "choice" }, input, h("span", {}, label)), input };
}

/** The fields that choose which groups of API paths the judged program may use. */
function allowPart(change: Change): Part {
  const texts = t.buildTabs.rules;
  let allow: readonly Group[] | null = null;
  const boxes = GROUPS.map((group) =>
    checkbox(texts.groups[group], `allow-${group}`, (isOn) => {
      const chosen = GROUPS.filter((one) => (one === group ? isOn : allow?.includes(one)));
      change(texts.allow, { allow: chosen });
    }),
  );
  const own = h(
    "fieldset",
    { class: "choices nested" },
    h("legend", { class: "unseen" }, texts.allowOwn),
    ...boxes.map((box) => box.element),
  );
  const choice = radios(
    texts.allow,
    [
      ["usual", texts.allowUsual],
      ["own", texts.allowOwn],
    ] as const,
    "usual",
    (chosen) => change(texts.allow, { allow: chosen === "usual" ? null : ["state", "step"] }),
  );
  return {
    element: h("div", { class: "form-stack" }, choice, own),
    show(form) {
      allow = form.allow;
      show(own, allow !== null);
      for (const input of choice.querySelectorAll("input"))
        input.checked = (input.value === "own") === (allow !== null);
      GROUPS.forEach((group, i) => (boxes[i].input.checked = allow?.includes(group) ?? false));
    },
  };
}

/** The row for one range from which a seed chooses a value: a switch and two bounds. */
function rangeRow(spec: RangeSpec, current: () => ConfigForm, change: Change): Part {
  const texts = t.buildTabs.rules;
  const name = texts.vary[spec.path as keyof typeof texts.vary];
  const bound = (label: string): HTMLInputElement =>
    h("input", {
      type: "number",
      min: spec.low,
      max: spec.high,
      step: "any",
      "aria-label": texts.boundOf(label, name),
    });
  const [least, most] = [bound(texts.least), bound(texts.most)];
  const problem = h("p", { class: "error", role: "alert", hidden: true });
  const set = (range: readonly [number, number] | null): void => {
    const { vary } = current();
    const { [spec.path]: _, ...others } = vary.ranges;
    change(name, { vary: { ...vary, ranges: range ? { ...others, [spec.path]: range } : others } });
  };
  const box = checkbox(name, `vary-${spec.path}`, (isOn) => set(isOn ? spec.usual : null));
  const read = (): void => {
    const range = [least.valueAsNumber, most.valueAsNumber] as const;
    const wrong = range.some(Number.isNaN) ? "limits" : rangeProblem(spec, range);
    write(problem, wrong ? texts.rangeProblems[wrong](String(spec.low), String(spec.high)) : "");
    show(problem, wrong !== null);
    if (!wrong) set(range);
  };
  for (const input of [least, most]) input.addEventListener("change", read);
  const bounds = h("div", { class: "row bounds" }, least, h("span", { "aria-hidden": "true" }, texts.to), most);
  return {
    element: h("div", { class: "vary-row" }, box.element, bounds, problem),
    show(form) {
      const range = form.vary.ranges[spec.path];
      box.input.checked = range !== undefined;
      show(bounds, range !== undefined);
      if (!range) return show(problem, false);
      // Invalid bounds are not overwritten, so that the user can correct them.
      if (!problem.hidden) return;
      setValue(least, String(range[0]));
      setValue(most, String(range[1]));
    },
  };
}

/** The field for one number: the largest change that a seed may make. */
function numberRow(spec: (typeof NUMBERS)[number], current: () => ConfigForm, change: Change): Part {
  const texts = t.buildTabs.rules;
  const name = texts.vary[spec.path as keyof typeof texts.vary];
  const input = h("input", {
    type: "number",
    min: 0,
    max: spec.high,
    step: "any",
    required: true,
    "aria-label": texts.boundOf(texts.most, name),
  });
  const set = (value: number | null): void => {
    const { vary } = current();
    const { [spec.path]: _, ...others } = vary.numbers;
    change(name, { vary: { ...vary, numbers: value ? { ...others, [spec.path]: value } : others } });
  };
  const box = checkbox(name, `vary-${spec.path}`, (isOn) => set(isOn ? spec.usual : null));
  input.addEventListener("change", () => input.reportValidity() && set(input.valueAsNumber));
  const bounds = h("div", { class: "row bounds" }, input);
  return {
    element: h("div", { class: "vary-row" }, box.element, bounds),
    show(form) {
      const value = form.vary.numbers[spec.path];
      box.input.checked = value !== undefined;
      show(bounds, value !== undefined);
      if (value !== undefined) setValue(input, String(value));
    },
  };
}

function surfaceRow(current: () => ConfigForm, change: Change): Part {
  const texts = t.buildTabs.rules;
  const boxes = SURFACES.map((name) =>
    checkbox(texts.surfaces[name], `vary-surface-${name}`, (isOn) => {
      const { vary } = current();
      const surface: Surface[] = SURFACES.filter((one) => (one === name ? isOn : vary.surface.includes(one)));
      change(texts.surface, { vary: { ...vary, surface } });
    }),
  );
  return {
    element: h(
      "fieldset",
      { class: "choices" },
      h("legend", {}, texts.surface),
      h("div", { class: "row wrap" }, ...boxes.map((box) => box.element)),
    ),
    show: (form) => SURFACES.forEach((name, i) => (boxes[i].input.checked = form.vary.surface.includes(name))),
  };
}

function section(title: string, help: string, ...children: Child[]): HTMLElement {
  const id = freshId("section");
  return h(
    "details",
    { class: "rules-section" },
    h("summary", { id }, title),
    h("p", { class: "hint" }, help),
    ...children,
  );
}

/** The form. `onChange` gets the name of the changed setting and all values. */
export function configPanel(onChange: (label: string, form: ConfigForm) => void, first: ConfigForm): ConfigPanel {
  const texts = t.buildTabs.rules;
  let form = first;
  const current = (): ConfigForm => form;
  const change: Change = (label, changed) => {
    form = { ...form, ...changed };
    onChange(label, form);
  };
  const task = taskPart(change);
  const allow = allowPart(change);
  const vary: Part[] = [
    ...RANGES.map((spec) => rangeRow(spec, current, change)),
    ...NUMBERS.map((spec) => numberRow(spec, current, change)),
    surfaceRow(current, change),
  ];
  const parts = [task, allow, ...vary];
  const element = h(
    "div",
    { class: "form-stack", "data-testid": "rules-config" },
    task.element,
    section(texts.allowTitle, texts.allowHelp, allow.element),
    section(texts.varyTitle, texts.varyHelp, ...vary.map((part) => part.element)),
  );
  const showAll = (values: ConfigForm): void => {
    form = values;
    for (const part of parts) part.show(values);
  };
  showAll(first);
  return { element, show: showAll };
}
