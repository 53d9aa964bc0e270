/** Records of this world: a plot over time, and a list with links to results and replays. */
import type { App } from "../app.ts";
import { get } from "../net/api.ts";
import type { EvaluationRecord } from "../net/session.ts";
import { isScored, ranked } from "../replay/rank.ts";
import { t } from "../strings.ts";
import { fill, h, show } from "../ui/dom.ts";
import { localTime, record } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import { programEndBox } from "../ui/lines.ts";
import { recordChart } from "../ui/record-chart.ts";
import { failureText, TONES, verdictOf, verdictText } from "../ui/verdict.ts";
import type { RecordList } from "../wire/sim.ts";
import { bestBadge, boxText, programName, recordBadges, versionText } from "./record-facts.ts";
import { fetchUnit, withUnit } from "./run-facts.ts";
import { runLink } from "./run-link.ts";

const MAX_RECORDS = 50;

export function history(app: App): { element: HTMLElement; refresh(): void } {
  const body = h("div", { class: "history-body" });
  const element = h(
    "details",
    { class: "history", "data-testid": "history" },
    h("summary", {}, icon("history"), t.evaluation.history),
    body,
  );

  async function refresh(): Promise<void> {
    const world = app.world.value?.world;
    if (!world || !element.open) return;
    const path = `/evaluation/records?world=${encodeURIComponent(world)}&limit=${MAX_RECORDS}`;
    const records = (await get<RecordList>(path).catch(() => null))?.records ?? [];
    if (records.length === 0) return fill(body, h("p", { class: "hint" }, t.evaluation.historyEmpty));
    const better = app.evaluation.value?.config.better === "higher" ? "higher" : "lower";
    const best = ranked(records, better)[0];
    const unit = best ? await fetchUnit(app, best) : "";
    if (app.world.value?.world !== world) return;
    fill(body, recordChart(pointsOf(records), better, unit), table(app, records, best?.session, unit));
  }
  element.addEventListener("toggle", () => void refresh());
  app.world.watch(() => show(element, app.judged));
  return { element, refresh: () => void refresh() };
}

/** Finished runs with a numeric record, oldest first. */
function pointsOf(records: readonly EvaluationRecord[]): { value: number; time: string }[] {
  return records
    .filter(isScored)
    .map(({ record, started_at }) => ({ value: record, time: localTime(started_at) }))
    .reverse();
}

function table(app: App, records: readonly EvaluationRecord[], best: string | undefined, unit: string): HTMLElement {
  return h("ul", { class: "records" }, ...records.map((one) => row(app, one, one.session === best, unit)));
}

/**
 * A record: its result as a link to the result page, then program, student, box and version, and
 * what went wrong.
 */
function row(app: App, one: EvaluationRecord, isBest: boolean, unit: string): HTMLElement {
  const verdict = verdictOf(one);
  const value = record(one.record);
  const identity = [programName(one.command), one.student, boxText(one.box), versionText(one.chicane)].filter(Boolean).join(" · ");
  const badges = recordBadges(one);
  const failure = failureText(verdict, one.run);
  return h(
    "li",
    { "data-testid": "record", "data-session": one.session },
    runLink(
      app,
      { view: "result", session: one.session, time: null },
      { class: "record-link", title: t.replay.resultTitleLong },
      h("span", { class: "record-value" }, value === null ? t.units.none : withUnit(value, isScored(one) ? unit : "")),
      h(
        "span",
        { class: "record-outcome", "data-tone": verdict ? TONES[verdict] : "neutral" },
        verdictText(verdict),
        isBest && bestBadge(),
      ),
      h("time", { datetime: one.started_at ?? "" }, localTime(one.started_at)),
    ),
    identity && h("p", { class: "record-identity", title: one.command }, identity),
    one.outcome &&
      h(
        "p",
        { class: "record-actions" },
        runLink(
          app,
          { view: "replay", session: one.session, time: null },
          { class: "quiet", title: t.replay.openTitle, "data-testid": "record-replay" },
          icon("replay"),
          t.replay.open,
        ),
      ),
    one.reason && h("p", { class: "record-reason" }, one.reason),
    badges.length > 0 && h("p", { class: "badges" }, ...badges),
    failure !== null && failed(app, failure, one.run?.output_tail ?? []),
  );
}

/** Why the program failed, and its last output lines, which are collapsed in the list. */
function failed(app: App, failure: string, lines: readonly string[]): HTMLElement {
  const box = programEndBox(app, "record-program", false);
  box.show(failure, lines);
  return box.element;
}
