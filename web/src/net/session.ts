/**
 * An evaluation session as a page knows it: what `GET /evaluation/session` said, and every event since.
 */

import type * as Wire from "../wire/sim.ts";

/** A session as the server tells it; what a page learns of one from events alone is less. */
export type Session = Partial<Wire.Session> & Pick<Wire.Session, "id" | "world" | "phase">;
/** Answer of `GET /evaluation/session`. */
export type Current = Omit<Wire.CurrentSession, "session"> & { session?: Session | null };
/** A record as it is kept. */
export type EvaluationRecord = Wire.Record;

/** A line that a person can read. */
export interface Line {
  text: string;
  /** Where it comes from: the script, or the student's program. */
  from: "script" | "stdout" | "stderr" | "note";
}

export interface SessionView {
  active: boolean;
  session: Session;
  /** Lines of the judging script. */
  log: readonly Line[];
  /** Lines of the student's program. */
  output: readonly Line[];
}

export type EvaluationEvent = { kind: string; session: string; time: number } & Record<string, unknown>;
export type RunEvent = { phase: string } & Record<string, unknown>;

const MAX_LINES = 500;

/**
 * What the server says when it is asked: the session, and its record, which has every line since its start. Lines
 * that are known already stay.
 */
export function viewOf(
  current: Current,
  recorded: Pick<EvaluationRecord, "session" | "events"> | null,
  before: SessionView | null,
): SessionView | null {
  const { session } = current;
  if (!session) return null;
  const known = before?.session.id === session.id ? before : null;
  const empty: SessionView = { active: current.active, session, log: [], output: [] };
  let told: SessionView = { ...empty, log: (session.log ?? []).map((text): Line => ({ text, from: "script" })) };
  if (recorded?.session === session.id && recorded.events) {
    told = empty;
    for (const { kind, ...event } of recorded.events) {
      if (kind === "run") told = afterRun(told, event as unknown as RunEvent) ?? told;
      if (kind === "log") told = { ...told, log: added(told.log, { text: String(event["line"]), from: "script" }) };
    }
  }
  const more = (ours: readonly Line[] | undefined, theirs: readonly Line[]) =>
    ours && ours.length > theirs.length ? ours : theirs;
  return { active: current.active, session, log: more(known?.log, told.log), output: more(known?.output, told.output) };
}

/** The session after one of its events. Of a session that is not known only its start is taken. */
export function afterEvaluation(view: SessionView | null, event: EvaluationEvent): SessionView | null {
  if (event.kind === "start") return begun(event);
  if (!view || view.session.id !== event.session) return view;
  const change = (session: Partial<Session>, more: Partial<SessionView> = {}): SessionView => ({
    ...view,
    ...more,
    session: { ...view.session, elapsed_s: event.time, ...session },
  });
  switch (event.kind) {
    case "phase":
      return change({ phase: String(event["phase"]) });
    case "record":
      return change({ record: event["record"] });
    case "log":
      return change({}, { log: added(view.log, { text: String(event["line"]), from: "script" }) });
    case "end":
      return change(
        {
          phase: "ended",
          outcome: String(event["outcome"]),
          record: event["record"],
          reason: typeof event["reason"] === "string" ? event["reason"] : null,
        },
        { active: false },
      );
    default:
      return view;
  }
}

/** The session after a line of the student's program. */
export function afterRun(view: SessionView | null, event: RunEvent): SessionView | null {
  if (!view) return view;
  const run = (running: boolean, exit_code: number | null, line: Line): SessionView => ({
    ...view,
    session: { ...view.session, run: { running, exit_code } },
    output: added(view.output, line),
  });
  switch (event.phase) {
    case "start":
      return run(true, null, { text: `$ ${String(event["command"])}`, from: "note" });
    case "exit":
      return run(false, Number(event["exit_code"]), { text: `exit ${String(event["exit_code"])}`, from: "note" });
    case "log": {
      const from = event["stream"] === "stderr" ? "stderr" : "stdout";
      return { ...view, output: added(view.output, { text: String(event["line"]), from }) };
    }
    default:
      return view;
  }
}

function begun(event: EvaluationEvent): SessionView {
  const text = (name: string) => (typeof event[name] === "string" ? (event[name] as string) : null);
  const session: Session = {
    id: event.session,
    world: text("world") ?? "",
    phase: "initializing",
    outcome: null,
    record: null,
    reason: null,
    command: text("command"),
    ...(typeof event["time_limit_s"] === "number" && { time_limit_s: event["time_limit_s"] }),
    elapsed_s: 0,
    run: { running: false, exit_code: null },
    log: [],
  };
  return { active: true, session, log: [], output: [] };
}

function added(lines: readonly Line[], line: Line): readonly Line[] {
  return [...lines.slice(-(MAX_LINES - 1)), line];
}
