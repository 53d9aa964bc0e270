/**
 * The result page of a run: its result, the driven line, sectors, penalties, and logs.
 */
import type { App } from "../app.ts";
import { fetchTracks } from "../net/runs.ts";
import type { EvaluationRecord } from "../net/session.ts";
import { lapsOf, Progress, type Lap } from "../replay/laps.ts";
import { penaltiesOf, type Penalty } from "../replay/marks.ts";
import { ghostsFor, standingOf } from "../replay/rank.ts";
import { t } from "../strings.ts";
import { iconButton, labelledValue } from "../ui/card.ts";
import { fill, h, show, type Child, write } from "../ui/dom.ts";
import { clock, fixed, localTime, preciseClock, record as recordText, speedText } from "../ui/format.ts";
import { icon } from "../ui/icons.ts";
import { programEndBox } from "../ui/lines.ts";
import { failureText, TONES, verdictOf, verdictText } from "../ui/verdict.ts";
import { boxText, paceText, programName, recordBadges, versionText } from "./record-facts.ts";
import { runActions } from "./run-actions.ts";
import { routeOf, unitOf, withUnit, type LoadedRun } from "./run-facts.ts";
import { linesTable } from "./run-lines.ts";
import { mapSection } from "./run-map.ts";
import { sectorTable } from "./run-sectors.ts";

export interface RunPage {
  element: HTMLElement;
  open(run: LoadedRun): void;
  close(): void;
  /** Sets the runs of the world. `complete` says whether these are all runs. */
  setRuns(runs: readonly EvaluationRecord[], complete: boolean): void;
}

export function runPage(app: App): RunPage {
  const heading = h("h2", { id: "run-page-title", tabindex: -1 }, t.replay.resultTitle);
  const watch = h(
    "button",
    { type: "button", class: "primary", "data-testid": "watch-replay" },
    icon("replay"),
    t.replay.watch,
  );
  const actions = h("div", { class: "run-page-actions" });
  const body = h("div", { class: "run-page-body" });
  const element = h(
    "section",
    { class: "run-page", "aria-labelledby": heading.id, "data-testid": "run-page", hidden: true },
    h(
      "header",
      { class: "run-page-head" },
      icon("history"),
      heading,
      h("span", { class: "spring" }),
      actions,
      watch,
      iconButton("close", t.replay.backToLive, () => (app.run.value = null), "run-page-close"),
    ),
    body,
  );
  let current: LoadedRun | null = null;
  let runs: readonly EvaluationRecord[] | null = null;
  let complete = true;
  /** The element that had the focus before the page was opened. */
  let focused: Element | null = null;
  watch.addEventListener("click", () => current && openAt(null));
  const openAt = (time: number | null) => {
    if (current) app.run.value = { view: "replay", session: current.record.session, time };
  };

  function render(): void {
    if (!current) return;
    const { record, tracks, problem } = current;
    show(watch, tracks !== null);
    const unit = unitOf(app, record);
    const penalties = penaltiesOf(record.events ?? [], record.better);
    const here = app.world.value?.world === record.world;
    const route = here ? routeOf(app) : null;
    const progress = tracks && route && new Progress(tracks.car, route);
    const laps = progress ? lapsOf(progress) : [];
    const sectors = h("div", {});
    fill(actions, runActions(app, tracks, () => ({ view: "result", session: record.session, time: null })));
    fill(
      body,
      tracks
        ? mapSection(tracks, here ? (app.world.value?.track.route ?? null) : null, penalties, openAt)
        : panel("run-map", t.replay.map, h("p", { class: "note", "data-testid": "no-journal" }, problem)),
      h(
        "div",
        { class: "run-column" },
        hero(app, current, unit, runs, complete),
        tracks && panel("run-sectors", t.replay.sectors, sectors),
        panel("run-penalties", t.replay.penalties, penaltyList(penalties, tracks ? openAt : null)),
      ),
      panel("run-lines", t.replay.lines, linesTable(record.events ?? [], tracks ? openAt : null)),
    );
    const noSectors = here ? t.replay.noSectorsRoute : t.replay.sectorsOtherWorld(record.world);
    fill(sectors, route ? sectorTable(laps, null, "") : h("p", { class: "hint" }, noSectors));
    if (runs && route && laps.length > 0) void compareSectors(sectors, record, laps, unit);
  }

  /** Adds the differences to the best other run when its tracks have been loaded. */
  async function compareSectors(
    place: HTMLElement,
    record: EvaluationRecord,
    laps: readonly Lap[],
    unit: string,
  ): Promise<void> {
    const best = ghostsFor(record, runs ?? [])[0];
    const route = routeOf(app);
    const tracks = best && route ? await fetchTracks(best.session).catch(() => null) : null;
    if (!tracks || !route || !best || !place.isConnected) return;
    const other = lapsOf(new Progress(tracks.car, route))[0] ?? null;
    const name = [withUnit(recordText(best.record) ?? "", unit), best.student].filter(Boolean).join(" · ");
    fill(place, sectorTable(laps, other, name));
  }

  app.world.watch(() => !element.hidden && render());
  return {
    element,
    open(run) {
      if (current?.record !== run.record) {
        runs = null;
        element.scrollTop = 0;
      }
      current = run;
      const wasHidden = element.hidden;
      if (wasHidden) focused = document.activeElement;
      show(element, true);
      render();
      setInert(true);
      if (wasHidden) heading.focus({ preventScroll: true });
    },
    close() {
      if (element.hidden) return;
      show(element, false);
      setInert(false);
      if (focused instanceof HTMLElement && focused.isConnected) focused.focus({ preventScroll: true });
    },
    setRuns(all, all_complete) {
      [runs, complete] = [all, all_complete];
      if (!element.hidden) render();
    },
  };
}

