import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Draft } from "../../src/program/draft.ts";
import type { DraftStore } from "../../src/program/draft-store.ts";
import { FakeElement, stubDocument } from "./fake-document.ts";

const KEY = "chicane.program.draft";

const draft = (text: string): Draft => ({
  files: [{ path: "main.py", text }],
  open: "main.py",
  command: "",
});

/** The stores of the panels, in the order in which the panels were built. */
const stores: DraftStore[] = [];
const element = () => new FakeElement();
// The editors and the bar of files need a real DOM, and do not matter for the store.
vi.mock("../../src/program/editors.ts", () => ({
  editors: (store: DraftStore) => {
    stores.push(store);
    return { element: element() };
  },
}));
vi.mock("../../src/program/file-bar.ts", () => ({
  fileBar: () => ({ below: element(), tabs: element(), tools: element() }),
  tabId: String,
}));
vi.mock("../../src/program/run-box.ts", () => ({ runBox: element }));
vi.mock("../../src/program/workspace-dialog.ts", () => ({
  workspaceDialog: () => ({ element: element() }),
}));

describe("the draft of a panel that was built again", () => {
  let page: ReturnType<typeof stubDocument>;
  let store: DraftStore;
  const stored = () => JSON.parse(page.kept.get(KEY) ?? "null") as Draft | null;
  beforeEach(async () => {
    vi.useFakeTimers();
    page = stubDocument();
    // Every test loads the modules again, because the store lives as long as its module. The panel
    // uses the newly loaded `scope.ts`, so the test takes `scoped` from that module too.
    vi.resetModules();
    stores.length = 0;
    const { programPanel } = await import("../../src/program/panel.ts");
    const { scoped } = await import("../../src/ui/scope.ts");
    const { App } = await import("../../src/app.ts");
    const app = new App();
    scoped(() => programPanel(app)).end();
    scoped(() => programPanel(app));
    store = stores[1];
    expect(store).toBe(stores[0]);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("did not adopt the edits of another tab, and overwrote them", () => {
    const newValue = JSON.stringify(draft("theirs"));
    page.kept.set(KEY, newValue);
    page.window.dispatchEvent(Object.assign(new Event("storage"), { key: KEY, newValue }));
    expect(store.draft.value).toEqual(draft("theirs"));
  });

  it("lost the text that was typed just before the page was closed", () => {
    store.change(draft("typed"));
    page.window.dispatchEvent(new Event("pagehide"));
    expect(stored()).toEqual(draft("typed"));
  });

  it("lost the text that was typed just before the page was hidden", () => {
    store.change(draft("typed"));
    page.document.hidden = true;
    page.document.dispatchEvent(new Event("visibilitychange"));
    expect(stored()).toEqual(draft("typed"));
  });
});
