import { describe, expect, it } from "vitest";
import { beganSince } from "../../src/net/server-start.ts";
import { defaultWallLimit, noVirtualTime } from "../../src/panels/evaluation-form.ts";
import { paceText, requestedPace } from "../../src/panels/record-facts.ts";
import { en } from "../../src/strings/en.ts";
import { failureText, programFailure, TONES, verdictOf, verdictText } from "../../src/ui/verdict.ts";

describe("verdict", () => {
  it("on a run without a record is failed, not finished", () => {
    expect(verdictOf({ outcome: "finished", record: null })).toBe("failed");
    expect(verdictOf({ outcome: "finished" })).toBe("failed");
    expect(verdictText("failed")).toBe(en.evaluation.outcomes.failed);
    expect(TONES.failed).toBe("bad");
  });

  it("on a run with a record is finished, also for the record 0 and if the program failed later", () => {
    for (const record of [0, 12.5, "", false, {}]) expect(verdictOf({ outcome: "finished", record })).toBe("finished");
    expect(TONES.finished).toBe("good");
  });

  it("on every other outcome is the outcome, in a colour of its own", () => {
    for (const outcome of ["timeout", "script_error", "stopped", "unsupported"] as const)
      expect(verdictOf({ outcome, record: null })).toBe(outcome);
    expect(verdictOf({ outcome: null })).toBeNull();
    expect(verdictText(null)).toBe(en.units.none);
    expect(new Set(Object.values(TONES)).size).toBe(Object.keys(TONES).length);
  });
});

describe("the reason of a failure", () => {
  const { failure } = en.evaluation;

  it("names exit status, signal and memory", () => {
    expect(programFailure({ exit_code: 1 })).toBe("The program exited with status 1.");
    expect(programFailure({ exit_code: 127 })).toBe(failure.notFound);
    expect(programFailure({ exit_code: 126 })).toBe(failure.notExecutable);
    expect(programFailure({ exit_code: null, signal: 11 })).toBe("The program was ended by signal SIGSEGV (11).");
    expect(programFailure({ exit_code: -11 })).toBe("The program was ended by signal SIGSEGV (11).");
    expect(programFailure({ exit_code: null, signal: 40 })).toBe("The program was ended by signal 40.");
    expect(programFailure({ exit_code: 139 })).toContain("SIGSEGV (11)");
    expect(programFailure({ exit_code: 255 })).toBe(failure.status(255));
    expect(programFailure({ exit_code: null, signal: 9, oom: true })).toBe(failure.outOfMemory);
  });

  it("is absent if the program exited with 0 or still ran", () => {
    for (const end of [{ exit_code: 0 }, { exit_code: null }, { exit_code: null, signal: null, oom: false }, null])
      expect(programFailure(end)).toBeNull();
    expect(failureText("finished", { exit_code: 0 })).toBeNull();
    expect(failureText("stopped", { exit_code: null })).toBeNull();
  });

  it("is always present for a failed run", () => {
    expect(failureText("failed", { exit_code: 1 })).toBe(failure.status(1));
    expect(failureText("failed", { exit_code: 0 })).toBe(failure.noRecord);
    expect(failureText("failed", null)).toBe(failure.noProgramNoRecord);
  });

  it("is present for another outcome if the program failed", () => {
    expect(failureText("timeout", { exit_code: 1 })).toBe(failure.status(1));
  });
});

describe("the wall-clock limit", () => {
  it("has the default of the server", () => {
    expect([1, 24, 180, 3600].map(defaultWallLimit)).toEqual([120, 120, 900, 18_000]);
  });
});

describe("the pace", () => {
  it("can be virtual unless programs reach more than the simulator", () => {
    expect(noVirtualTime(null)).toBeNull();
    expect(noVirtualTime("none")).toBeNull();
    expect(noVirtualTime("internet")).toBe(en.evaluation.notRepeatable.internet);
    expect(noVirtualTime("host")).toBe(en.evaluation.notRepeatable.host);
  });

  it("of a record is shown if a program ran", () => {
    expect(paceText({ box: "closed", pace: "virtual" })).toBe(en.evaluation.paces.virtual);
    expect(paceText({ box: "host", pace: "real" })).toBe(en.evaluation.paces.real);
    expect(paceText({ box: null, pace: "real" })).toBeNull();
    expect(paceText({ box: "closed" })).toBeNull();
  });

  it("that was requested is virtual if the record has a reason for another one", () => {
    expect(requestedPace({ pace: "real", pace_reason: "the program has internet access" })).toBe("virtual");
    expect(requestedPace({ pace: "real", pace_reason: null })).toBe("real");
    expect(requestedPace({ pace: "virtual" })).toBe("virtual");
    expect(requestedPace({})).toBeNull();
  });
});

describe("a session", () => {
  it("of the running server began after the server", () => {
    const now = "Mon, 16 Nov 2026 15:46:00 GMT";
    expect(beganSince("2026-11-16T15:45:59Z", now, 0.97)).toBe(true);
    expect(beganSince("2026-11-16T15:40:00Z", now, 361)).toBe(true);
    expect(beganSince("2026-11-16T15:40:00Z", now, 300)).toBe(false);
    expect(beganSince("2026-11-16T15:46:00Z", "", 1)).toBe(false);
  });
});
