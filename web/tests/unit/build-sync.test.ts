import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "../../src/net/api.ts";
import type { Road } from "../../src/build/client.ts";
import { moveItems } from "../../src/build/commands.ts";
import { objectsOf, type ProjectDocument } from "../../src/build/document.ts";
import { PendingStore } from "../../src/build/pending.ts";
import { Previewer } from "../../src/build/previewer.ts";
import { EditorSession } from "../../src/build/session.ts";
import { Sync } from "../../src/build/sync.ts";
import { FakeServer, ID, MemoryStore, project } from "./build-fake.ts";

const SAVE_MS = 400;

interface Page {
  session: EditorSession;
  sync: Sync;
  x(name: string): number | undefined;
}

function open(server: FakeServer, store: MemoryStore, editor: string): Page {
  const previewer = new Previewer(() => new Promise(() => {}));
  const session = new EditorSession(ID, structuredClone(server.document), previewer);
  const opened = { revision: server.revision, document: server.document };
  const sync = new Sync(server, ID, editor, session, new PendingStore(store, ID, editor), opened);
  session.onCommit = () => sync.changed();
  session.saved = () => sync.saved();
  sync.start();
  return { session, sync, x: (name) => objectsOf(session.document.value).find((o) => o.name === name)?.x };
}

/** Waits for `saved()` while the timers of the page run. */
async function saved(page: Page): Promise<void> {
  const [result] = await Promise.all([
    page.session.saved().then(
      () => null,
      (error: unknown) => ({ error }),
    ),
    vi.advanceTimersByTimeAsync(5000),
  ]);
  if (result) throw result.error;
}

const move = (name: string, by: number) => (draft: ProjectDocument) => moveItems(draft, [`object:${name}`], by, 0);

describe("saving", () => {
  let server: FakeServer;
  let store: MemoryStore;
  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal("localStorage", undefined);
    server = new FakeServer(project());
    store = new MemoryStore();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("sends fast changes together, and says when they are saved", async () => {
    const page = open(server, store, "a");
    expect(page.sync.status.value).toBe("saved");
    page.session.apply("move", move("box1", 1));
    page.session.apply("move", move("box1", 1));
    expect(page.sync.status.value).toBe("saving");
    expect(store.length).toBe(1);
    await vi.advanceTimersByTimeAsync(SAVE_MS);
    expect(server.saves).toBe(1);
    expect(objectsOf(server.document)[0].x).toBe(4);
    expect(page.sync.status.value).toBe("saved");
    expect(store.length).toBe(0);
  });

  it("saves a drag only when it has ended", async () => {
    const page = open(server, store, "a");
    page.session.begin("move");
    page.session.drag(move("box1", 1));
    await vi.advanceTimersByTimeAsync(2 * SAVE_MS);
    expect(server.saves).toBe(0);
    page.session.drag(move("box1", 2));
    page.session.commit();
    await saved(page);
    expect(objectsOf(server.document)[0].x).toBe(4);
    page.session.undo();
    await saved(page);
    expect(server.document).toEqual(project());
  });

  it("keeps changes while the server is down, and sends them later", async () => {
    const page = open(server, store, "a");
    server.isDown = true;
    page.session.apply("move", move("box1", 1));
    await vi.advanceTimersByTimeAsync(SAVE_MS);
    expect(page.sync.status.value).toBe("offline");
    page.session.apply("move", move("cone1", 1));
    server.isDown = false;
    await saved(page);
    expect(objectsOf(server.document).map(({ x }) => x)).toEqual([3, 5]);
    expect(page.sync.status.value).toBe("saved");
  });

  it("sends the changes of a page that was closed while the server was down", async () => {
    const first = open(server, store, "a");
    server.isDown = true;
    first.session.apply("move", move("box1", 1));
    await vi.advanceTimersByTimeAsync(SAVE_MS);
    first.sync.close();
    server.isDown = false;
    server.change(move("cone1", 3));
    const second = open(server, store, "b");
    await saved(second);
    expect(objectsOf(server.document).map(({ x }) => x)).toEqual([3, 7]);
    expect(store.length).toBe(0);
  });

  it("tried an unreadable stored change again whenever the project was opened", () => {
    const readable = { base: project(), document: project() };
    store.setItem(`chicane.build.pending.${ID}.a`, "{");
    new PendingStore(store, ID, "b").keep(readable);
    expect(new PendingStore(store, ID, "c").take()).toEqual([readable]);
    expect(store.length).toBe(0);
  });

  it("merges the changes of two pages, also if both save at once", async () => {
    const [one, two] = [open(server, store, "a"), open(server, store, "b")];
    one.session.apply("move", move("box1", 1));
    two.session.apply("move", move("cone1", 1));
    await vi.advanceTimersByTimeAsync(10 * SAVE_MS);
    for (const page of [one, two]) {
      expect([page.x("box1"), page.x("cone1")]).toEqual([3, 5]);
      expect(page.sync.status.value).toBe("saved");
      expect(page.sync.revision).toBe(server.revision);
    }
    one.session.undo();
    await vi.advanceTimersByTimeAsync(10 * SAVE_MS);
    expect([two.x("box1"), two.x("cone1")]).toEqual([2, 5]);
  });

  it("merges a change of another page after the end of a drag", async () => {
    const page = open(server, store, "a");
    page.session.begin("move");
    page.session.drag(move("box1", 1));
    server.change(move("cone1", 2));
    await vi.advanceTimersByTimeAsync(2 * SAVE_MS);
    expect([page.x("box1"), page.x("cone1")]).toEqual([3, 4]);
    page.session.commit();
    expect([page.x("box1"), page.x("cone1")]).toEqual([3, 6]);
    await saved(page);
    expect(objectsOf(server.document).map(({ x }) => x)).toEqual([3, 6]);
    page.session.undo();
    expect([page.x("box1"), page.x("cone1")]).toEqual([2, 6]);
  });

  it("says why the server refuses a document, and saves the next one", async () => {
    const page = open(server, store, "a");
    server.refusal = new ApiError(422, "track.width must be a number from 0.2 to 5");
    page.session.apply("move", move("box1", 1));
    await expect(saved(page)).rejects.toThrow("track.width");
    expect(page.sync.status.value).toBe("refused");
    page.session.apply("move", move("box1", 1));
    await saved(page);
    expect(page.sync.status.value).toBe("saved");
  });

  it("loses nothing that was acknowledged while editors come, go and collide", async () => {
    const pages = ["a", "b", "c"].map((editor) => open(server, store, editor));
    for (let round = 0; round < 60; round++) {
      const page = pages[round % 3];
      page.session.applyAndSelect("add", (draft) => {
        objectsOf(draft).push({ kind: "cone", name: `c${round}`, x: round / 10, y: 1 });
        return [];
      });
      if (round % 7 === 0) server.isDown = !server.isDown;
      await vi.advanceTimersByTimeAsync((round * 37) % 500);
    }
    server.isDown = false;
    for (const page of pages) page.sync.retryNow();
    await vi.advanceTimersByTimeAsync(60_000);
    const names = objectsOf(server.document).map(({ name }) => name);
    expect(new Set(names).size).toBe(62);
    for (const page of pages) expect(page.session.document.value).toEqual(server.document);
  });
});

