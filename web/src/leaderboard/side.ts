/**
 * The cards beside the tables: the run that is being judged, and the last runs that improved a
 * result.
 */
import { t } from "../strings.ts";
import { fill, h, show, write } from "../ui/dom.ts";
import { fixed } from "../ui/format.ts";
import type { Leaderboard, LeaderboardChange } from "../wire/sim.ts";
import { decimalsOf, timeOfDay } from "./format.ts";

/** Largest number of shown changes. */
const MAX_SHOWN = 12;

export interface Part {
  element: HTMLElement;
  update(board: Leaderboard): void;
}

/** The display name of a world. */
export function displayOf(board: Leaderboard, world: string): string {
  return board.tables.find((table) => table.world === world)?.display ?? world;
}

/** A card with a title. */
export function sideCard(title: string, testid: string, ...children: HTMLElement[]): HTMLElement {
  return h("section", { class: "side-card", "data-testid": testid }, h("h2", {}, title), ...children);
}

/** A progress bar. Its value is from 0 to 1. */
export function progressBar(): { element: HTMLElement; set(part: number): void } {
  const element = h("div", {
    class: "bar",
    role: "progressbar",
    "aria-label": t.leaderboard.progress,
    "aria-valuemin": 0,
    "aria-valuemax": 100,
  });
  return {
    element,
    set(part) {
      element.style.setProperty("--part", String(part));
      element.setAttribute("aria-valuenow", String(Math.round(part * 100)));
    },
  };
}

/** The run in progress, and the number of waiting submissions. */
export function queueCard(): Part {
  const now = h("p", { class: "queue-now" });
  const bar = progressBar();
  const waiting = h("p", { class: "hint" });
  const problem = h("p", { class: "board-problem", role: "alert", hidden: true });
  return {
    element: sideCard(t.leaderboard.queue, "queue", now, bar.element, waiting, problem),
    update(board) {
      const { running, waiting: count } = board.queue;
      write(now, running ? t.leaderboard.driving(running.student, displayOf(board, running.world)) : t.leaderboard.idle);
      now.classList.toggle("idle", !running);
      show(bar.element, Boolean(running));
      bar.set(running?.progress ?? 0);
      write(waiting, t.leaderboard.waiting(String(count)));
      show(waiting, count > 0);
      write(problem, board.problem ? t.leaderboard.problem(board.problem) : "");
      show(problem, Boolean(board.problem));
    },
  };
}

/** The last runs that improved a result, newest first. */
export function changesCard(): Part {
  const list = h("ol", { class: "changes" });
  const none = h("p", { class: "hint" }, t.leaderboard.noChanges);
  let shown = "";
  return {
    element: sideCard(t.leaderboard.changes, "changes", list, none),
    update(board) {
      show(none, board.changes.length === 0);
      const text = JSON.stringify([board.changes, board.tables.map((table) => table.unit)]);
      if (text === shown) return;
      const isFirst = shown === "";
      shown = text;
      const items = board.changes.slice(0, MAX_SHOWN).map((change) => changeItem(board, change));
      fill(list, ...items);
      if (!isFirst) items[0]?.classList.add("fresh");
    },
  };
}

function changeItem(board: Leaderboard, change: LeaderboardChange): HTMLElement {
  const table = board.tables.find((one) => one.world === change.world);
  const unit = table?.unit ? ` ${table.unit}` : "";
  const decimals = decimalsOf([change.record, ...(typeof change.before === "number" ? [change.before] : [])]);
  const note =
    typeof change.before === "number"
      ? t.leaderboard.improved(fixed(Math.abs(change.before - change.record), decimals) + unit)
      : t.leaderboard.firstResult;
  const where = board.tables.length > 1 ? displayOf(board, change.world) : null;
  return h(
    "li",
    { class: "change", "data-testid": "change" },
    h("span", { class: "change-rank", "data-rank": change.rank }, t.leaderboard.changeRank(String(change.rank))),
    h("span", { class: "change-name" }, change.student),
    h("span", { class: "change-result" }, fixed(change.record, decimals) + unit),
    h("span", { class: "change-note" }, [note, where].filter(Boolean).join(" · ")),
    h("span", { class: "change-at" }, timeOfDay(change.at)),
  );
}
