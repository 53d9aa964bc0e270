import { describe, expect, it } from "vitest";
import {
  afterEvaluation,
  afterRun,
  lastLines,
  viewOf,
  withInterference,
  withRecord,
  type EvaluationRecord,
  type Session,
  type SessionView,
} from "../../src/net/session.ts";
import type { EvaluationEvent, RecordedEvent, RunEvent } from "../../src/wire/sim.ts";

const session: Session = {
  id: "s1",
  world: "oval",
  phase: "running",
  outcome: null,
  record: 12.5,
  reason: null,
  command: "python3 run.py",
  time_limit_s: 180,
  elapsed_s: 3,
  run: { running: true, exit_code: null },
  log: ["one", "two"],
};
const recorded: EvaluationRecord = {
  session: "s1",
  outcome: "finished",
  record: null,
  better: "lower",
  world: "oval",
  time_limit_s: 180,
  seed: 0,
  started_at: "2026-01-01T00:00:00Z",
  elapsed_s: 3,
  judge: { sha256: "", observations: 0, wait_s: 0 },
  student: "Ada",
  run: { exit_code: 1, signal: null, oom: false, output_tail: ["one", "two"] },
  interference: { count: 2, first: [] },
  refused: { count: 0, first: [] },
};
const opened = viewOf({ active: true, session }, null, null) as SessionView;

