/** Aligns the output of the program and the log of the judge by time. */
import type { LogLine } from "../net/session.ts";
import { t } from "../strings.ts";
import type { RecordedEvent } from "../wire/sim.ts";
import { isPenaltyLine } from "./marks.ts";

export interface JudgeLine {
  text: string;
  penalty: boolean;
}

/** Lines that were printed at the same time, to a hundredth of a second. */
export interface LineRow {
  /** Simulated seconds since the start of the run. */
  time: number;
  program: LogLine[];
  judge: JudgeLine[];
}

/** Largest number of lines on the page. */
const MAX_LINES = 4000;

/**
 * Rows in the order of time. At most `max` lines are kept, and `dropped` is the number of the other
 * lines.
 */
export function alignLines(
  events: readonly RecordedEvent[],
  max = MAX_LINES,
): { rows: LineRow[]; dropped: number } {
  const rows: LineRow[] = [];
  let count = 0;
  let dropped = 0;
  const ordered = events.filter((event) => event.kind === "run" || event.kind === "log");
  for (const event of ordered.toSorted((a, b) => a.time - b.time)) {
    if (count === max) {
      dropped++;
      continue;
    }
    count++;
    const row = rowAt(rows, event.time);
    if (event.kind === "log") row.judge.push({ text: event.line, penalty: isPenaltyLine(event.line) });
    else if (event.kind === "run") row.program.push(programLine(event));
  }
  return { rows, dropped };
}

/** The last row if it has this time, otherwise a new row. */
function rowAt(rows: LineRow[], time: number): LineRow {
  const last = rows.at(-1);
  if (last && Math.round(100 * last.time) === Math.round(100 * time)) return last;
  const row = { time, program: [], judge: [] };
  rows.push(row);
  return row;
}

function programLine(event: RecordedEvent & { kind: "run" }): LogLine {
  switch (event.phase) {
    case "start":
      return { text: t.evaluation.startedCommand(event.command), from: "note" };
    case "exit":
      return { text: t.evaluation.exitCode(String(event.exit_code)), from: "note" };
    default:
      return { text: event.line, from: event.stream };
  }
}
