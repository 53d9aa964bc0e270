import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { browserFixture } from "./fixture.ts";
import { leaveEditor } from "./hands.ts";
import { until, type Visit } from "./support.js";

const texts = en.program;
const WORKSPACE = mkdtempSync(path.join(tmpdir(), "chicane-workspace-"));
mkdirSync(path.join(WORKSPACE, "lib"));
writeFileSync(path.join(WORKSPACE, "lap.py"), 'import lib.words\nprint(lib.words.WORD)\n');
writeFileSync(path.join(WORKSPACE, "lib/words.py"), 'WORD = "a word of the workspace"\n');
afterAll(() => rmSync(WORKSPACE, { recursive: true }));

const RUN_MS = 100_000;

const textOf = (visit: Visit, id: string) => visit.byTestId(id).textContent();
const output = (visit: Visit, part: string) =>
  until(
    () => textOf(visit, "program-output"),
    (text) => text?.includes(part) ?? false,
    RUN_MS,
  );
const editorText = (visit: Visit) =>
  visit.byTestId("program-text").evaluate((content) => [...content.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n"));

/** Opens the panel with its key. */
async function openPanel(visit: Visit): Promise<void> {
  await visit.page.keyboard.press("c");
  await visit.byTestId("program-text").waitFor({ timeout: 60_000 });
}

/**
 * Replaces the text of the open file. The new text is inserted as a whole, because the editor would
 * complete and indent typed keys.
 */
async function write(visit: Visit, text: string): Promise<void> {
  await visit.byTestId("program-text").focus();
  await visit.page.keyboard.press("ControlOrMeta+a");
  await visit.page.keyboard.insertText(text);
}

/** Stops the run of the panel, and waits for its end. A short program may already have ended. */
async function stop(visit: Visit): Promise<void> {
  if (await visit.byTestId("program-stop").isVisible())
    await visit.byTestId("program-stop").click({ timeout: 5000 }).catch(() => {});
  await visit.byTestId("program-run").waitFor({ timeout: RUN_MS });
}

describe("a program of the page", () => {
  const fixture = browserFixture("--world", "oval", "--box", "closed", "--workspace", WORKSPACE);
  afterEach(async () => {
    if ((await fixture.simulator.request("evaluation/session")).active) await fixture.simulator.request("evaluation/stop", {});
  });

  it("is an example at the first visit, which drives a lap and gets a verdict", async () => {
    await fixture.simulator.request("clock", { speed: 5 });
    const visit = await fixture.open({ path: "/sim?tour" });
    const start = await visit.pose("car");
    await visit.byTestId("tour-next").click();
    await visit.byTestId("tour-next").click();
    await visit.byTestId("tour-example").click();
    await visit.byTestId("tour").waitFor({ state: "hidden" });
    await visit.byTestId("program-stop").waitFor({ timeout: RUN_MS });
    await visit.byTestId("onboard").waitFor();
    await until(
      () => visit.pose("car"),
      (car) => Math.hypot(car.x - start.x, car.y - start.y) > 0.5,
      RUN_MS,
    );
    await output(visit, en.evaluation.startedCommand("python3 main.py"));
    await until(
      () => textOf(visit, "program-outcome"),
      (text) => new RegExp(`^${en.evaluation.outcomes.finished} · \\d+\\.\\d+ s$`).test(text ?? ""),
      RUN_MS,
    );
    expect(await visit.byTestId("eval-card").isVisible()).toBe(false);
    await visit.byTestId("program-result").click();
    await until(
      () => textOf(visit, "page-outcome"),
      (text) => text === en.evaluation.outcomes.finished,
    );
    expect(await visit.byTestId("program").isVisible()).toBe(false);
    await visit.byTestId("run-page-close").click();
    await visit.byTestId("program").waitFor();
    await fixture.simulator.request("clock", { speed: 1 });
  });

  it("shows where it failed, and runs again after the error is mended", async () => {
    const visit = await fixture.open();
    await openPanel(visit);
    await write(visit, 'print("one", flush=True)\n\nprnt("two")\n');
    await visit.page.keyboard.press("ControlOrMeta+Enter");
    await output(visit, "NameError");
    expect(await textOf(visit, "program-output")).toMatch(/^\$ python3 main\.py\none\n/);
    await visit.byTestId("program-place").click();
    expect(await visit.page.locator(".program .cm-activeLine").textContent()).toBe('prnt("two")');
    expect(await visit.byTestId("program-text").evaluate((content) => content === document.activeElement)).toBe(true);
    // The program has ended, but the judge still waits some seconds for the car to move. The test
    // waits for the end of the run.
    await visit.byTestId("program-run").waitFor({ timeout: RUN_MS });
    expect(await textOf(visit, "program-outcome")).toBe(en.evaluation.outcomes.failed);
    expect(await textOf(visit, "program-state")).toBe(en.evaluation.failure.status(1));
    await visit.page.locator(".program .cm-lint-marker-error").waitFor({ state: "attached", timeout: RUN_MS });
    await write(visit, 'import time\nprint("one")\nprint("three", flush=True)\ntime.sleep(600)\n');
    await visit.byTestId("program-run").click();
    // Only the second run prints "three". The output of the first run contains "one" and "two".
    await output(visit, "three");
    expect(await visit.page.locator(".program .cm-lint-marker-error").count()).toBe(0);
    await visit.page.reload();
    await visit.ready();
    await visit.byTestId("program-text").waitFor({ timeout: 60_000 });
    expect(await editorText(visit)).toContain("time.sleep(600)");
    await output(visit, "three");
    await stop(visit);
    expect(await textOf(visit, "program-outcome")).toBe(en.evaluation.outcomes.stopped);
  });

  it("takes files of the workspace, and keeps its files after a reload", async () => {
    const visit = await fixture.open();
    await openPanel(visit);
    for (const [i, file] of ["lap.py", "lib/words.py"].entries()) {
      await visit.byTestId("program-open").click();
      await visit.byTestId("workspace-search").fill("NOTHING");
      await visit.page.getByText(texts.workspace.noMatch("NOTHING")).waitFor();
      await visit.byTestId("workspace-search").fill(file.toUpperCase());
      await visit.byTestId("workspace-file").click();
      await visit.byTestId("program-tab").nth(i).waitFor();
    }
    // The example was not changed, so the file from the workspace replaced it.
    expect(await visit.byTestId("program-tab").allTextContents()).toEqual(["lap.py", "lib/words.py"]);
    expect(await visit.byTestId("program-command").inputValue()).toBe("python3 lap.py");
    await visit.byTestId("program-command").fill("python3 -u lap.py");
    await visit.byTestId("program-command").press("Enter");
    await output(visit, "a word of the workspace");
    await stop(visit);

    await visit.byTestId("program-new").click();
    await visit.byTestId("program-name").fill("../x");
    await visit.byTestId("program-name-ok").click();
    expect(await textOf(visit, "program-name-error")).toBe(texts.nameProblems.invalid("../x"));
    await visit.byTestId("program-name").fill("notes.txt");
    await visit.byTestId("program-name-ok").click();
    await write(visit, "some notes");
    await visit.byTestId("program-rename").click();
    await visit.byTestId("program-name").fill("lib/notes.txt");
    await visit.page.keyboard.press("Enter");
    const names = () => visit.byTestId("program-tab").allTextContents();
    expect(await names()).toEqual(["lap.py", "lib/words.py", "lib/notes.txt"]);
    await visit.byTestId("program-delete").click();
    expect(await names()).toEqual(["lap.py", "lib/words.py"]);
    await visit.byTestId("program-undo").click();
    expect(await names()).toEqual(["lap.py", "lib/words.py", "lib/notes.txt"]);
    const downloading = visit.page.waitForEvent("download");
    await visit.byTestId("program-download").click();
    expect((await downloading).suggestedFilename()).toBe("program.zip");
    await visit.page.reload();
    await visit.ready();
    await visit.byTestId("program-text").waitFor({ timeout: 60_000 });
    expect(await names()).toEqual(["lap.py", "lib/words.py", "lib/notes.txt"]);
    expect(await editorText(visit)).toBe("some notes");
    expect(await visit.byTestId("program-command").inputValue()).toBe("python3 -u lap.py");
  });

  it("can be left with the keyboard", async () => {
    const visit = await fixture.open();
    await openPanel(visit);
    await visit.byTestId("program-text").focus();
    await visit.page.keyboard.press("Tab");
    expect(await visit.byTestId("program-text").evaluate((content) => content === document.activeElement)).toBe(true);
    await leaveEditor(visit, "program-text");
    expect(await visit.byTestId("program-command").evaluate((field) => field === document.activeElement)).toBe(true);
    await visit.byTestId("program-close").click();
    await visit.byTestId("program").waitFor({ state: "hidden" });
  });

  it("waits while another program runs", async () => {
    const visit = await fixture.open();
    await openPanel(visit);
    await fixture.simulator.request("evaluation/run", { command: "sleep 600" });
    await visit.byTestId("program").getByText(texts.othersRun).waitFor();
    expect(await visit.byTestId("program-run").getAttribute("aria-disabled")).toBe("true");
    const before = (await fixture.simulator.request("evaluation/session")).session.id;
    await visit.byTestId("program-text").focus();
    await visit.page.keyboard.press("ControlOrMeta+Enter");
    await fixture.simulator.request("evaluation/stop", {});
    await visit.byTestId("program").getByText(texts.judged).waitFor();
    expect((await fixture.simulator.request("evaluation/session")).session.id).toBe(before);
  });

  it("runs without a verdict in a world without a judge", async () => {
    const visit = await fixture.open({
      prepare: async (page) => {
        await page.route("**/sim/api/evaluation", async (route) => {
          const answer = await (await route.fetch()).json();
          await route.fulfill({ json: { ...answer, config: { ...answer.config, robot: "gen9" } } });
        });
      },
    });
    await openPanel(visit);
    await visit.byTestId("program").getByText(texts.notJudged).waitFor();
    await write(visit, 'print("hello")\nraise SystemExit(3)\n');
    await visit.byTestId("program-run").click();
    await output(visit, "hello");
    await visit.byTestId("program").getByText(en.evaluation.failure.status(3)).waitFor({ timeout: RUN_MS });
    expect(await visit.byTestId("program-outcome").isVisible()).toBe(false);
  });

  it("is not offered to spectators", async () => {
    const visit = await fixture.open({
      prepare: async (page) => {
        await page.route("**/sim/api/workspace", (route) =>
          route.fulfill({ status: 403, json: { error: "this needs the students' token", code: "role_forbids" } }),
        );
      },
    });
    visit.allowedErrors = /403/;
    await visit.page.keyboard.press("c");
    await visit.byTestId("program-spectator").waitFor({ timeout: 60_000 });
    expect(await visit.byTestId("program-run").isVisible()).toBe(false);
  });

  it("says that it can't be stored", async () => {
    const visit = await fixture.open({
      prepare: async (page) => {
        await page.addInitScript(() => {
          const { setItem } = Storage.prototype;
          Storage.prototype.setItem = function (key, value) {
            if (key === "chicane.program.draft") throw new DOMException("full", "QuotaExceededError");
            setItem.call(this, key, value);
          };
        });
      },
    });
    await openPanel(visit);
    expect(await visit.byTestId("program-not-stored").isVisible()).toBe(false);
    await write(visit, "print(1)");
    await visit.byTestId("program-not-stored").getByText(texts.notStored).waitFor();
  });

  it("fills a phone's width", async () => {
    const visit = await fixture.open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await visit.byTestId("program-button").tap();
    await visit.byTestId("program-text").waitFor({ timeout: 60_000 });
    const box = await visit.byTestId("program").boundingBox();
    expect(box).toMatchObject({ x: 0, width: 390 });
    const ids = ["program-run", "program-output", "program-close", "program-new", "program-delete"];
    // The element `program-text` is wider than the editor, because the editor scrolls this element.
    // So the editor itself is measured.
    for (const part of [".program .cm-editor", ...ids.map((id) => `[data-testid=${id}]`)]) {
      const { x = -1, y = 0, width = 0, height = 0 } = (await visit.page.locator(part).boundingBox()) ?? {};
      expect([x >= 0, x + width <= 390, y + height <= 844, height >= 40], part).toEqual([true, true, true, true]);
    }
    expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });
});
