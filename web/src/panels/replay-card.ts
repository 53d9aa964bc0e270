/** The card beside the 3D view during a replay: plots, ghost, events, and actions. */
import { type App, messageOf } from "../app.ts";
import { fetchTracks } from "../net/runs.ts";
import type { EvaluationRecord } from "../net/session.ts";
import type { CarColumn } from "../net/tracks.ts";
import { latest } from "../scene/run-poses.ts";
import { ghostsFor, standingOf } from "../replay/rank.ts";
import type { Replay } from "../replay/replay.ts";
import { t } from "../strings.ts";
import { card } from "../ui/card.ts";
import { fill, h, write } from "../ui/dom.ts";
import { angleText, degrees, fixed, localTime, preciseClock, radians, record as recordText, signed, speedText } from "../ui/format.ts";
import { runPlot, type RunLine, type RunPlot } from "../ui/run-plot.ts";
import { verdictOf, verdictText } from "../ui/verdict.ts";
import { runActions } from "./run-actions.ts";
import { unitOf, withUnit } from "./run-facts.ts";

/** Largest number of ghosts in the list. */
const MAX_GHOSTS = 50;

export function replayCard(app: App): { element: HTMLElement; setRuns(runs: readonly EvaluationRecord[]): void } {
  const { element, body, title } = card({
    icon: "replay",
    title: t.replay.title,
    close: t.replay.backToLive,
    testid: "replay-card",
    onClose: () => (app.run.value = null),
  });
  element.classList.add("replay-card");
  let stops: (() => void)[] = [];
  let setRuns: (runs: readonly EvaluationRecord[]) => void = () => {};
  let known: readonly EvaluationRecord[] = [];
  app.replay.watch((replay) => {
    for (const stop of stops) stop();
    stops = [];
    setRuns = () => {};
    element.hidden = replay === null;
    if (!replay) return fill(body);
    write(title, titleOf(app, replay.record));
    const ghost = ghostField(app, replay);
    const plots = plotList(replay);
    const events = eventList(replay);
    setRuns = ghost.setRuns;
    setRuns(known);
    fill(
      body,
      !replay.tracks.complete && h("p", { class: "note" }, t.replay.incomplete),
      ghost.element,
      h("div", { class: "run-plots" }, ...plots.elements),
      !replay.route && h("p", { class: "hint" }, t.replay.noRoute),
      events.element,
      runActions(app, replay.tracks, () => ({ view: "replay", session: replay.session, time: replay.now })),
    );
    stops = [...plots.stops, ...events.stops, ghost.stop];
  });
  return {
    element,
    setRuns(runs) {
      known = runs;
      setRuns(runs);
    },
  };
}

/** The title of a run: its record, or else its verdict, and the student. */
function titleOf(app: App, record: EvaluationRecord): string {
  const verdict = verdictOf(record);
  const value = verdict === "finished" ? recordText(record.record) : null;
  return [value ? withUnit(value, unitOf(app, record)) : verdictText(verdict), record.student].filter(Boolean).join(" · ");
}

/** The list of ghosts. At first, the ghost in the URL is chosen, or else the best other run. */
function ghostField(
  app: App,
  replay: Replay,
): { element: HTMLElement; setRuns(runs: readonly EvaluationRecord[]): void; stop(): void } {
  const select = h("select", { id: "ghost", class: "wide", "data-testid": "ghost" });
  const hint = h("p", { class: "hint", hidden: true });
  let ghosts: EvaluationRecord[] = [];
  /** Counts choices, so that a slow response of an earlier choice has no effect. */
  let choice = 0;
  async function choose(session: string): Promise<void> {
    const mine = ++choice;
    const record = ghosts.find((one) => one.session === session) ?? null;
    if (!record) return replay.setGhost(null, null);
    try {
      const tracks = await fetchTracks(session);
      if (mine === choice) replay.setGhost(record, tracks);
    } catch (error) {
      if (mine !== choice) return;
      replay.setGhost(null, null);
      select.value = "";
      app.toast(t.replay.ghostFailed(messageOf(error)));
    }
  }
  select.addEventListener("change", () => void choose(select.value));
  const label = (one: EvaluationRecord) =>
    [withUnit(recordText(one.record) ?? t.units.none, unitOf(app, replay.record)), one.student, localTime(one.started_at)]
      .filter(Boolean)
      .join(" · ");
  return {
    element: h(
      "div",
      { class: "ghost-field" },
      h("label", { for: "ghost" }, t.replay.ghost),
      h("span", { class: "select wide" }, select),
      hint,
    ),
    setRuns(runs) {
      const all = ghostsFor(replay.record, runs);
      const named = app.run.value?.ghost;
      // The ghost that the URL names is always in the list, whatever its rank.
      ghosts = all.filter((one, i) => i < MAX_GHOSTS || one.session === named);
      // If this run itself is the best one, the first ghost is the second best.
      const first = standingOf(replay.record, runs)?.rank === 1 ? t.replay.ghostNext : t.replay.ghostBest;
      const text = (one: EvaluationRecord, i: number) => (i === 0 ? first(label(one)) : label(one));
      fill(select, new Option(t.replay.ghostNone, ""), ...ghosts.map((one, i) => new Option(text(one, i), one.session)));
      select.disabled = ghosts.length === 0;
      write(hint, t.replay.noGhosts);
      hint.hidden = ghosts.length > 0;
      const wanted = ghosts.find((one) => one.session === named) ?? ghosts[0];
      const chosen = replay.ghost.value?.record.session ?? wanted?.session ?? "";
      select.value = chosen;
      if (replay.ghost.value?.record.session !== chosen) void choose(chosen);
    },
    stop: () => void choice++,
  };
}

