import { describe, expect, it } from "vitest";
import { MAX_SEED, nextSeed, seedText, variesWithSeed } from "../../src/panels/seed.ts";
import { sameRun } from "../../src/panels/evaluation-result.ts";

describe("the seed of a run", () => {
  it("is followed by another one, and never by the published world", () => {
    expect([0, 1, 41].map(nextSeed)).toEqual([1, 2, 42]);
    expect([undefined, null, MAX_SEED].map(nextSeed)).toEqual([1, 1, 1]);
  });

  it("is shown if it changes something", () => {
    const varied = { vary: { friction: [0.8, 1] } };
    expect(variesWithSeed(varied)).toBe(true);
    for (const config of [null, undefined, {}, { vary: {} }]) expect(variesWithSeed(config)).toBe(false);
    expect(seedText(0, varied)).toBe("0");
    expect(seedText(7, {})).toBe("7");
    for (const seed of [0, null, undefined]) expect(seedText(seed, {})).toBeNull();
  });

  it("stays the same if the run is started again", () => {
    const view = (seed: number) => ({ session: { id: "a", command: "x", seed }, stored: null }) as never;
    expect(sameRun(view(3))).toEqual({ command: "x", seed: 3 });
    expect(sameRun(view(0))).toEqual({ command: "x" });
    expect(sameRun(null)).toEqual({});
  });
});
