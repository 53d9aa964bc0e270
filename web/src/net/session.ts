/**
 * The state of an evaluation session on the page: the response of `GET /evaluation/session`,
 * updated with every later event.
 */

import { t } from "../strings.ts";
import type * as Wire from "../wire/sim.ts";

/** A session. Some fields are missing if the page has only received events of the session. */
export type Session = Partial<Wire.Session> & Pick<Wire.Session, "id" | "world" | "phase">;
/** Response of `GET /evaluation/session`. */
export type Current = Omit<Wire.CurrentSession, "session"> & { session?: Session | null };
/** A stored record. */
export type EvaluationRecord = Wire.Record;
/**
 * The part of a record that the page uses. The events are left out, because `SessionView` has them
 * as lines.
 */
export type StoredRecord = Omit<EvaluationRecord, "events">;

/** A line of a log on the page. */
export interface LogLine {
  text: string;
  /** Origin: the judging script, a stream of the student's program, or the page itself (`note`). */
  from: "script" | "stdout" | "stderr" | "note";
}

export interface SessionView {
  active: boolean;
  session: Session;
  /** Lines of the judging script. */
  log: readonly LogLine[];
  /** Lines of the student's program. */
  output: readonly LogLine[];
  /**
   * The stored record; null until the page has fetched it. Before the end of the session, the
   * record's facts about the run, such as `run` and `refused`, are not final.
   */
  stored: StoredRecord | null;
}

export type EvaluationEvent = Wire.EvaluationEvent;
export type RunEvent = Wire.RunEvent;

/** Largest number of lines of a log. Older lines are dropped. */
const MAX_LINES = 500;
/** A record contains at most this many lines from the end of a program's output. */
const MAX_LAST_LINES = 40;

/**
 * Combines the responses of the server with the known state. The record contains every line since
 * the start of the session. If the page already has more lines than the responses contain, the page
 * keeps its own lines. Returns null if `current` contains no session.
 */
export function viewOf(
  current: Current,
  recorded: EvaluationRecord | null,
  before: SessionView | null,
): SessionView | null {
  const { session } = current;
  if (!session) return null;
  const known = before?.session.id === session.id ? before : null;
  // A session that has ended stays ended, so this response is older than the event of the end.
  if (known && !known.active && current.active) return known;
  const stored = recorded?.session === session.id ? withoutEvents(recorded) : (known?.stored ?? null);
  const empty: SessionView = { active: current.active, session, log: [], output: [], stored };
  let fetched: SessionView = { ...empty, log: (session.log ?? []).map((text): LogLine => ({ text, from: "script" })) };
  if (recorded?.session === session.id && recorded.events) {
    fetched = empty;
    for (const event of recorded.events) {
      if (event.kind === "run") fetched = afterRun(fetched, event) ?? fetched;
      if (event.kind === "log") fetched = { ...fetched, log: appendLine(fetched.log, { text: event.line, from: "script" }) };
    }
  }
  const more = (ours: readonly LogLine[] | undefined, theirs: readonly LogLine[]) =>
    ours && ours.length > theirs.length ? ours : theirs;
  return {
    active: current.active,
    session,
    log: more(known?.log, fetched.log),
    output: more(known?.output, fetched.output),
    stored,
  };
}

/** The state with the stored record of its session. A record of another session changes nothing. */
export function withRecord(view: SessionView | null, record: EvaluationRecord): SessionView | null {
  if (view?.session.id !== record.session) return view;
  const session = { ...view.session, interference: record.interference.count };
  return { ...view, session, stored: withoutEvents(record) };
}

function withoutEvents({ events: _, ...stored }: EvaluationRecord): StoredRecord {
  return stored;
}

/** The state with the interference that was fetched during the run. */
export function withInterference(view: SessionView | null, current: Current): SessionView | null {
  const count = current.session?.interference ?? 0;
  if (!view?.active || view.session.id !== current.session?.id || view.session.interference === count) return view;
  return { ...view, session: { ...view.session, interference: count } };
}

/** The state after an evaluation event. Only a `start` event can introduce a new session. */
export function afterEvaluation(view: SessionView | null, event: EvaluationEvent): SessionView | null {
  if (event.kind === "start") return startedSession(event);
  if (!view || view.session.id !== event.session) return view;
  const change = (session: Partial<Session>, more: Partial<SessionView> = {}): SessionView => ({
    ...view,
    ...more,
    session: { ...view.session, elapsed_s: event.time, ...session },
  });
  switch (event.kind) {
    case "phase":
      return change({ phase: event.phase });
    case "record":
      return change({ record: event.record });
    case "log":
      return change({}, { log: appendLine(view.log, { text: event.line, from: "script" }) });
    case "end":
      return change(
        {
          phase: "ended",
          outcome: event.outcome,
          record: event.record,
          reason: event.reason ?? null,
        },
        { active: false },
      );
    // These three kinds occur only in a record. A newer server may send other unknown kinds.
    case "command":
    case "run":
    case "truncated":
    default:
      return view;
  }
}

/** The state after an event of the student's program. */
export function afterRun(view: SessionView | null, event: RunEvent): SessionView | null {
  if (!view) return view;
  const run = (running: boolean, exit_code: number | null, line: LogLine): SessionView => ({
    ...view,
    session: { ...view.session, run: { running, exit_code } },
    output: appendLine(view.output, line),
  });
  switch (event.phase) {
    case "start":
      return run(true, null, {
        text: t.evaluation.startedCommand(event.command),
        from: "note",
      });
    case "exit":
      return run(false, event.exit_code, {
        text: t.evaluation.exitCode(String(event.exit_code)),
        from: "note",
      });
    case "log":
      return { ...view, output: appendLine(view.output, { text: event.line, from: event.stream }) };
    default:
      return view;
  }
}

/** The last lines of the program that the page has received. A record has the same lines. */
export function lastLines({ output }: SessionView): string[] {
  const lines = output.filter(({ from }) => from !== "note").map(({ text }) => text);
  return lines.slice(-MAX_LAST_LINES);
}

function startedSession(event: EvaluationEvent & { kind: "start" }): SessionView {
  const session: Session = {
    id: event.session,
    world: event.world,
    phase: "initializing",
    outcome: null,
    record: null,
    reason: null,
    command: event.command ?? null,
    time_limit_s: event.time_limit_s,
    elapsed_s: 0,
    run: { running: false, exit_code: null },
    interference: 0,
    log: [],
  };
  return { active: true, session, log: [], output: [], stored: null };
}

function appendLine(lines: readonly LogLine[], line: LogLine): readonly LogLine[] {
  return [...lines.slice(-(MAX_LINES - 1)), line];
}