interface PlottedColumn {
  plot: RunPlot;
  column: CarColumn;
  colour: string;
  /** Converts a value of the column to the unit of the plot. */
  scale(value: number): number;
  /** Text of a converted value. */
  text(value: number): string;
}

/** Plots of speed, steering, distance from the centre line, and difference to the ghost. */
function plotList(replay: Replay): { elements: HTMLElement[]; stops: (() => void)[] } {
  const { player, poses } = replay;
  const { units } = t;
  const plot = (
    name: keyof typeof t.replay.plots,
    colour: string,
    isSigned: boolean,
    minimum: number,
    axis: (value: number) => string,
  ) =>
    runPlot({
      label: t.replay.plots[name],
      duration: player.duration,
      colour,
      signed: isSigned,
      minimum,
      axis,
      testid: `plot-${name}`,
      onSeek: (time) => player.seek(time),
    });
  /** The line of the run, and the line of the ghost at the same place on the track. */
  const lines = (column: CarColumn, colour: string, scale: (value: number) => number): RunLine[] => {
    const ghost = replay.ghost.value;
    return [
      { colour, valueAt: (time) => scale(poses.value(column, time)) },
      ...(ghost
        ? [
            {
              colour: "--violet",
              dashed: true,
              valueAt: (time: number) => {
                const there = replay.ghostTimeAtPlace(time);
                return there === null ? Number.NaN : scale(ghost.poses.value(column, there));
              },
            },
          ]
        : []),
    ];
  };
  const same = (value: number) => value;
  const columns: PlottedColumn[] = [
    {
      plot: plot("speed", "--speed", false, 0.5, (value) => speedText(value, 1)),
      column: "speed",
      colour: "--speed",
      scale: same,
      text: (value) => speedText(value, 2),
    },
    {
      plot: plot("steering", "--steering", true, 5, (value) => angleText(radians(value), 0)),
      column: "steering",
      colour: "--steering",
      scale: degrees,
      text: (value) => angleText(radians(value), 1),
    },
    ...(replay.route
      ? [
          {
            plot: plot("offset", "--green", true, 0.1, (value) => units.metres(fixed(value, 2))),
            column: "offset" as const,
            colour: "--green",
            scale: same,
            text: (value: number) => (Number.isNaN(value) ? units.none : units.metres(fixed(value, 3))),
          },
        ]
      : []),
  ];
  const moveCursors = () => {
    const time = player.time.value;
    for (const { plot, column, scale, text } of columns) plot.setCursor(time, text(scale(poses.value(column, time))));
    const gap = replay.gap(time);
    gapPlot.setCursor(time, gap === null ? t.replay.gapNone : t.replay.gapValue(signed(gap, 2)));
  };
  const gapPlot = plot("gap", "--violet", true, 0.2, (value) => t.replay.gapValue(signed(value, 1)));
  return {
    elements: [...columns.map((one) => one.plot.element), gapPlot.element],
    stops: [
      replay.ghost.watch((ghost) => {
        for (const { plot, column, colour, scale } of columns) plot.setLines(lines(column, colour, scale));
        gapPlot.element.hidden = !ghost?.progress || !replay.progress;
        gapPlot.setLines(ghost ? [{ colour: "--violet", valueAt: (time) => replay.gap(time) ?? Number.NaN }] : []);
        moveCursors();
      }),
      player.time.watch(moveCursors),
      ...[...columns.map((one) => one.plot), gapPlot].map((plot) => () => plot.dispose()),
    ],
  };
}

/**
 * The marks of the timeline as a list of buttons. The button of the last mark before the current
 * moment is highlighted.
 */
function eventList(replay: Replay): { element: HTMLElement; stops: (() => void)[] } {
  const rows = replay.marks.map((mark) =>
    h(
      "button",
      {
        type: "button",
        class: "event",
        "data-kind": mark.kind,
        "data-state": mark.state,
        on: { click: () => replay.player.seek(mark.time) },
      },
      h("span", { class: `event-mark moment-${mark.kind}`, "data-state": mark.state, title: t.replay.kinds[mark.kind] }),
      h("span", { class: "event-time" }, preciseClock(mark.time)),
      h("span", { class: "event-text" }, mark.text),
    ),
  );
  const entries = replay.marks.map((mark, i) => ({ time: mark.time, i }));
  const scroller = h("div", { class: "events", "data-testid": "events" }, ...rows);
  if (rows.length === 0) scroller.append(h("p", { class: "hint" }, t.replay.noEvents));
  let shown = -1;
  return {
    element: h("div", { class: "events-box" }, h("h3", {}, t.replay.events), scroller),
    stops: [
      replay.player.time.watch((time) => {
        const now = latest(entries, time + 0.005)?.i ?? -1;
        if (now === shown) return;
        rows[shown]?.removeAttribute("aria-current");
        shown = now;
        const row = rows[now];
        if (!row) return;
        row.setAttribute("aria-current", "true");
        scroller.scrollTop = row.offsetTop - scroller.offsetTop - scroller.clientHeight / 2 + row.offsetHeight / 2;
      }),
    ],
  };
}
