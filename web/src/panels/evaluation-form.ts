/** Description of the evaluation, and the form that starts a run. */
import { type App, attempt } from "../app.ts";
import { post } from "../net/api.ts";
import { beganOnThisServer } from "../net/server-start.ts";
import { t } from "../strings.ts";
import { toggle } from "../ui/card.ts";
import { h, show, write } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";
import { persistedSignal } from "../ui/signal.ts";
import type { StartRequest, StudentNetwork } from "../wire/sim.ts";
import { MAX_SEED, variesWithSeed } from "./seed.ts";

/** Longest name of a student, as the server accepts it. */
const MAX_STUDENT = 200;
/** Largest wall-clock limit, real seconds. */
const MAX_WALL_LIMIT_S = 86_400;

const isText = (value: unknown): value is string => typeof value === "string";
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";

/** The wall-clock limit that the server uses if the request has none, real seconds. */
export function defaultWallLimit(timeLimitS: number): number {
  return Math.min(MAX_WALL_LIMIT_S, Math.max(120, 5 * timeLimitS));
}

/**
 * Why programs with this network access can't run in virtual time; null if they can, or if the
 * network access is unknown.
 */
export function noVirtualTime(network: StudentNetwork | null): string | null {
  return network === null || network === "none" ? null : t.evaluation.notRepeatable[network];
}

export function setupForm(app: App): HTMLElement {
  const command = persistedSignal("command", "", isText);
  const about = h("p", { class: "about" });
  const better = h("p", { class: "hint" });
  const program = h("input", {
    type: "text",
    id: "eval-command",
    class: "mono",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 1000,
    placeholder: t.evaluation.commandHint,
    "data-testid": "eval-command",
  });
  const limit = h("input", {
    type: "number",
    id: "eval-limit",
    min: 1,
    max: 3600,
    step: "any",
    "data-testid": "eval-limit",
  });
  const repeatable = repeatableSwitch(app, program);
  const advanced = advancedFields(app, limit);
  const button = h("button", { class: "primary wide", "data-testid": "eval-start" }, icon("flag"), t.evaluation.start);
  program.value = command.value;
  repeatable.update();
  const form = h(
    "form",
    { class: "setup" },
    about,
    better,
    h("label", { for: "eval-command" }, t.evaluation.command),
    program,
    h("p", { class: "hint" }, t.evaluation.commandHelp),
    repeatable.element,
    h("label", { for: "eval-limit" }, t.evaluation.limit),
    limit,
    advanced.element,
    button,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    command.value = program.value.trim();
    const body: StartRequest = {
      ...(command.value && { command: command.value, ...repeatable.chosen() }),
      ...(limit.value && { time_limit_s: Number(limit.value) }),
      ...advanced.chosen(),
    };
    button.disabled = true;
    void attempt(app, post("/evaluation/start", body)).then(() => (button.disabled = false));
  });
  app.evaluation.watch((document) => {
    const config = document?.config;
    write(about, config?.description ?? "");
    write(
      better,
      config?.better === "higher"
        ? t.evaluation.better.higher
        : config?.better === "lower"
          ? t.evaluation.better.lower
          : "",
    );
    limit.value = config?.time_limit_s === undefined ? "" : String(config.time_limit_s);
    advanced.update();
    program.placeholder = config?.run_command ?? t.evaluation.commandHint;
  });
  return form;
}

