import { readFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parseTracks, type RunTracks } from "../../src/net/tracks.ts";
import { gapAt, lapRoute, lapsOf, Progress } from "../../src/replay/laps.ts";
import { indexAt } from "../../src/scene/run-poses.ts";
import { en } from "../../src/strings/en.ts";
import { preciseClock, signed } from "../../src/ui/format.ts";
import { browserFixture } from "./fixture.ts";
import { type Simulator, until, type Visit } from "./support.js";

const LAP = "python3 lap_by_lidar.py $CHICANE_URL";
// The workspace is the folder of the examples in the repository, so the changed program is not
// written to a file there.
const SLOW_LAP = `echo off we go; python3 -c "$(sed 's/: 1.0, /: 0.8, /' lap_by_lidar.py)" $CHICANE_URL`;
/** A program that leaves the road, which costs a penalty, and then crashes. */
const CRASH = `python3 -uc "
import json, os, time, urllib.request as web
url = os.environ['CHICANE_URL'] + '/drive'
for i in range(80):
    web.urlopen(web.Request(url, json.dumps({'speed': 1.0, 'steering': -0.2}).encode(), {'Content-Type': 'application/json'}))
    time.sleep(0.05)
print('now it crashes')
import nunpy
"`;

/** Runs a program in virtual time and returns the id of its session. */
async function judge(simulator: Simulator, command: string, student: string): Promise<string> {
  const { session } = await simulator.request("evaluation/start", { command, student, pace: "virtual", time_limit_s: 120 });
  await until(
    () => simulator.request("evaluation/session"),
    ({ active }: { active: boolean }) => !active,
    100_000,
  );
  return session.id;
}

async function tracksOf(simulator: Simulator, session: string): Promise<RunTracks> {
  const answer = await fetch(`${simulator.origin}/sim/api/evaluation/replay?session=${session}`);
  expect(answer.status).toBe(200);
  return parseTracks(await answer.arrayBuffer());
}

/** The time that the replay shows, as text. */
const shownTime = (visit: Visit) => visit.byTestId("replay-time").textContent();

async function expectTime(visit: Visit, text: string): Promise<void> {
  await until(
    () => shownTime(visit),
    (now) => now === text,
  );
}