describe("the preview", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("asks for the newest document only, one request at a time", async () => {
    const asked: { name: string; answer(): void }[] = [];
    const previewer = new Previewer(
      ({ name }) =>
        new Promise((answer) => asked.push({ name, answer: () => answer({ road: null, objects: [], findings: [] }) })),
    );
    const named = (name: string) => ({ ...project(), name });
    for (const name of ["a", "b", "c"]) previewer.want(named(name));
    await vi.advanceTimersByTimeAsync(100);
    expect(asked.map(({ name }) => name)).toEqual(["c"]);
    for (const name of ["d", "e"]) previewer.want(named(name));
    await vi.advanceTimersByTimeAsync(100);
    expect(asked).toHaveLength(1);
    asked[0].answer();
    await vi.advanceTimersByTimeAsync(100);
    expect(asked.map(({ name }) => name)).toEqual(["c", "e"]);
    expect(previewer.isCurrent).toBe(false);
    asked[1].answer();
    await vi.advanceTimersByTimeAsync(100);
    expect(previewer.isCurrent).toBe(true);
  });

  it("shows why a document cannot be read, and repeats a request without an answer", async () => {
    let refusal: ApiError | null = new ApiError(422, "name is missing");
    const previewer = new Previewer(() =>
      refusal ? Promise.reject(refusal) : Promise.resolve({ road: null, objects: [], findings: [] }),
    );
    previewer.want(project());
    await vi.advanceTimersByTimeAsync(100);
    expect(previewer.problem.value).toBe("name is missing");
    refusal = new ApiError(0, "down");
    previewer.want(project());
    await vi.advanceTimersByTimeAsync(100);
    refusal = null;
    await vi.advanceTimersByTimeAsync(5000);
    expect(previewer.problem.value).toBe("");
    expect(previewer.preview.value).not.toBe(null);
  });

  it("does not blame the document for a lost connection", async () => {
    let refusal: ApiError | null = null;
    const previewer = new Previewer(() =>
      refusal ? Promise.reject(refusal) : Promise.resolve({ road: null, objects: [], findings: [] }),
    );
    const ask = async () => {
      previewer.want(project());
      await vi.advanceTimersByTimeAsync(100);
      return [previewer.problem.value, previewer.failure.value];
    };
    for (const status of [0, 401, 404, 500]) {
      refusal = new ApiError(status, "no answer");
      expect(await ask()).toEqual(["", "no answer"]);
      refusal = null;
      await vi.advanceTimersByTimeAsync(5000);
    }
    refusal = new ApiError(422, "name is missing");
    expect(await ask()).toEqual(["name is missing", ""]);
    refusal = null;
    expect(await ask()).toEqual(["", ""]);
  });

  it("keeps the road until the track changes, so that the views do not draw it again", async () => {
    const road = () => ({ length: 1 }) as Road;
    const previewer = new Previewer(() => Promise.resolve({ road: road(), objects: [], findings: [] }));
    const ask = async (document: ProjectDocument) => {
      previewer.want(document);
      await vi.advanceTimersByTimeAsync(100);
      return previewer.preview.value?.road;
    };
    const first = await ask(project());
    expect(await ask({ ...project(), name: "another" })).toBe(first);
    const { track, ...rest } = project();
    const changed = await ask({ ...rest, track: { ...track, closed: !track.closed } });
    expect(changed).not.toBe(first);
    expect(await ask(project())).not.toBe(changed);
  });
});