/** Makes the 3D view and the panels inert while the result page covers them. */
function setInert(on: boolean): void {
  for (const part of document.querySelectorAll<HTMLElement>("body > main, body > aside, body > footer")) part.inert = on;
}

/** A titled part of the page. */
function panel(name: string, title: string, ...children: Child[]): HTMLElement {
  return h("section", { class: `run-panel ${name}`, "data-testid": name }, h("h3", {}, title), ...children);
}

/** Outcome, record, rank, and facts. */
function hero(
  app: App,
  { record, tracks }: LoadedRun,
  unit: string,
  runs: readonly EvaluationRecord[] | null,
  complete: boolean,
): HTMLElement {
  const verdict = verdictOf(record);
  const shown = recordText(record.record);
  const counts = verdict === "finished" && shown !== null;
  const standing = runs && standingOf(record, runs);
  const end = programEndBox(app, "page-program");
  end.show(failureText(verdict, record.run), verdict === "failed" ? (record.run?.output_tail ?? []) : []);
  const reason = record.reason ?? (verdict === "timeout" ? t.evaluation.disqualified : null);
  const rank = complete ? t.replay.rank : t.replay.rankIncomplete;
  const rankText = standing && rank(standing.rank, standing.of);
  return h(
    "section",
    { class: "run-panel run-hero", "data-tone": verdict ? TONES[verdict] : "neutral", "data-testid": "run-hero" },
    h(
      "div",
      { class: "run-score" },
      h(
        "div",
        { class: "outcome-row" },
        h("p", { class: "outcome", "data-testid": "page-outcome" }, verdictText(verdict)),
        h("p", { class: "badges" }, ...recordBadges(record)),
      ),
      shown !== null &&
        h(
          "p",
          { class: `run-value${shown.length > 12 ? " small" : ""}${counts ? "" : " void"}`, "data-testid": "page-record" },
          shown,
          unit && h("span", { class: "run-unit" }, unit),
        ),
      h(
        "div",
        { class: "run-standing" },
        rankText && h("p", { class: "run-rank", "data-testid": "page-rank" }, rankText),
        standing?.rank === 1 && h("p", { class: "run-best" }, t.replay.isBest),
        shown !== null && h("p", { class: "hint" }, t.evaluation.better[record.better]),
      ),
      reason && h("p", { class: "reason" }, reason),
    ),
    end.element,
    factList(record, tracks, standing ? withUnit(recordText(standing.best.record) ?? "", unit) : null),
  );
}

/** Facts about the run. Unknown facts are left out. */
function factList(record: EvaluationRecord, tracks: LoadedRun["tracks"], best: string | null): HTMLElement {
  const { units } = t;
  const drive = tracks && driveFacts(tracks);
  const facts: [string, string | null | undefined][] = [
    [t.evaluation.studentShort, record.student],
    [t.replay.world, record.world],
    [t.evaluation.time, clock(record.elapsed_s)],
    [t.evaluation.program, programName(record.command)],
    [t.replay.best, best],
    [t.replay.distance, drive && units.metres(fixed(drive.distance, 1))],
    [t.replay.topSpeed, drive && speedText(drive.top, 2)],
    [t.replay.finishedAt, localTime(record.started_at)],
    [t.evaluation.pace, paceText(record)],
    [t.evaluation.box, boxText(record.box)],
    [t.evaluation.version, versionText(record.chicane)],
  ];
  return h(
    "dl",
    { class: "facts run-facts" },
    ...facts.map(([label, text]) => {
      if (!text) return null;
      const fact = labelledValue(label);
      write(fact.value, text);
      return fact.element;
    }),
  );
}

/** Driven distance in metres without teleports, and highest speed in m/s. */
export function driveFacts({ car }: NonNullable<LoadedRun["tracks"]>): { distance: number; top: number } {
  let [distance, top] = [0, 0];
  for (let i = 1; i < car.time.length; i++) {
    distance += Math.abs(car.speed[i]) * (car.time[i] - car.time[i - 1]);
    top = Math.max(top, Math.abs(car.speed[i]));
  }
  return { distance, top };
}

/** The penalties with their numbers on the map. `openAt` is null if there is no replay. */
function penaltyList(penalties: readonly Penalty[], openAt: ((time: number) => void) | null): HTMLElement {
  if (penalties.length === 0) return h("p", { class: "hint" }, t.replay.noPenalties);
  return h(
    "ol",
    { class: "penalties" },
    ...penalties.map(({ time, text }, i) => {
      const children = [
        h("span", { class: "penalty-number" }, String(i + 1)),
        h("span", { class: "event-time" }, preciseClock(time)),
        h("span", { class: "event-text" }, text),
      ];
      if (!openAt) return h("li", { class: "penalty" }, ...children);
      const title = t.replay.jumpTo(preciseClock(time));
      const on = { click: () => openAt(time) };
      return h("li", {}, h("button", { type: "button", class: "penalty", title, on }, ...children));
    }),
  );
}