/** The switch for virtual time. It is hidden while the field `program` is empty. */
function repeatableSwitch(
  app: App,
  program: HTMLInputElement,
): { element: HTMLElement; chosen(): StartRequest; update(): void } {
  const wanted = persistedSignal("repeatable", true, isBoolean);
  const { repeatable, repeatableTitle, repeatableHelp } = t.evaluation;
  const { element: label, input } = toggle(repeatable, repeatableTitle, "eval-repeatable");
  const hint = h("p", { class: "hint", id: "eval-repeatable-hint", "data-testid": "eval-repeatable-hint" });
  input.setAttribute("aria-describedby", hint.id);
  const element = h("div", { class: "repeatable" }, label, hint);
  /** The network access of programs; null until the record of a run with a program is known. */
  let network: StudentNetwork | null = null;
  function update(): void {
    const problem = noVirtualTime(network);
    input.checked = problem === null && wanted.value;
    input.disabled = problem !== null;
    write(hint, problem ?? repeatableHelp);
    show(element, program.value.trim() !== "");
  }
  program.addEventListener("input", update);
  input.addEventListener("change", () => (wanted.value = input.checked));
  app.session.watch(async (view) => {
    const record = view?.active ? null : view?.stored;
    // The record of a run without a program does not contain the network access.
    if (!record?.network) return;
    // The server may have been restarted with another network access since that run.
    network = (await beganOnThisServer(record.started_at)) ? record.network : null;
    update();
  });
  return {
    element,
    update,
    chosen: () => ({ pace: input.checked ? "virtual" : "real" }),
  };
}

/**
 * Fields for the student's name, the seed and the wall-clock limit, collapsed at first. `limit` is
 * the field of the time limit, from which the default of the wall-clock limit is computed.
 */
function advancedFields(app: App, limit: HTMLInputElement): {
  element: HTMLElement;
  chosen(): StartRequest;
  update(): void;
} {
  const [name, wall] = [persistedSignal("student", "", isText), persistedSignal("wall-limit", "", isText)];
  const student = h("input", {
    type: "text",
    id: "eval-student",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: MAX_STUDENT,
    placeholder: t.evaluation.studentHint,
    "data-testid": "eval-student",
  });
  // The seed is not stored: a newly opened page starts with the published world.
  const seed = h("input", {
    type: "number",
    id: "eval-seed",
    min: 0,
    max: MAX_SEED,
    step: 1,
    placeholder: "0",
    "data-testid": "eval-seed-field",
  });
  const seedHelp = h("p", { class: "hint" });
  const wallLimit = h("input", {
    type: "number",
    id: "eval-wall-limit",
    min: 1,
    max: MAX_WALL_LIMIT_S,
    step: "any",
    "data-testid": "eval-wall-limit",
  });
  student.value = name.value;
  wallLimit.value = wall.value;
  const values = h("span", { class: "chosen", "data-testid": "eval-advanced-values" });
  const element = h(
    "details",
    { class: "advanced", "data-testid": "eval-advanced" },
    h("summary", {}, h("span", {}, t.evaluation.advanced), values),
    h("label", { for: "eval-student" }, t.evaluation.student),
    student,
    h("label", { for: "eval-seed" }, t.evaluation.seed),
    seed,
    seedHelp,
    h("label", { for: "eval-wall-limit" }, t.evaluation.wallLimit),
    wallLimit,
    h("p", { class: "hint" }, t.evaluation.wallLimitHelp),
  );
  /**
   * Updates the texts that depend on the fields. The summary shows the values also while the fields
   * are collapsed, because the values apply to the next run.
   */
  function update(): void {
    const shown = [
      student.value.trim(),
      seed.value && t.evaluation.seedValue(seed.value),
      wallLimit.value && t.evaluation.wallLimitValue(wallLimit.value),
    ];
    write(values, shown.filter(Boolean).join(" · "));
    write(seedHelp, variesWithSeed(app.evaluation.value?.config) ? t.evaluation.seedHelp : t.evaluation.seedNoise);
    wallLimit.placeholder = limit.value ? String(defaultWallLimit(Number(limit.value))) : "";
  }
  for (const field of [student, seed, wallLimit, limit]) field.addEventListener("input", update);
  // The browser can't show a validation message beside a collapsed field.
  for (const field of [student, seed, wallLimit]) field.addEventListener("invalid", () => (element.open = true));
  update();
  return {
    element,
    update,
    chosen() {
      name.value = student.value.trim();
      wall.value = wallLimit.value;
      return {
        ...(name.value && { student: name.value }),
        ...(seed.value && { seed: Number(seed.value) }),
        ...(wall.value && { wall_limit_s: Number(wall.value) }),
      };
    },
  };
}
