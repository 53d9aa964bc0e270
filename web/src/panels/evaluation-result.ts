/** Result of the last run. */
import { type App, attempt } from "../app.ts";
import { post } from "../net/api.ts";
import { lastLines, type SessionView } from "../net/session.ts";
import { t } from "../strings.ts";
import { labelledValue } from "../ui/card.ts";
import { fill, h, show, write } from "../ui/dom.ts";
import { clock, record } from "../ui/format.ts";
import { logBox, programEndBox } from "../ui/lines.ts";
import { failureText, TONES, verdictOf, verdictText } from "../ui/verdict.ts";
import type { StartRequest } from "../wire/sim.ts";
import { boxText, paceText, recordBadges, requestedPace, versionText } from "./record-facts.ts";
import { runButton } from "./run-link.ts";
import { nextSeed, seedText, variesWithSeed } from "./seed.ts";

export function resultPanel(app: App): HTMLElement {
  const outcome = h("p", { class: "outcome", "data-testid": "result-outcome" });
  const value = h("p", { class: "result-value", "data-testid": "result-record" });
  const reason = h("p", { class: "reason", "data-testid": "result-reason" });
  const badges = h("p", { class: "badges", "data-testid": "result-badges" });
  const facts = factList(app);
  const paceReason = h("p", { class: "hint reason", "data-testid": "result-pace-reason" });
  const end = programEndBox(app, "result-program");
  const openRun = (view: "replay" | "result") => () => {
    const session = app.session.value?.session.id;
    if (session) app.run.value = { view, session, time: null };
  };
  const replay = runButton("replay", t.replay.open, t.replay.openTitle, "open-replay", openRun("replay"));
  const page = runButton("history", t.replay.openResult, t.replay.resultTitleLong, "open-result", openRun("result"));
  const log = logBox(t.evaluation.log, "result-judge");
  const button = h("button", { type: "button", class: "plain", "data-testid": "again" }, t.evaluation.again);
  const anotherText = t.evaluation.anotherSeed;
  const another = h("button", { type: "button", class: "plain", "data-testid": "another-seed" }, anotherText);
  function start(body: StartRequest): void {
    button.disabled = another.disabled = true;
    void attempt(app, post("/evaluation/start", body)).then(() => (button.disabled = another.disabled = false));
  }
  const seed = () => nextSeed(app.session.value?.session.seed);
  button.addEventListener("click", () => start(sameRun(app.session.value)));
  another.addEventListener("click", () => start({ ...sameRun(app.session.value), seed: seed() }));
  app.evaluation.watch((document) => show(another, variesWithSeed(document?.config)));
  const element = h(
    "div",
    { class: "result", "data-testid": "result-card", hidden: true },
    h("div", { class: "outcome-row" }, outcome, badges),
    value,
    reason,
    end.element,
    facts.element,
    paceReason,
    log.element,
    h("div", { class: "row result-actions" }, replay, page, button, another),
  );
  /** The record whose badges are shown. They are made once, so that an open popover stays open. */
  let badgesOf: unknown = null;
  app.session.watch((view) => {
    if (!view || view.active) return;
    const { session, stored } = view;
    const verdict = verdictOf(session);
    element.dataset["outcome"] = session.outcome ?? "";
    element.dataset["tone"] = verdict ? TONES[verdict] : "neutral";
    write(outcome, verdictText(verdict));
    const shown = record(session.record);
    write(value, shown ?? t.units.none);
    show(value, shown !== null || verdict !== "failed");
    value.classList.toggle("small", (shown ?? "").length > 12);
    write(reason, session.reason ?? (session.outcome === "timeout" ? t.evaluation.disqualified : ""));
    show(reason, reason.textContent !== "");
    const run = stored?.run ?? (session.command ? session.run : null);
    end.show(failureText(verdict, run), stored?.run?.output_tail ?? lastLines(view));
    facts.show(view);
    another.title = t.evaluation.anotherSeedTitle(seed());
    write(paceReason, stored?.pace_reason ? t.evaluation.paceReason(stored.pace_reason) : "");
    show(paceReason, paceReason.textContent !== "");
    if (badgesOf !== stored) fill(badges, ...recordBadges(stored ?? {}));
    badgesOf = stored;
    log.show(view.log, t.evaluation.noLog);
  });
  return element;
}

/** Time, seed, pace, student, isolation and version. A fact that is not known is left out. */
function factList(app: App): { element: HTMLElement; show(view: SessionView): void } {
  const time = labelledValue(t.evaluation.time, "result-time");
  const seed = labelledValue(t.evaluation.seed, "result-seed");
  const pace = labelledValue(t.evaluation.pace, "result-pace");
  const student = labelledValue(t.evaluation.studentShort, "result-student");
  const box = labelledValue(t.evaluation.box, "result-box");
  const version = labelledValue(t.evaluation.version, "result-version");
  return {
    element: h(
      "dl",
      { class: "facts" },
      ...[time, seed, pace, student, box, version].map((fact) => fact.element),
    ),
    show({ session, stored }) {
      write(time.value, clock(session.elapsed_s ?? 0));
      for (const [fact, text] of [
        [seed, seedText(session.seed, app.evaluation.value?.config)],
        [pace, stored && paceText(stored)],
        [student, stored?.student],
        [box, boxText(stored?.box)],
        [version, versionText(stored?.chicane)],
      ] as const) {
        write(fact.value, text ?? "");
        show(fact.element, Boolean(text));
      }
    },
  };
}

/** The request that starts the same run again. */
export function sameRun(view: SessionView | null): StartRequest {
  const { command, time_limit_s, seed } = view?.session ?? {};
  const { student, wall_limit_s } = view?.stored ?? {};
  const pace = command ? requestedPace(view?.stored ?? {}) : null;
  return {
    ...(command && { command }),
    ...(pace && { pace }),
    ...(time_limit_s && { time_limit_s }),
    ...(seed && { seed }),
    ...(student && { student }),
    ...(wall_limit_s && { wall_limit_s }),
  };
}
