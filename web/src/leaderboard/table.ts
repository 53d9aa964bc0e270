/** The table of one world. Rows move to their new places when ranks change. */
import { prefersReducedMotion } from "../ui/platform.ts";
import { writeAddress } from "../replay/address.ts";
import { t } from "../strings.ts";
import { fill, h, show, write } from "../ui/dom.ts";
import { fixed } from "../ui/format.ts";
import { icon, type IconName } from "../ui/icons.ts";
import type { LeaderboardRow, LeaderboardTable } from "../wire/sim.ts";
import { decimalsOf, gapText, timeOfDay } from "./format.ts";

/** With at most this many rows, the table fits on a projector in large text. */
const FEW_ROWS = 11;
/** Duration of the movement of a row, in milliseconds. */
const MOVE_MS = 900;

/** Address of the replay of a run, optionally with a second run as its ghost. */
function replayAddress(session: string, ghost?: string): string {
  return `/sim${writeAddress("", { view: "replay", session, time: null, ...(ghost && { ghost }) })}`;
}

function linkButton(name: IconName, text: string, title: string, testid: string): HTMLAnchorElement {
  return h("a", { class: "board-link", title, "data-testid": testid }, icon(name), h("span", {}, text));
}

interface Row {
  element: HTMLElement;
  update(row: LeaderboardRow, table: LeaderboardTable, decimals: number): void;
}

function tableRow(): Row {
  const rank = h("span", { class: "medal" });
  const student = h("a", { class: "row-student" });
  const result = h("span", { class: "row-number" });
  const unit = h("span", { class: "row-unit" });
  const gap = h("td", { class: "row-gap" });
  const at = h("td", { class: "row-at" });
  const runs = h("td", { class: "row-runs" });
  const element = h(
    "tr",
    { "data-testid": "row" },
    h("td", { class: "row-rank" }, rank),
    h("td", { class: "row-name" }, student),
    h("td", { class: "row-result" }, result, unit),
    gap,
    at,
    runs,
  );
  return {
    element,
    update(row, table, decimals) {
      const leader = table.rows[0].record;
      element.dataset["rank"] = String(row.rank);
      write(rank, String(row.rank));
      write(student, row.student);
      student.title = t.leaderboard.watchRun(row.student);
      student.setAttribute("href", replayAddress(row.session));
      write(result, fixed(row.record, decimals));
      write(unit, table.unit ?? "");
      write(gap, row.rank === 1 ? t.leaderboard.leader : gapText(row.record, leader, decimals));
      write(at, timeOfDay(row.at));
      write(runs, t.leaderboard.attempts(String(row.runs)));
    },
  };
}

/** The table of a world. */
export function worldTable(first: LeaderboardTable): { element: HTMLElement; update(table: LeaderboardTable): void } {
  const rows = new Map<string, Row>();
  const body = h("tbody");
  const watch = linkButton("play", t.leaderboard.watch, t.leaderboard.watch, "watch-leader");
  const compare = linkButton("replay", t.leaderboard.compare, t.leaderboard.compareTitle, "compare");
  const empty = h(
    "div",
    { class: "board-empty" },
    icon("flag"),
    h("p", {}, t.leaderboard.empty),
    h("p", { class: "hint" }, t.leaderboard.emptyHelp),
  );
  const { rank, student, result, gap, at, runs } = t.leaderboard;
  const headings = [rank, student, result, gap, at, runs].map((text, i) => h("th", { class: `head-${i}` }, text));
  const table = h("table", { class: "board-table" }, h("thead", {}, h("tr", {}, ...headings)), body);
  const picture = h("img", {
    class: "board-picture",
    src: `/sim/api/worlds/${encodeURIComponent(first.world)}/thumbnail.png`,
    alt: "",
  });
  picture.addEventListener("error", () => show(picture, false));
  const element = h(
    "section",
    { class: "board", "data-testid": "board", "data-world": first.world },
    h(
      "header",
      { class: "board-head" },
      picture,
      h("div", { class: "board-title" }, h("h2", {}, first.display), h("p", {}, t.leaderboard.better[first.better])),
      h("div", { class: "board-links" }, watch, compare),
    ),
    h("div", { class: "board-scroll" }, table, empty),
  );

  function update(now: LeaderboardTable): void {
    const before = new Map([...rows].map(([key, row]) => [key, row.element.getBoundingClientRect().top]));
    const order: HTMLElement[] = [];
    const isFirst = rows.size === 0;
    const decimals = decimalsOf(now.rows.map((row) => row.record));
    for (const row of now.rows) {
      const known = rows.get(row.student) ?? tableRow();
      rows.set(row.student, known);
      const improved = known.element.dataset["session"] !== row.session;
      known.element.dataset["session"] = row.session;
      known.update(row, now, decimals);
      order.push(known.element);
      if (improved && !isFirst) flash(known.element);
    }
    if (order.some((row, i) => body.children[i] !== row) || body.children.length !== order.length) {
      fill(body, ...order);
      move(rows, before);
    }
    table.dataset["size"] = order.length > FEW_ROWS ? "many" : "few";
    show(table, order.length > 0);
    show(empty, order.length === 0);
    const [leader, second] = now.rows;
    show(watch, Boolean(leader));
    show(compare, Boolean(second));
    if (leader) watch.href = replayAddress(leader.session);
    if (second) compare.href = replayAddress(leader.session, second.session);
  }
  update(first);
  return { element, update };
}

/** Animates rows from their old places to their new ones. */
function move(rows: ReadonlyMap<string, Row>, before: ReadonlyMap<string, number>): void {
  if (prefersReducedMotion()) return;
  for (const [key, { element }] of rows) {
    const from = before.get(key);
    if (from === undefined) {
      element.animate([{ opacity: 0 }, { opacity: 1 }], { duration: MOVE_MS, easing: "ease-out" });
      continue;
    }
    const by = from - element.getBoundingClientRect().top;
    if (Math.abs(by) < 1) continue;
    const [start, end] = [{ transform: `translateY(${by}px)` }, { transform: "none" }];
    element.animate([start, end], { duration: MOVE_MS, easing: "cubic-bezier(.2, .8, .2, 1)" });
  }
}

/** Marks a row whose result has changed. */
function flash(row: HTMLElement): void {
  row.classList.remove("improved");
  // Reading the size forces a layout, which restarts the animation.
  void row.offsetWidth;
  row.classList.add("improved");
}
