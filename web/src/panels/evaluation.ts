/** The evaluation card: the form that starts a run, the progress of the run, and its result. */
import { type App, attempt } from "../app.ts";
import { API, post } from "../net/api.ts";
import type { LogLine } from "../net/session.ts";
import { t } from "../strings.ts";
import { card, labelledValue } from "../ui/card.ts";
import { fill, h, show, write } from "../ui/dom.ts";
import { clock, record } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import { persistedSignal } from "../ui/signal.ts";
import { outcomeText, phaseText, TONES } from "../ui/verdict.ts";
import { history } from "./history.ts";

const isText = (value: unknown): value is string => typeof value === "string";

export function evaluation(app: App): HTMLElement {
  const { element, body } = card({
    icon: "flag",
    title: t.evaluation.title,
    close: t.evaluation.close,
    testid: "eval-card",
    onClose: () => (app.evaluating.value = false),
  });
  element.classList.add("evaluation");
  const records = history(app);
  const start = setupForm(app);
  const live = runningPanel(app);
  const result = resultPanel(app);
  body.append(live, result, start, records.element);

  function update(): void {
    const view = app.session.value;
    const here = view !== null && view.session.world === app.world.value?.world;
    show(live, view?.active ?? false);
    show(result, view !== null && !view.active && here);
    show(start, !view?.active);
    show(element, app.evaluating.value && (app.judged || (view?.active ?? false)));
  }
  app.session.watch((view, before) => {
    // Open the card when a run starts or ends, even if another page started the run.
    if (view?.active && view.session.id !== before?.session.id) app.evaluating.value = true;
    if (before?.active && view && !view.active) {
      app.evaluating.value = true;
      records.refresh();
      element.scrollIntoView({ block: "start" });
    }
    update();
  });
  app.evaluating.watch((open) => {
    update();
    if (open) records.refresh();
  });
  app.world.watch(() => {
    update();
    if (app.evaluating.value) records.refresh();
  });
  return element;
}

/** Description of the evaluation, and the form that starts a run. */
function setupForm(app: App): HTMLElement {
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
  const button = h("button", { class: "primary wide", "data-testid": "eval-start" }, icon("flag"), t.evaluation.start);
  program.value = command.value;
  const form = h(
    "form",
    { class: "setup" },
    about,
    better,
    h("label", { for: "eval-command" }, t.evaluation.command),
    program,
    h("p", { class: "hint" }, t.evaluation.commandHelp),
    h("label", { for: "eval-limit" }, t.evaluation.limit),
    limit,
    button,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    command.value = program.value.trim();
    const body = {
      ...(command.value && { command: command.value }),
      ...(limit.value && { time_limit_s: Number(limit.value) }),
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
    program.placeholder = config?.run_command ?? t.evaluation.commandHint;
  });
  return form;
}

/** Progress of the current run. */
function runningPanel(app: App): HTMLElement {
  const phase = h("p", { class: "phase", role: "status", "data-testid": "eval-phase" });
  const time = labelledValue(t.evaluation.clock, "eval-clock");
  const now = labelledValue(t.evaluation.record, "eval-record");
  const bar = h("div", { class: "limit-bar", "aria-hidden": "true" });
  const log = logBox(t.evaluation.log, "eval-log");
  const output = logBox(t.evaluation.output, "eval-output");
  const command = h("p", { class: "command mono" });
  const stop = h(
    "button",
    { type: "button", class: "danger wide", "data-testid": "eval-stop" },
    icon("stop"),
    t.evaluation.stop,
  );
  stop.addEventListener("click", () => {
    stop.disabled = true;
    void attempt(app, post("/evaluation/stop")).then(() => (stop.disabled = false));
  });
  /** Simulated time at which the run started. The elapsed time is computed from this time. */
  let startTime: number | null = null;

  app.session.watch((view) => {
    if (!view?.active) {
      startTime = null;
      return;
    }
    const { session } = view;
    write(phase, phaseText(session.phase));
    write(
      command,
      session.command ? t.evaluation.startedCommand(session.command) : t.evaluation.noProgram,
    );
    write(now.value, record(session.record) ?? t.evaluation.noRecord);
    log.show(view.log, t.evaluation.noLog);
    output.show(view.output, session.command ? t.evaluation.noOutput : t.evaluation.noProgram);
    const at = app.state.value?.time;
    if (session.phase !== "running") startTime = null;
    else if (startTime === null && typeof at === "number") startTime = at - (session.elapsed_s ?? 0);
    tick();
  });
  app.state.watch(() => app.session.value?.active && tick());
  function tick(): void {
    const session = app.session.value?.session;
    if (!session) return;
    const at = app.state.value?.time;
    const seconds = startTime !== null && typeof at === "number" ? Math.max(0, at - startTime) : (session.elapsed_s ?? 0);
    const limit = session.time_limit_s ?? null;
    const elapsed = clock(seconds);
    write(time.value, limit === null ? elapsed : t.evaluation.of(elapsed, clock(limit)));
    bar.style.setProperty("--part", String(limit ? Math.min(1, seconds / limit) : 0));
  }
  return h(
    "div",
    { class: "running", "data-testid": "eval-panel", hidden: true },
    phase,
    h("dl", { class: "facts big" }, time.element, now.element),
    bar,
    command,
    log.element,
    output.element,
    stop,
  );
}

