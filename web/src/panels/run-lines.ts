/** The program's output beside the judge's log, aligned by time. */
import { alignLines } from "../replay/lines.ts";
import { t } from "../strings.ts";
import { h, type Child } from "../ui/dom.ts";
import { preciseClock } from "../ui/format.ts";
import type { RecordedEvent } from "../wire/sim.ts";

/** `openAt` opens the replay at a time. It is null if there is no replay. */
export function linesTable(events: readonly RecordedEvent[], openAt: ((time: number) => void) | null): HTMLElement {
  const { rows, dropped } = alignLines(events);
  if (rows.length === 0) return h("p", { class: "hint" }, t.replay.noLines);
  const isTruncated = events.some((event) => event.kind === "truncated");
  const timeCell = (time: number): Child => {
    const text = preciseClock(time);
    if (!openAt) return text;
    return h(
      "button",
      { type: "button", class: "line-time", title: t.replay.jumpTo(text), on: { click: () => openAt(time) } },
      text,
    );
  };
  return h(
    "div",
    { class: "line-table-box" },
    h(
      "table",
      { class: "line-table", "data-testid": "aligned-lines" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ...[t.replay.linesTime, t.replay.linesProgram, t.replay.linesJudge].map((head) => h("th", { scope: "col" }, head)),
        ),
      ),
      h(
        "tbody",
        {},
        ...rows.map(({ time, program, judge }) =>
          h(
            "tr",
            {},
            h("td", { class: "line-table-time" }, timeCell(time)),
            h("td", { class: "mono" }, ...program.map(({ text, from }) => h("span", { class: `line line-${from}` }, text))),
            h(
              "td",
              { class: "mono" },
              ...judge.map(({ text, penalty }) => h("span", { class: "line", "data-penalty": penalty }, text)),
            ),
          ),
        ),
      ),
    ),
    dropped > 0 && h("p", { class: "hint" }, t.replay.linesDropped(dropped)),
    isTruncated && h("p", { class: "hint" }, t.replay.truncated),
  );
}
