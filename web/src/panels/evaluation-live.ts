/** Progress of the current run. */
import { type App, attempt } from "../app.ts";
import { post } from "../net/api.ts";
import { lastLines } from "../net/session.ts";
import { t } from "../strings.ts";
import { labelledValue } from "../ui/card.ts";
import { h, setAttribute, show, write } from "../ui/dom.ts";
import { clock, record } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import { logBox, programEndBox } from "../ui/lines.ts";
import { phaseText, programFailure } from "../ui/verdict.ts";
import { seedText } from "./seed.ts";

export function runningPanel(app: App): HTMLElement {
  const phase = h("p", { class: "phase", role: "status", "data-testid": "eval-phase" });
  const interference = h("span", {
    class: "badge badge-warn",
    role: "status",
    title: t.evaluation.interferenceTitle,
    "data-testid": "eval-interference",
  });
  const time = labelledValue(t.evaluation.clock, "eval-clock");
  const now = labelledValue(t.evaluation.record, "eval-record");
  const seed = labelledValue(t.evaluation.seed, "eval-seed");
  const bar = h("div", { class: "limit-bar", "aria-hidden": "true" });
  const log = logBox(t.evaluation.log, "eval-log");
  const output = logBox(t.evaluation.output, "eval-output");
  const failed = programEndBox(app, "eval-program");
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
    const failure = session.run?.running ? null : programFailure(session.run);
    write(phase, failure === null ? phaseText(session.phase) : t.evaluation.programFailed);
    setAttribute(phase, "data-failed", failure !== null);
    write(interference, t.evaluation.interference(session.interference ?? 0));
    show(interference, (session.interference ?? 0) > 0);
    write(
      command,
      session.command ? t.evaluation.startedCommand(session.command) : t.evaluation.noProgram,
    );
    write(now.value, record(session.record) ?? t.evaluation.noRecord);
    const seedShown = seedText(session.seed, app.evaluation.value?.config);
    write(seed.value, seedShown ?? "");
    show(seed.element, seedShown !== null);
    log.show(view.log, t.evaluation.noLog);
    output.show(view.output, session.command ? t.evaluation.noOutput : t.evaluation.noProgram);
    failed.show(failure, failure === null ? [] : lastLines(view));
    show(output.element, failure === null);
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
    h("div", { class: "phase-row" }, phase, interference),
    h("dl", { class: "facts big" }, time.element, now.element, seed.element),
    bar,
    command,
    failed.element,
    log.element,
    output.element,
    stop,
  );
}
