/** The command, Run and Stop, the state of the run with its verdict, and the output. */
import type { App } from "../app.ts";
import type { SessionView } from "../net/session.ts";
import { fetchUnit, withUnit } from "../panels/run-facts.ts";
import { t } from "../strings.ts";
import { h, setAttribute, show, write } from "../ui/dom.ts";
import { clock, record } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import { failureText, programFailure, TONES, verdictOf, verdictText } from "../ui/verdict.ts";
import { commandOf, defaultCommand, MAX_COMMAND, pathsOf } from "./draft.ts";
import type { DraftStore } from "./draft-store.ts";
import type { Editors } from "./editors.ts";
import { outputBox } from "./output-box.ts";
import type { Runner } from "./runner.ts";
import { lastError } from "./traceback.ts";

export function runBox(app: App, store: DraftStore, runner: Runner, code: Editors): HTMLElement {
  const texts = t.program;
  const command = commandField(store);
  const run = h(
    "button",
    { class: "primary", title: texts.runTitle, "aria-describedby": "program-state", "data-testid": "program-run" },
    icon("play"),
    texts.run,
  );
  const stop = h(
    "button",
    { type: "button", class: "danger", title: texts.stopTitle, "data-testid": "program-stop" },
    icon("stop"),
    texts.stop,
  );
  const form = h(
    "form",
    { class: "program-run" },
    h("label", { for: command.id, class: "unseen" }, texts.command),
    command,
    run,
    stop,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void runner.run();
  });
  stop.addEventListener("click", async () => {
    stop.disabled = true;
    await runner.stop();
    stop.disabled = false;
  });
  const output = outputBox(code.goTo, () => pathsOf(store.draft.value));

  /**
   * The last run whose error was marked. The error is not marked again, because the person may have
   * edited the files since then.
   */
  let marked: string | null = null;
  runner.status.watch((status, before) => {
    const hadFocus = [run, stop].includes(document.activeElement as HTMLButtonElement);
    const isRunning = status.kind === "running";
    show(run, !isRunning);
    show(stop, isRunning);
    // The stop button replaces the run button, and also takes its keyboard focus.
    if (hadFocus) (isRunning ? stop : run).focus();
    // With `aria-disabled` instead of `disabled`, the button keeps the focus, and a screen reader
    // reads why it is disabled.
    setAttribute(run, "aria-disabled", runner.isReady ? null : "true");
    const lines = "view" in status ? status.view.output : [];
    output.show(lines);
    if (status.kind === "starting") code.setError(null);
    // A short program can end before the page has seen it run, and its last output lines can arrive
    // later. So every update of an ended run searches for the error, until the error is marked.
    if (status.kind !== "ended" || status.view.session.id === marked) return;
    const stderr = lines.filter((line) => line.from === "stderr").map((line) => line.text);
    const error = lastError(stderr, pathsOf(store.draft.value));
    // A run that ended before the panel was opened is not marked.
    if (error || before === undefined) marked = status.view.session.id;
    if (error && before !== undefined) code.setError(error);
  });
  return h("div", { class: "program-bottom" }, form, stateRow(app, runner), output.element);
}

/** The command field. The default command depends on the files of the draft. */
function commandField(store: DraftStore): HTMLInputElement {
  const input = h("input", {
    type: "text",
    id: "program-command",
    class: "mono",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    maxlength: MAX_COMMAND,
    "data-testid": "program-command",
  });
  store.draft.watch((draft) => {
    input.placeholder = defaultCommand(draft);
    if (document.activeElement !== input && input.value !== commandOf(draft)) input.value = commandOf(draft);
  });
  input.addEventListener("input", () => {
    const typed = input.value.trim();
    const draft = store.draft.value;
    store.change({ ...draft, command: typed === defaultCommand(draft) ? "" : typed });
  });
  input.addEventListener("blur", () => (input.value = commandOf(store.draft.value)));
  return input;
}

/**
 * One line: what is happening now, or the verdict on the last run and a button that opens its page.
 */
function stateRow(app: App, runner: Runner): HTMLElement {
  const texts = t.program;
  const outcome = h("p", { class: "outcome", "data-testid": "program-outcome" });
  const state = h("p", { class: "program-state", role: "status", id: "program-state", "data-testid": "program-state" });
  const result = h(
    "button",
    { type: "button", class: "plain", title: texts.resultTitle, "data-testid": "program-result" },
    icon("history"),
    h("span", {}, texts.result),
  );
  result.addEventListener("click", () => {
    const { value: status } = runner.status;
    if ("view" in status) app.run.value = { view: "result", session: status.view.session.id, time: null };
  });
  const element = h("div", { class: "program-state-row" }, outcome, state, result);
  /**
   * The unit of measurement, such as `s`, of the value that the judging script recorded. The page
   * fetches the unit after the session has ended.
   */
  let unit = { session: "", text: "" };

  function update(): void {
    const { value: status } = runner.status;
    const judged = status.kind === "ended" && status.isJudged ? status.view : null;
    const verdict = judged && verdictOf(judged.session);
    show(outcome, verdict !== null);
    show(result, judged !== null);
    element.dataset["tone"] = verdict ? TONES[verdict] : "neutral";
    if (judged && verdict) {
      const value = record(judged.session.record);
      const text = unit.session === judged.session.id ? unit.text : "";
      write(outcome, [verdictText(verdict), value && withUnit(value, text)].filter(Boolean).join(" · "));
    }
    const problem = runner.problem.value;
    state.classList.toggle("error", problem !== null);
    write(state, problem ?? stateText());
    show(state, state.textContent !== "");
  }

  function stateText(): string {
    const { value: status } = runner.status;
    switch (status.kind) {
      case "idle":
        return app.judged ? texts.judged : texts.notJudged;
      case "offline":
        return texts.offline;
      case "starting":
        return texts.starting;
      case "others":
        return texts.othersRun;
      case "running":
        return texts.running(clock(elapsed(status.view)));
      case "ended":
        return endText(status.view, status.isJudged);
    }
  }

  /** Simulated time at which the program started; null before the start. */
  let startTime: number | null = null;
  function elapsed({ session }: SessionView): number {
    const now = app.state.value?.time;
    if (session.phase !== "running" || typeof now !== "number") return 0;
    startTime ??= now - (session.elapsed_s ?? 0);
    return Math.max(0, now - startTime);
  }

  runner.status.watch((status) => {
    if (status.kind !== "running") startTime = null;
    update();
    const stored = status.kind === "ended" ? status.view.stored : null;
    if (!stored?.outcome || unit.session === stored.session) return;
    void fetchUnit(app, stored).then((text) => {
      unit = { session: stored.session, text };
      update();
    });
  });
  runner.problem.watch(update);
  app.evaluation.watch(update);
  app.profile.watch(update);
  app.state.watch(() => runner.status.value.kind === "running" && update());
  return element;
}

/** Text about how a program ended. The verdict of a judged run is shown separately. */
function endText({ session, stored }: SessionView, isJudged: boolean): string {
  const run = stored?.run ?? session.run;
  const verdict = verdictOf(session);
  if (isJudged) return session.reason ?? failureText(verdict, run) ?? "";
  if (session.outcome === "stopped") return t.program.stopped;
  return programFailure(run) ?? session.reason ?? t.program.ended(String(run?.exit_code ?? t.units.none));
}
