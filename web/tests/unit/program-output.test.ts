import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { App } from "../../src/app.ts";
import type { LogLine, SessionView } from "../../src/net/session.ts";
import { renamed } from "../../src/program/draft.ts";
import { DraftStore } from "../../src/program/draft-store.ts";
import type { Editors } from "../../src/program/editors.ts";
import { runBox } from "../../src/program/run-box.ts";
import { Runner } from "../../src/program/runner.ts";
import { type FakeElement, stubDocument } from "./fake-document.ts";

const FILES = ["main.py", "a.py"].map((path) => ({ path, text: "" }));

function view(...texts: string[]): SessionView {
  const output = texts.map((text) => ({ from: "stderr", text })) as LogLine[];
  const session = { id: "own", world: "oval", phase: "running" } as const;
  return { active: true, session, log: [], output, stored: null };
}

describe("the output of a program", () => {
  const frames: (() => void)[] = [];
  let store: DraftStore;
  let runner: Runner;
  let box: FakeElement;
  beforeEach(() => {
    vi.useFakeTimers();
    stubDocument();
    frames.length = 0;
    vi.stubGlobal("requestAnimationFrame", (draw: () => void) => frames.push(draw));
    const app = new App();
    store = new DraftStore(null, { files: FILES, open: "main.py", command: "python3 main.py" });
    runner = new Runner(app, store);
    const code = { goTo: vi.fn(), setError: vi.fn() } as unknown as Editors;
    box = runBox(app, store, runner, code) as unknown as FakeElement;
    drawFrame();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  const drawFrame = () => frames.splice(0).forEach((draw) => draw());
  const print = (...texts: string[]) => {
    runner.status.value = { kind: "running", view: view(...texts), isJudged: false };
  };
  const links = () => box.byTestId("program-place").map(({ textContent }) => textContent);
  const frame = (path: string) => `  File "/workspace/${path}", line 3, in go`;

  it("is drawn once per frame, with links to the files of the draft", () => {
    print(frame("a.py"));
    print(frame("a.py"), frame("other.py"), frame("main.py"));
    expect(frames).toHaveLength(1);
    drawFrame();
    const expected = ["a.py", "main.py"].map((path) => `File "/workspace/${path}", line 3`);
    expect(links()).toEqual(expected);
  });

  it("had links to the old files if the draft changed before the frame was drawn", () => {
    print(frame("a.py"), frame("b.py"));
    store.change(renamed(store.draft.value, "a.py", "b.py"));
    drawFrame();
    expect(links()).toEqual(['File "/workspace/b.py", line 3']);
  });

  it("had links to the old files if more lines came after the change of the draft", () => {
    print(frame("a.py"));
    store.change(renamed(store.draft.value, "a.py", "b.py"));
    print(frame("a.py"), frame("b.py"));
    drawFrame();
    expect(links()).toEqual(['File "/workspace/b.py", line 3']);
  });
});
