import { describe, expect, it } from "vitest";
import { rejudgedText, runText } from "../../src/build/try-run.ts";
import { en } from "../../src/strings/en.ts";
import type { ProjectRun, RejudgedRun } from "../../src/wire/sim.ts";

const run: ProjectRun = {
  session: "s1",
  world: "yard",
  student: "Ada",
  command: "python3 main.py",
  outcome: "finished",
  record: 12.5,
  started_at: "2026-01-02T03:04:05Z",
  elapsed_s: 20,
};

describe("a recorded run", () => {
  it("is listed with its driver, its result and its date", () => {
    expect(runText(run)).toMatch(/^Ada · result 12\.5 · .*2026/);
    expect(runText({ ...run, student: null })).toMatch(/^python3 main\.py · /);
    const driven = runText({ ...run, student: null, command: null, record: null, outcome: "timeout" });
    expect(driven.startsWith(`${en.buildTabs.rules.recorded.noProgram} · ${en.evaluation.outcomes.timeout} · `)).toBe(true);
  });

  it("has its new verdict and the one before", () => {
    const judged: RejudgedRun = {
      session: "s1",
      world: "yard",
      same_world: true,
      outcome: "finished",
      record: 7,
      reason: null,
      elapsed_s: 61.5,
      log: [],
      omitted: 0,
      error: null,
      before: { outcome: "timeout", record: null },
    };
    const { finished, timeout } = en.evaluation.outcomes;
    expect(rejudgedText(judged)).toBe(`${finished} · 1:01.5 · result 7 (before: ${timeout})`);
  });
});