describe("replay of a real run", () => {
  const examples = path.resolve(import.meta.dirname, "../../../examples");
  const fixture = browserFixture("--world", "oval", "--student-network", "none", "--workspace", examples);
  let [slow, fast, crash] = ["", "", ""];
  beforeAll(async () => {
    const { simulator } = fixture;
    slow = await judge(simulator, SLOW_LAP, "Grace Hopper");
    fast = await judge(simulator, LAP, "Ada Lovelace");
    crash = await judge(simulator, CRASH, "Charles Babbage");
  });

  const openAt = (session: string, time: number, options: object = {}) =>
    fixture.open({ path: `/sim?replay=${session}&t=${time}`, ...options });

  it("opens from its record, and leads back to the live simulation without a reload", async () => {
    const visit = await fixture.open();
    await visit.page.evaluate(() => Object.assign(window, { sameDocument: true }));
    await visit.byTestId("flag").click();
    await visit.byTestId("history").locator("summary").first().click();
    const row = visit.page.locator(`[data-testid=record][data-session="${slow}"]`);
    await row.getByTestId("record-replay").click();
    await visit.byTestId("replay-bar").waitFor();
    expect(new URL(visit.page.url()).search).toBe(`?replay=${slow}`);
    expect(await visit.byTestId("pause").isVisible()).toBe(false);
    // The replay starts to play immediately.
    await until(
      () => visit.page.evaluate(() => window.__chicane.time),
      (time) => time > 1,
    );
    await visit.page.keyboard.press("Escape");
    await visit.byTestId("replay-bar").waitFor({ state: "hidden" });
    await visit.byTestId("pause").waitFor();
    expect(new URL(visit.page.url()).search).toBe("");
    const live = (await fixture.simulator.request("state")).vehicle;
    await until(
      () => visit.pose("car"),
      (pose) => Math.hypot(pose.x - live.x, pose.y - live.y) < 0.01,
    );
    await visit.page.goBack();
    await visit.byTestId("replay-bar").waitFor();
    await visit.byTestId("back-to-live").click();
    await visit.byTestId("replay-bar").waitFor({ state: "hidden" });
    expect(await visit.page.evaluate(() => "sameDocument" in window)).toBe(true);
  });

  it("draws the car where it was, at every moment", async () => {
    const { car } = await tracksOf(fixture.simulator, slow);
    const visit = await openAt(slow, 12);
    await expectTime(visit, preciseClock(12));
    const i = indexAt(car.time, 12);
    const pose = await until(
      () => visit.pose("car"),
      ({ x, y }) => Math.hypot(x - car.x[i], y - car.y[i]) < 0.02,
    );
    expect(Math.cos(pose.yaw - 2 * Math.atan2(car.qz[i], car.qw[i]))).toBeCloseTo(1, 2);
    // The slider moves through the run.
    await visit.byTestId("timeline").fill("3");
    const j = indexAt(car.time, 3);
    await until(
      () => visit.pose("car"),
      ({ x, y }) => Math.hypot(x - car.x[j], y - car.y[j]) < 0.02,
    );
  });

  it("is controlled by the keyboard, also while the slider has the focus", async () => {
    const { duration } = await tracksOf(fixture.simulator, slow);
    const visit = await openAt(slow, 5);
    await expectTime(visit, "0:05.00");
    const press = async (key: string, text: string) => {
      await visit.page.keyboard.press(key);
      await expectTime(visit, text);
    };
    await press("ArrowRight", "0:06.00");
    await press("Shift+ArrowRight", "0:06.10");
    await press(".", "0:06.12");
    await press(",", "0:06.10");
    const slider = visit.page.getByRole("slider", { name: en.replay.timeline });
    await slider.focus();
    await press("ArrowLeft", "0:05.10");
    await press("Shift+ArrowLeft", "0:05.00");
    expect(await slider.getAttribute("aria-valuetext")).toBe(en.replay.timelineValue("0:05.00", preciseClock(duration)));
    await until(
      () => visit.byTestId("replay-announced").textContent(),
      (text) => text === en.replay.announce("0:05.00"),
    );
    await press("End", preciseClock(duration));
    await press("Home", "0:00.00");
    await visit.byTestId("replay-speed").selectOption("8");
    await slider.focus();
    await visit.page.keyboard.press("Space");
    // The replay stops at the end.
    await expectTime(visit, preciseClock(duration));
    await until(
      () => visit.byTestId("replay-play").textContent(),
      (text) => text === en.replay.play,
    );
  });

  it("has marks for records and log lines, and a list of them that jumps", async () => {
    const visit = await openAt(crash, 0);
    await visit.byTestId("replay-bar").waitFor();
    const penalties = visit.page.locator(".timeline-marks .moment-penalty");
    await penalties.first().waitFor();
    expect(await penalties.first().getAttribute("title")).toContain("the car left the road");
    expect(await visit.page.locator(".timeline-marks .moment-log").count()).toBeGreaterThan(0);
    const event = visit.byTestId("events").locator("[data-kind=penalty]").first();
    const text = (await event.locator(".event-time").textContent()) ?? "";
    await event.click();
    await expectTime(visit, text);
    expect(await event.getAttribute("aria-current")).toBe("true");
  });

  it("compares with the best run as a ghost, with another one, or with none", async () => {
    const { simulator } = fixture;
    const [ours, theirs] = [await tracksOf(simulator, slow), await tracksOf(simulator, fast)];
    const [world, profile] = [await simulator.request("world"), await simulator.request("vehicle")];
    const route = lapRoute(world.track.route, profile.body.centre[0] + profile.body.size.x / 2)!;
    const gap = gapAt(new Progress(ours.car, route), new Progress(theirs.car, route), 15)!;
    expect(gap).toBeGreaterThan(0.5);
    const visit = await openAt(slow, 15);
    await until(
      () => visit.byTestId("replay-gap").textContent(),
      (text) => text === en.replay.gapValue(signed(gap, 2)),
    );
    expect(await visit.byTestId("ghost").inputValue()).toBe(fast);
    expect(await visit.byTestId("plot-gap").textContent()).toBe(en.replay.gapValue(signed(gap, 2)));
    await visit.byTestId("ghost").selectOption("");
    await visit.byTestId("replay-gap").waitFor({ state: "hidden" });
    // The ghost of the best run is the second best run.
    const best = await openAt(fast, 15);
    await until(
      () => best.byTestId("ghost").inputValue(),
      (value) => value === slow,
    );
    expect(await best.byTestId("ghost").locator("option:checked").textContent()).toContain(en.replay.ghostNext(""));
  });

  it("shows the on-board image of the moment", async () => {
    const visit = await openAt(slow, 4);
    await visit.byTestId("replay-bar").waitFor();
    await visit.page.keyboard.press("4");
    const picture = visit.byTestId("onboard-picture");
    const shown = () =>
      picture.evaluate((image: HTMLImageElement) => (image.complete && image.naturalWidth > 0 ? image.currentSrc : ""));
    const first = await until(shown, (source) => source.includes("/replay/camera?"));
    expect(first).toContain(`session=${slow}&time=4.000`);
    await visit.page.keyboard.press("ArrowRight");
    await until(shown, (source) => source.includes("time=5.000"));
    await visit.page.keyboard.press("Escape");
    await until(
      () => picture.getAttribute("src"),
      (source) => source?.startsWith("/camera") ?? false,
    );
  });

  it("has a result page with line, sectors, rank and aligned logs, and no raw JSON", async () => {
    const { simulator } = fixture;
    const record = await simulator.request(`evaluation/record?session=${slow}`);
    const tracks = await tracksOf(simulator, slow);
    const [world, profile] = [await simulator.request("world"), await simulator.request("vehicle")];
    const route = lapRoute(world.track.route, profile.body.centre[0] + profile.body.size.x / 2)!;
    const [lap] = lapsOf(new Progress(tracks.car, route));
    // The judging script measures the same lap time. There were no penalties.
    expect(Math.abs(lap.time! - record.record)).toBeLessThan(0.05);
    const visit = await fixture.open({ path: `/sim?result=${slow}`, permissions: ["clipboard-read", "clipboard-write"] });
    await visit.byTestId("run-page").waitFor();
    expect(await visit.byTestId("page-outcome").textContent()).toBe(en.evaluation.outcomes.finished);
    expect(await visit.byTestId("page-record").textContent()).toBe(`${record.record}s`);
    await until(
      () => visit.byTestId("page-rank").textContent(),
      (text) => text === en.replay.rank(2, 2),
    );
    const cells = visit.byTestId("sectors").locator("tbody td");
    await until(
      () => cells.last().textContent(),
      (text) => text?.startsWith(en.replay.seconds(lap.time!.toFixed(2))) ?? false,
    );
    expect(await cells.count()).toBe(4);
    await visit.page.locator(".sector-gap[data-gap=behind]").first().waitFor();
    expect(await visit.page.locator(".map-line path").count()).toBeGreaterThan(3);
    expect(await visit.byTestId("aligned-lines").textContent()).toContain("off we go");
    expect(await visit.byTestId("run-page").innerText()).not.toMatch(/[{}]|":/);
    await visit.byTestId("run-link").click();
    expect(await visit.page.evaluate(() => navigator.clipboard.readText())).toBe(`${simulator.origin}/sim?result=${slow}`);
    // A click on the line opens the replay at that moment.
    await visit.byTestId("track-map").click({ position: { x: 60, y: 60 } });
    await visit.byTestId("replay-bar").waitFor();
    expect(await visit.byTestId("run-page").isVisible()).toBe(false);
    expect(new URL(visit.page.url()).search).toMatch(/^\?replay=.*&t=\d/);
    await visit.byTestId("replay-result").click();
    await visit.byTestId("run-page").waitFor();
  });

  it("offers the run and its samples as files", async () => {
    const visit = await openAt(slow, 1);
    const download = async (testid: string) => {
      const [file] = await Promise.all([visit.page.waitForEvent("download"), visit.byTestId(testid).click()]);
      return { name: file.suggestedFilename(), content: await readFile(await file.path()) };
    };
    const csv = await download("run-csv");
    expect(csv.name).toBe(en.replay.csvName(slow));
    const lines = csv.content.toString().split("\r\n");
    expect(lines[0]).toMatch(/^time_s,x_m,y_m,/);
    const { car } = await tracksOf(fixture.simulator, slow);
    expect(lines.length).toBe(car.time.length + 2);
    const run = await download("run-file");
    expect(run.name).toMatch(/\.chicane$/);
    const { journal } = await fixture.simulator.request(`evaluation/record?session=${slow}`);
    expect(run.content.length).toBeGreaterThan(0);
    expect(journal.bytes).toBeGreaterThan(0);
  });

  it("shows a failed run with its reason, its penalty and the last lines", async () => {
    const visit = await fixture.open({ path: `/sim?result=${crash}` });
    await visit.byTestId("run-page").waitFor();
    expect(await visit.byTestId("page-outcome").textContent()).toBe(en.evaluation.outcomes.failed);
    expect(await visit.byTestId("run-hero").getAttribute("data-tone")).toBe("bad");
    expect(await visit.byTestId("page-program-failure").textContent()).toBe(en.evaluation.failure.status(1));
    expect(await visit.byTestId("page-program-tail").textContent()).toContain("No module named 'nunpy'");
    expect(await visit.page.locator(".map-penalty").count()).toBeGreaterThan(0);
    expect(await visit.byTestId("run-penalties").textContent()).toContain("the car left the road");
    // The first row with this text is the command, which contains the text too.
    const row = visit.byTestId("aligned-lines").locator("tr", { hasText: "now it crashes" }).last();
    const time = (await row.locator(".line-time").textContent()) ?? "";
    await row.locator(".line-time").click();
    await expectTime(visit, time);
  });

  it("says in one line why there is no replay", async () => {
    const unknown = await fixture.open({ path: "/sim?replay=20200101-000000-0001" });
    unknown.allowedErrors = /404/;
    await unknown.page.getByText(en.replay.noRun("20200101-000000-0001")).waitFor();
    await unknown.byTestId("notice-back").click();
    await unknown.byTestId("pause").waitFor();
    const why = "This run has no journal: it ran under an older version.";
    const old = await fixture.open({
      path: `/sim?result=${slow}`,
      prepare: async (page) => {
        await page.route("**/sim/api/evaluation/replay?*", (route) =>
          route.fulfill({ status: 409, json: { error: why, code: "no_journal" } }),
        );
      },
    });
    old.allowedErrors = /409/;
    // The result page shows everything except the replay.
    expect(await old.byTestId("no-journal").textContent()).toBe(why);
    expect(await old.byTestId("page-outcome").textContent()).toBe(en.evaluation.outcomes.finished);
    expect(await old.byTestId("watch-replay").isVisible()).toBe(false);
  });

  it("works with touch on a phone", async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const visit = await openAt(slow, 2, phone);
    await expectTime(visit, "0:02.00");
    const slider = visit.byTestId("timeline");
    const box = (await slider.boundingBox())!;
    await visit.page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
    await until(
      () => slider.evaluate((input: HTMLInputElement) => Number(input.value) / Number(input.max)),
      (part) => Math.abs(part - 0.5) < 0.05,
    );
    await visit.byTestId("replay-result").tap();
    await visit.byTestId("run-page").waitFor();
    expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    expect(await visit.byTestId("run-page").evaluate((page) => page.scrollWidth - page.clientWidth)).toBe(0);
  });

  it("switches to the world of the run after a click", async () => {
    const { simulator } = fixture;
    await simulator.request("switch", { world: "field.world" });
    const visit = await openAt(slow, 6);
    await visit.byTestId("switch-world").waitFor();
    expect(await visit.byTestId("run-notice").textContent()).toContain("oval");
    expect((await simulator.request("worlds")).current).toBe("field");
    await visit.byTestId("switch-world").click();
    await visit.byTestId("replay-bar").waitFor({ timeout: 60_000 });
    expect((await simulator.request("worlds")).current).toBe("oval");
    await expectTime(visit, "0:06.00");
  });
});
