/** Result of the last run. */
import { type App, attempt } from "../app.ts";
import { post } from "../net/api.ts";
import { fetchRecords } from "../net/runs.ts";
import { lastLines, type SessionView } from "../net/session.ts";
import { ownSession } from "../program/own-session.ts";
import { standingOf } from "../replay/rank.ts";
import { t } from "../strings.ts";
import { labelledValue } from "../ui/card.ts";
import { fill, h, show, write } from "../ui/dom.ts";
import { clock, record } from "../ui/format.ts";
import { logBox, programEndBox } from "../ui/lines.ts";
import { failureText, TONES, verdictOf, verdictText } from "../ui/verdict.ts";
import type { StartRequest } from "../wire/sim.ts";
import { bestBadge, boxText, paceText, programName, recordBadges, requestedPace, versionText } from "./record-facts.ts";
import { fetchUnit, withUnit } from "./run-facts.ts";
import { runButton } from "./run-link.ts";
import { nextSeed, seedText, variesWithSeed } from "./seed.ts";

export function resultPanel(app: App): HTMLElement {
  const outcome = h("p", { class: "outcome", "data-testid": "result-outcome" });
  const value = h("p", { class: "result-value", "data-testid": "result-record" });
  const standing = standingLine(app);
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
    standing.element,
    reason,
    end.element,
    facts.element,
    paceReason,
    log.element,
    h("div", { class: "row result-actions" }, replay, page, button, another),
  );
  /**
   * The record whose badges are shown. The badges are created once per record, so that an open
   * popover stays open.
   */
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
    standing.update(view);
    another.title = t.evaluation.anotherSeedTitle(seed());
    write(paceReason, stored?.pace_reason ? t.evaluation.paceReason(stored.pace_reason) : "");
    show(paceReason, paceReason.textContent !== "");
    if (badgesOf !== stored) fill(badges, ...recordBadges(stored ?? {}));
    badgesOf = stored;
    log.show(view.log, t.evaluation.noLog);
  });
  return element;
}

/** The rank of the record among all records of the world. The best record also gets a badge. */
function standingLine(app: App): { element: HTMLElement; update(view: SessionView): void } {
  const element = h("p", { class: "standing", "data-testid": "result-standing", hidden: true });
  /** The stored record that the line is about. */
  let shown: unknown = null;
  return {
    element,
    update({ stored }) {
      if (stored === shown) return;
      shown = stored;
      show(element, false);
      if (!stored?.outcome) return;
      void fetchRecords(stored.world)
        .then(async ({ records }) => {
          const found = standingOf(stored, records);
          if (!found || shown !== stored) return;
          const { rank, of, best } = found;
          const unit = await fetchUnit(app, best);
          if (shown !== stored) return;
          element.title = t.evaluation.rankTitle(withUnit(record(best.record) ?? "", unit));
          fill(element, rank === 1 && bestBadge(), h("span", {}, t.evaluation.rank(rank, of)));
          show(element, true);
        })
        // If the records can't be fetched, the result is shown without a rank.
        .catch(() => {});
    },
  };
}

/** Program, time, seed, pace, student, isolation and version. Unknown facts are left out. */
function factList(app: App): { element: HTMLElement; show(view: SessionView): void } {
  const program = labelledValue(t.evaluation.program, "result-program-name");
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
      ...[program, time, seed, pace, student, box, version].map((fact) => fact.element),
    ),
    show({ session, stored }) {
      write(time.value, clock(session.elapsed_s ?? 0));
      program.element.title = session.command ?? "";
      for (const [fact, text] of [
        [program, programName(session.command)],
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
  // The program panel sent the files of its own run. The server does not keep them, so they must be
  // sent again.
  const own = ownSession();
  const files = own && own.id === view?.session.id ? own.files : null;
  const pace = command ? requestedPace(view?.stored ?? {}) : null;
  return {
    ...(command && { command }),
    ...(files && { files }),
    ...(pace && { pace }),
    ...(time_limit_s && { time_limit_s }),
    ...(seed && { seed }),
    ...(student && { student }),
    ...(wall_limit_s && { wall_limit_s }),
  };
}
