import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DelayedDeletions } from "../../src/panels/delayed-deletion.ts";
import { stubDocument } from "./fake-document.ts";

const UNDO_MS = 6000;

describe("a deletion of a world", () => {
  const sent: string[] = [];
  const changed = vi.fn();
  let answer: () => void;
  let deletions: DelayedDeletions;
  beforeEach(() => {
    vi.useFakeTimers();
    stubDocument();
    sent.length = 0;
    changed.mockClear();
    deletions = new DelayedDeletions((name) => {
      sent.push(name);
      return new Promise<void>((resolve) => (answer = resolve));
    }, changed);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("is not sent if it is undone in time", async () => {
    deletions.add("yard");
    await vi.advanceTimersByTimeAsync(UNDO_MS - 1);
    deletions.undo("yard");
    await vi.advanceTimersByTimeAsync(UNDO_MS);
    expect([sent, deletions.has("yard")]).toEqual([[], false]);
  });

  it("could be undone after it was sent, so that the page showed the world as kept", async () => {
    deletions.add("yard");
    await vi.advanceTimersByTimeAsync(UNDO_MS);
    expect(sent).toEqual(["yard"]);
    deletions.undo("yard");
    expect(deletions.has("yard")).toBe(true);
    expect(deletions.canUndo("yard")).toBe(false);
    expect(changed, "the page removes the button").toHaveBeenCalledTimes(2);
    answer();
    await vi.advanceTimersByTimeAsync(0);
    expect(deletions.has("yard")).toBe(false);
  });
});
