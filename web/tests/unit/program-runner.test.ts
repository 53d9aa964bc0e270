import { beforeEach, describe, expect, it, vi } from "vitest";
import { App } from "../../src/app.ts";
import type { SessionView } from "../../src/net/session.ts";
import { DraftStore } from "../../src/program/draft-store.ts";
import { Runner } from "../../src/program/runner.ts";
import { en } from "../../src/strings/en.ts";
import type { State } from "../../src/wire/sim.ts";

const FILES = [{ path: "main.py", text: "print(1)" }];

function view(id: string, active: boolean): SessionView {
  return { active, session: { id, world: "oval", phase: active ? "running" : "ended" }, log: [], output: [], stored: null };
}
const state = (active: boolean, session: string | null): State => ({ evaluation: { active, session } }) as State;

describe("the run of a draft", () => {
  let app: App;
  let store: DraftStore;
  let runner: Runner;
  let answer: () => Promise<Response>;
  const sent: { path: string; body: unknown }[] = [];
  beforeEach(() => {
    sent.length = 0;
    app = new App();
    app.link.value = "live";
    app.state.value = state(false, null);
    store = new DraftStore(null, { files: FILES, open: "main.py", command: "" });
    runner = new Runner(app, store);
    answer = async () => Response.json({ ok: true, session: { id: `own-${sent.length}` } });
    vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
      sent.push({ path, body: JSON.parse(String(init.body)) });
      return answer();
    });
  });

  it("sends the files with the command, and follows the session until its end", async () => {
    const kinds: string[] = [];
    runner.status.watch(({ kind }) => kinds.push(kind));
    await runner.run();
    expect(sent).toEqual([
      { path: "/sim/api/evaluation/run", body: { command: "python3 main.py", files: { "main.py": "print(1)" } } },
    ]);
    app.state.value = state(true, "own-1");
    app.session.value = view("own-1", true);
    await runner.run();
    expect(sent.length, "a second start does nothing").toBe(1);
    app.session.value = view("own-1", false);
    app.state.value = state(false, "own-1");
    expect(kinds.filter((kind, i) => kind !== kinds[i - 1])).toEqual(["idle", "starting", "running", "ended"]);
    expect(runner.isReady).toBe(true);
  });

  it("is judged in a world with an evaluation for this robot", async () => {
    app.profile.value = { generation: "gen1", aliases: [] } as never;
    app.evaluation.value = { config: { robot: "gen1" } } as never;
    await runner.run();
    expect(sent[0]).toMatchObject({ path: "/sim/api/evaluation/start", body: { command: "python3 main.py", pace: "virtual" } });
  });

  it("waits for the program of somebody else", async () => {
    app.state.value = state(true, "theirs");
    expect(runner.status.value.kind).toBe("others");
    await runner.run();
    expect(sent).toEqual([]);
    app.state.value = state(false, "theirs");
    expect(runner.isReady).toBe(true);
  });

  it("says why it could not start", async () => {
    answer = async () => Response.json({ error: "the judge is not available" }, { status: 503 });
    await runner.run();
    expect([runner.problem.value, runner.isReady]).toEqual(["the judge is not available", true]);
    store.change({ files: [{ path: "main.py", text: "x".repeat(600 * 1024) }], open: "main.py", command: "" });
    await runner.run();
    expect(runner.problem.value).toBe(en.program.tooLarge(600, 512));
    store.change({ files: [], open: "", command: "" });
    await runner.run();
    expect(runner.problem.value).toBe(en.program.noFiles);
    expect(sent.length).toBe(1);
    app.link.value = "lost";
    expect(runner.isReady).toBe(false);
  });

  it("showed why a stop failed even after the next stop had succeeded", async () => {
    await runner.run();
    answer = async () => Response.json({ error: "the queue is full" }, { status: 503 });
    await runner.stop();
    expect(runner.problem.value).toBe("the queue is full");
    answer = async () => Response.json({ ok: true });
    await runner.stop();
    expect(runner.problem.value).toBeNull();
  });
});
