/** Moments of a run that the timeline marks: penalties, records, contacts, lights and log lines. */
import type { RunTracks } from "../net/tracks.ts";
import { t } from "../strings.ts";
import { fixed, record as recordText } from "../ui/format.ts";
import type { Better, LightState, RecordedEvent } from "../wire/sim.ts";

/** A penalty of the judging script. */
export interface Penalty {
  time: number;
  text: string;
}

export type MarkKind = "penalty" | "record" | "contact" | "light" | "log";

export interface Mark {
  kind: MarkKind;
  /** Simulated seconds since the start of the run. */
  time: number;
  /** Simulated seconds; 0 for a single moment. */
  duration: number;
  text: string;
  /** New colour of a light. */
  state?: LightState;
}

/** Largest number of marks of one kind. A timeline with more of them would not be readable. */
const MAX_PER_KIND = 400;
/**
 * A line with an amount after a plus sign is a penalty, such as "off the road: +5 s" or "+10
 * points".
 */
const AMOUNT = /(^|[\s,;:(])\+\s?\d+(?:[.,]\d+)?(?!\d)/;
/**
 * A record follows the clock if its change differs from the elapsed time by at most this, in
 * seconds. A tolerance is needed, because scripts round records.
 */
const CLOCK_TOLERANCE = 0.06;
/** If a record gets worse by more than this in one step, the step includes a penalty. */
const MIN_PENALTY = 0.25;

type TimedLine = { time: number; line: string };

/**
 * The penalties of a run: log lines with an amount, and steps in which the record got suddenly
 * worse.
 */
export function penaltiesOf(events: readonly RecordedEvent[], better: Better): Penalty[] {
  const lines = logLines(events).filter(({ line }) => AMOUNT.test(line));
  const penalties: Penalty[] = lines.map(({ time, line }) => ({ time, text: line }));
  const records = numericRecords(events);
  for (let i = 1; i < records.length; i++) {
    const [before, now] = [records[i - 1], records[i]];
    const worse = penaltyBetween(before, now, better);
    // The server publishes only some of the records, so the log line of a penalty can be earlier
    // than the record that includes the penalty.
    const isLogged = lines.some(({ time }) => time > before.time - 0.03 && time < now.time + 0.03);
    if (worse > MIN_PENALTY && !isLogged)
      penalties.push({ time: now.time, text: t.replay.penaltyOf(fixed(worse, 2).replace(/\.?0+$/, "")) });
  }
  return penalties.toSorted((a, b) => a.time - b.time);
}

/**
 * By how much a record got worse between two moments. If lower is better, an increase by the
 * elapsed time does not count, because the record can be a time.
 */
function penaltyBetween(before: TimedValue, now: TimedValue, better: Better): number {
  const change = now.value - before.value;
  return better === "higher" ? -change : change - (now.time - before.time);
}

/** Whether the record is a time: it increases like the clock. */
export function isClock(events: readonly RecordedEvent[]): boolean {
  const records = numericRecords(events);
  let running = 0;
  for (let i = 1; i < records.length; i++) if (runsWithClock(records[i - 1], records[i])) running++;
  return records.length >= 4 && running >= 0.7 * (records.length - 1);
}

function runsWithClock(before: TimedValue, now: TimedValue): boolean {
  const seconds = now.time - before.time;
  return seconds > 0 && Math.abs(now.value - before.value - seconds) <= CLOCK_TOLERANCE;
}

/** All marks of a run, sorted by time. */
export function marksOf(events: readonly RecordedEvent[], tracks: RunTracks | null, better: Better): Mark[] {
  const moment = (kind: MarkKind, time: number, text: string): Mark => ({ kind, time, duration: 0, text });
  const penalties = penaltiesOf(events, better).map(({ time, text }) => moment("penalty", time, text));
  const logs = logLines(events)
    .filter(({ line }) => !AMOUNT.test(line))
    .map(({ time, line }) => moment("log", time, line));
  const records = recordMarks(events).map(({ time, text }) => moment("record", time, text));
  const contacts = (tracks?.contacts ?? []).map(
    ({ time, name, duration }): Mark => ({ kind: "contact", time, duration, text: t.scene.contacts(name) }),
  );
  const lights = [...(tracks?.lights ?? [])].flatMap(([name, changes]) =>
    // The first change is the state at the start.
    changes.slice(1).map(({ time, state }): Mark => {
      return { kind: "light", time, duration: 0, text: t.replay.lightMark(name, t.replay.lights[state]), state };
    }),
  );
  return [penalties, logs, records, contacts, lights]
    .flatMap((marks) => marks.slice(0, MAX_PER_KIND))
    .toSorted((a, b) => a.time - b.time);
}

/**
 * The records of a run, without those that only follow the clock or to which a penalty was added.
 * The first and the last record are always included.
 */
function recordMarks(events: readonly RecordedEvent[]): Penalty[] {
  const records = events.filter((event) => event.kind === "record" && event.record !== null);
  const numeric = new Map(
    numericRecords(events).map((one, i, all): [RecordedEvent, TimedValue | undefined] => [one.event, all[i - 1]]),
  );
  const kept = records.filter((event, i) => {
    const before = numeric.get(event);
    const value = "record" in event ? event.record : null;
    const follows = before !== undefined && typeof value === "number" && isStep(before, { time: event.time, value });
    return i === 0 || i === records.length - 1 || !follows;
  });
  return kept.map((event) => ({
    time: event.time,
    text: t.replay.recordMark(("record" in event && recordText(event.record)) || t.units.none),
  }));
}

/**
 * Whether a record continues the previous one: it follows the clock, or a penalty was added.
 */
function isStep(before: TimedValue, now: TimedValue): boolean {
  return runsWithClock(before, now) || now.value - before.value > now.time - before.time + MIN_PENALTY;
}

interface TimedValue {
  time: number;
  value: number;
}

function numericRecords(events: readonly RecordedEvent[]): (TimedValue & { event: RecordedEvent })[] {
  return events.flatMap((event) =>
    event.kind === "record" && typeof event.record === "number"
      ? [{ time: event.time, value: event.record, event }]
      : [],
  );
}

function logLines(events: readonly RecordedEvent[]): TimedLine[] {
  return events.flatMap((event) => (event.kind === "log" ? [{ time: event.time, line: event.line }] : []));
}

/** Whether a log line reports a penalty. */
export function isPenaltyLine(line: string): boolean {
  return AMOUNT.test(line);
}
