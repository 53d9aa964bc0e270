/** Records of this world: a plot over time, and a list with links to results and replays. */
import type { App } from "../app.ts";
import { get } from "../net/api.ts";
import type { EvaluationRecord } from "../net/session.ts";
import { t } from "../strings.ts";
import { fill, h, show } from "../ui/dom.ts";
import { localTime, record } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import { programEndBox } from "../ui/lines.ts";
import { s } from "../ui/svg.ts";
import { failureText, TONES, verdictOf, verdictText } from "../ui/verdict.ts";
import type { RecordList } from "../wire/sim.ts";
import { boxText, recordBadges, versionText } from "./record-facts.ts";
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
    const better = app.evaluation.value?.config.better;
    fill(body, chart(records, better === "higher"), table(app, records));
  }
  element.addEventListener("toggle", () => void refresh());
  app.world.watch(() => show(element, app.judged));
  return { element, refresh: () => void refresh() };
}

function table(app: App, records: readonly EvaluationRecord[]): HTMLElement {
  return h("ul", { class: "records" }, ...records.map((one) => row(app, one)));
}

/** A record: its result as a link to the result page, then who and where, and what went wrong. */
function row(app: App, one: EvaluationRecord): HTMLElement {
  const verdict = verdictOf(one);
  const identity = [one.student, boxText(one.box), versionText(one.chicane)].filter(Boolean).join(" · ");
  const badges = recordBadges(one);
  const failure = failureText(verdict, one.run);
  return h(
    "li",
    { "data-testid": "record", "data-session": one.session },
    runLink(
      app,
      { view: "result", session: one.session, time: null },
      { class: "record-link", title: t.replay.resultTitleLong },
      h("span", { class: "record-value" }, record(one.record) ?? t.units.none),
      h("span", { class: "record-outcome", "data-tone": verdict ? TONES[verdict] : "neutral" }, verdictText(verdict)),
      h("time", { datetime: one.started_at ?? "" }, localTime(one.started_at)),
    ),
    identity && h("p", { class: "record-identity" }, identity),
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
    one.reason && h("p", { class: "record-reason", title: one.reason }, one.reason),
    badges.length > 0 && h("p", { class: "badges" }, ...badges),
    failure !== null && failed(app, failure, one.run?.output_tail ?? []),
  );
}

/** Why the program failed, and its last lines, which are collapsed in the list. */
function failed(app: App, failure: string, lines: readonly string[]): HTMLElement {
  const box = programEndBox(app, "record-program", false);
  box.show(failure, lines);
  return box.element;
}

/** Plots numeric records of finished runs, oldest on the left, with a line of the best so far. */
export function chart(records: readonly EvaluationRecord[], higher: boolean): SVGSVGElement | null {
  const points = records
    .filter((one) => one.outcome === "finished" && typeof one.record === "number")
    .map((one) => ({ value: one.record as number, when: localTime(one.started_at) }))
    .reverse();
  if (points.length === 0) return null;
  const [width, height, edge] = [280, 110, 10];
  const values = points.map((point) => point.value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (i: number) =>
    edge + (points.length === 1 ? (width - 2 * edge) / 2 : (i / (points.length - 1)) * (width - 2 * edge));
  const y = (value: number) =>
    height - edge - (high === low ? 0.5 : (value - low) / (high - low)) * (height - 2 * edge);
  const svg = s("svg", {
    viewBox: `0 0 ${width} ${height}`,
    class: "chart",
    role: "img",
    "aria-label": t.evaluation.historyPlot,
  });
  let best = values[0];
  let path = `M${x(0)} ${y(best)}`;
  values.forEach((value, i) => {
    if (i === 0) return;
    path += `H${x(i)}`;
    if (higher ? value > best : value < best) {
      best = value;
      path += `V${y(best)}`;
    }
  });
  svg.append(s("path", { d: path, class: "best" }));
  points.forEach((point, i) => {
    const dot = s("circle", {
      cx: x(i),
      cy: y(point.value),
      r: point.value === best ? 4.5 : 3,
      class: point.value === best ? "dot dot-best" : "dot",
    });
    dot.append(s("title", {}, t.evaluation.historyPoint(record(point.value) ?? "", point.when)));
    svg.append(dot);
  });
  return svg as SVGSVGElement;
}