describe("session view", () => {
  it("takes the log from the session", () => {
    expect(opened.active).toBe(true);
    expect(opened.log.map((line) => line.text)).toEqual(["one", "two"]);
    expect(viewOf({ active: false, session: null }, null, opened)).toBeNull();
  });

  it("takes all lines of judge and program from the record", () => {
    const events: RecordedEvent[] = [
      { time: 0, kind: "start", world: "oval", time_limit_s: 180 },
      { time: 0, kind: "run", phase: "start", command: "python3 run.py" },
      { time: 1, kind: "log", line: "one" },
      { time: 2, kind: "run", phase: "log", stream: "stderr", line: "oh" },
      { time: 3, kind: "log", line: "three" },
    ];
    const view = viewOf({ active: true, session }, { ...recorded, events }, null);
    expect(view?.log.map((line) => line.text)).toEqual(["one", "three"]);
    expect(view?.output).toEqual([
      { text: "$ python3 run.py", from: "note" },
      { text: "oh", from: "stderr" },
    ]);
    expect(view?.session.run).toEqual(session.run);
    const other = viewOf({ active: true, session }, { ...recorded, session: "another", events }, null);
    expect(other?.log.map((line) => line.text)).toEqual(["one", "two"]);
  });

  it("became active again by a response that is older than the end", () => {
    const ended = afterEvaluation(opened, {
      kind: "end",
      session: "s1",
      time: 9,
      outcome: "finished",
      record: 9,
      reason: null,
    });
    expect(viewOf({ active: true, session }, recorded, ended)).toBe(ended);
    expect(viewOf({ active: true, session: { ...session, id: "s2" } }, null, ended)?.active).toBe(true);
  });

  it("follows the events from start to end", () => {
    const events: EvaluationEvent[] = [
      { kind: "start", session: "s2", time: 0, world: "oval", command: "x", time_limit_s: 60 },
      { kind: "phase", session: "s2", time: 0, phase: "starting" },
      { kind: "phase", session: "s2", time: 0, phase: "running" },
      { kind: "record", session: "s2", time: 4.5, record: 4.5 },
      { kind: "log", session: "s2", time: 5, line: "lap" },
      { kind: "end", session: "s2", time: 9, outcome: "finished", record: 9, reason: null },
    ];
    let view: SessionView | null = opened;
    const phases: string[] = [];
    for (const event of events) {
      view = afterEvaluation(view, event);
      phases.push(view?.session.phase ?? "");
    }
    expect(phases).toEqual(["initializing", "starting", "running", "running", "running", "ended"]);
    expect(view?.active).toBe(false);
    expect(view?.session).toMatchObject({ id: "s2", outcome: "finished", record: 9, elapsed_s: 9, command: "x" });
    expect(view?.log).toEqual([{ text: "lap", from: "script" }]);
  });

  it("ignores events of another session", () => {
    const other: EvaluationEvent = { kind: "end", session: "old", time: 1, outcome: "stopped", record: null, reason: null };
    expect(afterEvaluation(opened, other)).toBe(opened);
    expect(afterEvaluation(null, other)).toBeNull();
  });

  it("ignores unknown events", () => {
    expect(afterEvaluation(opened, { kind: "unknown", session: "s1", time: 1 } as unknown as EvaluationEvent)).toBe(opened);
    expect(afterRun(opened, { phase: "unknown" } as unknown as RunEvent)).toBe(opened);
    expect(afterRun(null, { phase: "start", command: "x" })).toBeNull();
  });

  it("keeps the program output with its stream", () => {
    let view: SessionView | null = opened;
    view = afterRun(view, { phase: "start", command: "python3 run.py" });
    view = afterRun(view, { phase: "log", stream: "stdout", line: "hello" });
    view = afterRun(view, { phase: "log", stream: "stderr", line: "oh" });
    view = afterRun(view, { phase: "exit", exit_code: -9 });
    expect(view?.output.map((line) => line.from)).toEqual(["note", "stdout", "stderr", "note"]);
    expect(view?.session.run).toEqual({ running: false, exit_code: -9 });
  });

  it("has the record of its own session without the events, also after a reconnect", () => {
    const view = withRecord(opened, { ...recorded, events: [{ time: 0, kind: "log", line: "one" }] });
    expect(view?.stored).toEqual(recorded);
    expect(view?.session.interference).toBe(2);
    expect(withRecord(opened, { ...recorded, session: "another" })).toBe(opened);
    expect(withRecord(null, recorded)).toBeNull();
    expect(viewOf({ active: false, session }, null, view)?.stored).toEqual(recorded);
    expect(viewOf({ active: true, session: { ...session, id: "s9" } }, null, view)?.stored).toBeNull();
  });

  it("takes the interference of its own active session", () => {
    const of = (id: string, interference: number) => ({ active: true, session: { ...session, id, interference } });
    const view = withInterference(opened, of("s1", 3));
    expect(view?.session.interference).toBe(3);
    expect(withInterference(view, of("s1", 3))).toBe(view);
    expect(withInterference(view, of("s2", 4))).toBe(view);
    expect(withInterference(view, { active: false, session: null })).toBe(view);
    expect(withInterference(null, of("s1", 3))).toBeNull();
  });

  it("shows the last 40 lines of the program without the notes of the page", () => {
    let view = afterRun(opened, { phase: "start", command: "python3 run.py" }) as SessionView;
    for (let i = 0; i < 50; i++) view = afterRun(view, { phase: "log", stream: "stderr", line: String(i) }) as SessionView;
    view = afterRun(view, { phase: "exit", exit_code: 1 }) as SessionView;
    expect(lastLines(view)).toHaveLength(40);
    expect(lastLines(view)[0]).toBe("10");
    expect(lastLines(view).at(-1)).toBe("49");
  });

  it("keeps the newest 500 lines", () => {
    let view: SessionView | null = opened;
    for (let i = 0; i < 2000; i++) view = afterRun(view, { phase: "log", stream: "stdout", line: String(i) });
    expect(view?.output).toHaveLength(500);
    expect(view?.output.at(-1)?.text).toBe("1999");
  });

  it("keeps its lines when the session is fetched again after a reconnect", () => {
    const grown = afterRun(afterEvaluation(opened, { kind: "log", session: "s1", time: 4, line: "three" }), {
      phase: "log",
      stream: "stdout",
      line: "out",
    });
    const again = viewOf({ active: false, session: { ...session, phase: "ended", outcome: "finished" } }, null, grown);
    expect(again?.log.map((line) => line.text)).toEqual(["one", "two", "three"]);
    expect(again?.output).toHaveLength(1);
    expect(again?.session.outcome).toBe("finished");
    const other = viewOf({ active: true, session: { ...session, id: "s9", log: [] } }, null, grown);
    expect(other?.output).toEqual([]);
  });
});