/** Result of the last run. */
function resultPanel(app: App): HTMLElement {
  const outcome = h("p", { class: "outcome", "data-testid": "result-outcome" });
  const value = h("p", { class: "result-value", "data-testid": "result-record" });
  const reason = h("p", { class: "reason", "data-testid": "result-reason" });
  const time = labelledValue(t.evaluation.time);
  const link = h(
    "a",
    { class: "quiet", target: "_blank", rel: "noopener", "data-testid": "result-log" },
    icon("docs"),
    t.evaluation.openLog,
  );
  const log = logBox(t.evaluation.log, "result-judge");
  const button = h("button", { type: "button", class: "plain", "data-testid": "again" }, t.evaluation.again);
  button.addEventListener("click", () => {
    const { command, time_limit_s } = app.session.value?.session ?? {};
    button.disabled = true;
    const body = { ...(command && { command }), ...(time_limit_s && { time_limit_s }) };
    void attempt(app, post("/evaluation/start", body)).then(() => (button.disabled = false));
  });
  const element = h(
    "div",
    { class: "result", "data-testid": "result-card", hidden: true },
    outcome,
    value,
    reason,
    h("dl", { class: "facts" }, time.element),
    log.element,
    h("div", { class: "row" }, button, link),
  );
  app.session.watch((view) => {
    if (!view || view.active) return;
    const { session } = view;
    element.dataset["outcome"] = session.outcome ?? "";
    element.dataset["tone"] = session.outcome ? TONES[session.outcome] : "neutral";
    write(outcome, outcomeText(session.outcome));
    const shown = record(session.record);
    write(value, shown ?? t.units.none);
    value.classList.toggle("small", (shown ?? "").length > 12);
    write(reason, session.reason ?? (session.outcome === "timeout" ? t.evaluation.disqualified : ""));
    show(reason, reason.textContent !== "");
    write(time.value, clock(session.elapsed_s ?? 0));
    link.href = `${API}/evaluation/record?session=${encodeURIComponent(session.id)}`;
    log.show(view.log, t.evaluation.noLog);
  });
  return element;
}

/** A log that scrolls to new lines, unless the user has scrolled up. */
function logBox(
  label: string,
  testid: string,
): { element: HTMLElement; show(all: readonly LogLine[], none: string): void } {
  const pre = h("pre", { class: "lines", tabindex: 0, role: "log", "aria-label": label, "data-testid": testid });
  let shown: readonly LogLine[] = [];
  return {
    element: h("details", { open: true, class: "lines-box" }, h("summary", {}, label), pre),
    show(all, none) {
      if (all === shown && pre.childElementCount > 0) return;
      const atEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 8;
      shown = all;
      if (all.length === 0) fill(pre, h("span", { class: "line-none" }, none));
      else fill(pre, ...all.map(({ text, from }) => h("span", { class: `line line-${from}` }, `${text}\n`)));
      if (atEnd) pre.scrollTop = pre.scrollHeight;
    },
  };
}
