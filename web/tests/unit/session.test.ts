import { describe, expect, it } from "vitest";
import { afterEvaluation, afterRun, viewOf, type Session, type SessionView } from "../../src/net/session.ts";
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
    const view = viewOf({ active: true, session }, { ...session, session: "s1", events }, null);
    expect(view?.log.map((line) => line.text)).toEqual(["one", "three"]);
    expect(view?.output).toEqual([
      { text: "$ python3 run.py", from: "note" },
      { text: "oh", from: "stderr" },
    ]);
    expect(view?.session.run).toEqual(session.run);
    const other = viewOf({ active: true, session }, { ...session, session: "another", events }, null);
    expect(other?.log.map((line) => line.text)).toEqual(["one", "two"]);
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
