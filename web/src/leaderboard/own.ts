/**
 * The submissions that were handed in with this browser. The browser's storage contains their
 * receipts, which are the ids of the submissions.
 */
import { writeAddress } from "../replay/address.ts";
import { t } from "../strings.ts";
import { iconButton } from "../ui/card.ts";
import { fill, h, show } from "../ui/dom.ts";
import { record as recordText } from "../ui/format.ts";
import { persistedSignal } from "../ui/signal.ts";
import type { Submission, SubmissionResult } from "../wire/sim.ts";
import { fetchSubmission } from "./client.ts";
import { progressBar, sideCard } from "./side.ts";

/** Largest number of stored receipts. */
const MAX_KEPT = 6;
const ID = /^[0-9a-f]{32}$/;

const isIds = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((id) => typeof id === "string" && ID.test(id));

/** The card with the submissions of this browser. */
export function ownCard(): { element: HTMLElement; add(id: string): void; refresh(): Promise<void> } {
  const receipts = persistedSignal<string[]>("receipts", [], isIds);
  const known = new Map<string, Submission>();
  const list = h("ul", { class: "own" });
  const element = sideCard(t.leaderboard.own, "own", list);

  function draw(): void {
    const all = receipts.value.flatMap((id) => known.get(id) ?? []);
    show(element, all.length > 0);
    // If the user has opened the output of a submission, the output stays open.
    const open = new Set([...list.querySelectorAll("details[open]")].map((one) => (one as HTMLElement).dataset["key"]));
    fill(list, ...all.map((one) => item(one, open, () => forget(one.id))));
  }

  function forget(id: string): void {
    receipts.value = receipts.value.filter((one) => one !== id);
    draw();
  }

  async function refresh(): Promise<void> {
    for (const id of receipts.value) {
      const before = known.get(id)?.state;
      if (before === "done" || before === "failed") continue;
      try {
        const now = await fetchSubmission(id);
        if (now) known.set(id, now);
        else receipts.value = receipts.value.filter((one) => one !== id);
      } catch {
        // The connection is lost. Another part of the page shows this, and a later call of
        // `refresh` tries again.
        return;
      }
    }
    draw();
  }

  draw();
  return {
    element,
    add(id) {
      receipts.value = [id, ...receipts.value].slice(0, MAX_KEPT);
      void refresh();
    },
    refresh,
  };
}

function item(one: Submission, open: ReadonlySet<string | undefined>, onForget: () => void): HTMLElement {
  const { ownStates, forget, receipt } = t.leaderboard;
  const isOver = one.state === "done" || one.state === "failed";
  const state =
    one.state === "waiting"
      ? ownStates.waiting(String(one.position ?? 0))
      : one.state === "running"
        ? ownStates.running(one.world ?? "")
        : one.state === "failed"
          ? ownStates.failed
          : null;
  const bar = one.state === "running" ? progressBar() : null;
  bar?.set(one.progress ?? 0);
  return h(
    "li",
    { class: "own-item", "data-testid": "own-item", "data-state": one.state, title: receipt(one.id) },
    h(
      "div",
      { class: "row" },
      h("strong", { class: "own-name" }, one.shown_as),
      h("span", { class: "spring" }),
      state && h("span", { class: "own-state" }, state),
      isOver && iconButton("close", forget, onForget),
    ),
    bar?.element,
    one.reason && h("p", { class: "own-reason" }, one.reason),
    one.results.map((result) => resultLine(one.id, result, open)),
  );
}

function resultLine(id: string, result: SubmissionResult, open: ReadonlySet<string | undefined>): HTMLElement {
  const { verdicts, ownRank, ownNotBest, output, replay } = t.leaderboard;
  const isFinished = result.verdict === "finished";
  const value = isFinished ? [recordText(result.record), result.unit].filter(Boolean).join(" ") : verdicts[result.verdict];
  const rank = result.rank ? ownRank(String(result.rank), String(result.of)) : ownNotBest;
  const key = `${id} ${result.world}`;
  const address = result.session && writeAddress("", { view: "replay", session: result.session, time: null });
  return h(
    "div",
    { class: "own-result", "data-verdict": result.verdict, "data-testid": "own-result" },
    h(
      "p",
      { class: "row" },
      h("span", { class: "own-world" }, result.world),
      h("strong", {}, value),
      isFinished && h("span", { class: "own-rank" }, rank),
      h("span", { class: "spring" }),
      address && h("a", { class: "own-replay", href: `/sim${address}` }, replay),
    ),
    !isFinished && h("p", { class: "own-reason" }, result.reason),
    result.output_tail.length > 0 &&
      h(
        "details",
        { "data-key": key, open: open.has(key) },
        h("summary", {}, output),
        h("pre", {}, result.output_tail.join("\n")),
      ),
  );
}
