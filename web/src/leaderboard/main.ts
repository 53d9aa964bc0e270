/**
 * Entry point of the leaderboard: a page for a projector, on which students also hand in programs.
 */
import "../style/base.css";
import "../style/controls.css";
import "../style/panels.css";
import "../style/leaderboard.css";
import { applyTheme } from "../settings.ts";
import { t } from "../strings.ts";
import { fill, h, show, write } from "../ui/dom.ts";
import { icon, logo } from "../ui/icons.ts";
import { signInDialog } from "../ui/sign-in.ts";
import type { Leaderboard } from "../wire/sim.ts";
import { Client } from "./client.ts";
import { handInDialog } from "./hand-in.ts";
import { ownCard } from "./own.ts";
import { changesCard, queueCard } from "./side.ts";
import { worldTable } from "./table.ts";

function main(): void {
  applyTheme();
  document.documentElement.lang = t.language;
  const client = new Client();
  const signIn = signInDialog((token) => `/sim/leaderboard?token=${encodeURIComponent(token)}`);
  const queue = queueCard();
  const changes = changesCard();
  const own = ownCard();
  const live = h("p", { class: "unseen", role: "status" });
  const handIn = handInDialog(
    (received) => {
      own.add(received.id);
      write(live, t.leaderboard.handedIn(received.shown_as));
      client.refresh();
    },
    () => signIn.showModal(),
  );

  const link = h("span", { class: "board-connection", role: "status", "data-testid": "connection" });
  const anonymous = h("span", { class: "hint", hidden: true }, t.leaderboard.anonymous);
  const button = h(
    "button",
    { type: "button", class: "primary", "data-testid": "hand-in", on: { click: () => handIn.open() } },
    icon("flag"),
    t.leaderboard.handIn,
  );
  const head = h(
    "header",
    { class: "board-top" },
    logo(),
    h("h1", {}, t.leaderboard.title),
    anonymous,
    link,
    h("span", { class: "spring" }),
    h("a", { class: "quiet", href: "/sim" }, t.leaderboard.toSimulator),
    button,
  );
  const boards = h("main", { class: "boards" });
  const side = h("aside", { class: "board-side" }, own.element, queue.element, changes.element);
  const missing = h(
    "main",
    { class: "board-missing", hidden: true },
    h("h2", {}, t.leaderboard.noTable),
    h("p", { class: "hint" }, t.leaderboard.noTableHelp),
  );
  document.body.append(head, boards, side, missing, live, handIn.element, signIn);

  let tables = new Map<string, ReturnType<typeof worldTable>>();
  function draw(board: Leaderboard): void {
    if (board.tables.some(({ world }) => !tables.has(world)) || tables.size !== board.tables.length) {
      tables = new Map(board.tables.map((table) => [table.world, worldTable(table)]));
      fill(boards, ...[...tables.values()].map((table) => table.element));
      boards.dataset["count"] = String(tables.size);
    }
    for (const table of board.tables) tables.get(table.world)?.update(table);
    queue.update(board);
    changes.update(board);
    show(anonymous, board.anonymous);
    handIn.setAnonymous(board.anonymous);
    void own.refresh();
  }

  client.board.watch((board) => board && draw(board));
  client.connection.watch((connection) => {
    document.body.dataset["connection"] = connection;
    const text = connection === "none" || connection === "signed-out" ? "" : t.link[connection];
    write(link, text);
    const isMissing = connection === "none";
    show(missing, isMissing);
    for (const part of [boards, side, button]) show(part, !isMissing);
    if (connection === "signed-out" && !signIn.open) signIn.showModal();
    if (connection === "live") signIn.close();
  });
  client.start();
}

main();
