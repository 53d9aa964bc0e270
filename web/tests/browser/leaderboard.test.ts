import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { browserFixture, MOTION } from "./fixture.ts";
import { until } from "./support.js";

const PAGE = "/sim/leaderboard";

/** A program that ends immediately. The script of the oval then ends the run without a result. */
const CRASH = "print('before the end')\nraise SystemExit('no fuel')\n";
const EXAMPLE = path.resolve(import.meta.dirname, "../../../examples/lap_by_lidar.py");

/** Creates a file with a program that drives a lap, and returns the path of the file. */
async function lapFile(): Promise<string> {
  const file = path.join(tmpdir(), `chicane-lap-${process.pid}.py`);
  const head = 'import os, sys\nsys.argv[1:] = [os.environ["CHICANE_URL"]]\n';
  await writeFile(file, head + (await readFile(EXAMPLE, "utf8")));
  return file;
}

describe("the leaderboard", () => {
  const fixture = browserFixture("--world", "oval", "--leaderboard", "--leaderboard-interval", "0");

  it("shows a program that was handed in on the page, and its replay", async () => {
    const [student, projector] = [
      await fixture.open({ ...MOTION, path: PAGE, skipReady: true }),
      await fixture.open({ ...MOTION, path: PAGE, skipReady: true }),
    ];
    await student.page.getByText(en.leaderboard.empty).waitFor();
    await student.byTestId("hand-in").click();
    await student.byTestId("hand-in-send").click();
    await student.page.getByText(en.leaderboard.noName).waitFor();
    await student.byTestId("student").fill("Ada Lovelace");
    await student.byTestId("hand-in-send").click();
    await student.page.getByText(en.leaderboard.noFile).waitFor();
    await student.byTestId("file").setInputFiles(await lapFile());
    await student.byTestId("chosen").waitFor();
    await student.byTestId("hand-in-send").click();
    await student.byTestId("own-item").waitFor();
    for (const visit of [student, projector]) {
      const row = visit.byTestId("row").first();
      await row.waitFor({ timeout: 100_000 });
      expect(await row.textContent()).toContain("Ada Lovelace");
      expect(await visit.byTestId("change").count()).toBe(1);
    }
    await until(
      () => student.byTestId("own-result").textContent(),
      (text) => text?.includes(en.leaderboard.ownRank("1", "1")) ?? false,
    );
    expect(await student.byTestId("compare").isVisible()).toBe(false);
    await projector.byTestId("watch-leader").click();
    await projector.ready();
    await projector.byTestId("replay-card").waitFor({ timeout: 60_000 });
    expect(await projector.byTestId("replay-card").textContent()).toContain("Ada Lovelace");
  });

  it("tells a student why a program did not finish, and refuses bad files", async () => {
    const visit = await fixture.open({ path: PAGE, skipReady: true });
    visit.allowedErrors = /status of 400/;
    const file = path.join(tmpdir(), `chicane-crash-${process.pid}.py`);
    await writeFile(file, CRASH);
    await visit.byTestId("hand-in").click();
    await visit.byTestId("student").fill("<b>Bob</b>");
    await visit.byTestId("file").setInputFiles(file);
    await visit.byTestId("hand-in-send").click();
    await until(
      () => visit.byTestId("hand-in-error").textContent(),
      (text) => text?.includes("student must be a name") ?? false,
    );
    await visit.byTestId("student").fill("Bob");
    await visit.byTestId("hand-in-send").click();
    const own = visit.byTestId("own-result");
    await own.waitFor({ timeout: 100_000 });
    expect(await own.textContent()).toContain(en.leaderboard.verdicts.failed);
    await own.locator("summary").click();
    await visit.page.getByText("before the end").waitFor();
  });

  it("fits a phone, and says when the connection is lost", async () => {
    const visit = await fixture.open({ path: PAGE, skipReady: true, viewport: { width: 390, height: 844 } });
    await visit.byTestId("row").first().waitFor();
    const width = await visit.page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBe(390);
    visit.allowedErrors = /Failed to load resource/;
    await visit.page.route("**/sim/api/leaderboard", (route) => route.abort());
    await until(
      () => visit.byTestId("connection").textContent(),
      (text) => text === en.link.lost,
    );
  });
});

describe("a simulator without a leaderboard", () => {
  const fixture = browserFixture("--world", "oval");

  it("says so on the page", async () => {
    const visit = await fixture.open({ path: PAGE, skipReady: true });
    visit.allowedErrors = /status of 404/;
    await visit.page.getByText(en.leaderboard.noTable).waitFor();
    expect(await visit.byTestId("hand-in").isVisible()).toBe(false);
  });
});
