import { describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { browserFixture } from "./fixture.ts";
import { until } from "./support.js";
import {
  captureEventStream,
  CRASHED,
  DISTURBED,
  emitCrash,
  emitEvent,
  emitFailedEnd,
  emitRunEnd,
  emitRunStart,
  records,
  SESSION,
  setRecord,
  TRACEBACK,
} from "./fake-events.js";

describe("evaluation", () => {
  const fixture = browserFixture("--world", "technical");

  it("shows description, command and time limit in its form", async () => {
    const visit = await fixture.open();
    await visit.byTestId("flag").click();
    const { config } = await fixture.simulator.request("evaluation");
    await visit.page.getByText(config.description).waitFor();
    expect(await visit.byTestId("eval-limit").inputValue()).toBe(String(config.time_limit_s));
    await visit.byTestId("eval-command").fill("python3 run.py");
    await visit.page.keyboard.press("Escape");
    await visit.byTestId("flag").click();
    await visit.byTestId("eval-card").waitFor({ state: "hidden" });
  });

  it("is not offered if it is for another robot", async () => {
    const visit = await fixture.open({
      prepare: async (page) => {
        await page.route("**/sim/api/evaluation", async (route) => {
          const answer = await (await route.fetch()).json();
          await route.fulfill({ json: { ...answer, config: { ...answer.config, robot: "gen9" } } });
        });
      },
    });
    expect(await visit.byTestId("flag").isVisible()).toBe(false);
  });

  it("sends command and time limit, and shows the error if it cannot start", async () => {
    let body: unknown = null;
    const visit = await fixture.open({
      prepare: async (page) => {
        await page.route("**/sim/api/evaluation/start", async (route) => {
          body = route.request().postDataJSON();
          await route.fulfill({ status: 503, json: { error: "judge not available: try again" } });
        });
      },
    });
    visit.allowedErrors = /503/;
    await visit.byTestId("flag").click();
    await visit.byTestId("eval-command").fill("python3 run.py");
    await visit.byTestId("eval-limit").fill("60");
    await visit.byTestId("eval-start").click();
    await visit.page.getByText("judge not available: try again").waitFor();
    expect(body).toEqual({ command: "python3 run.py", time_limit_s: 60, pace: "virtual" });
  });

  it("is repeatable unless the switch is off, which the page remembers", async () => {
    const bodies: unknown[] = [];
    const visit = await fixture.open({
      prepare: async (page) => {
        await page.route("**/sim/api/evaluation/start", async (route) => {
          bodies.push(route.request().postDataJSON());
          await route.fulfill({ json: { ok: true } });
        });
      },
    });
    const start = async () => {
      const count = bodies.length;
      await visit.byTestId("eval-start").click();
      await until(
        () => bodies.length,
        (length) => length > count,
      );
      return bodies.at(-1);
    };
    const repeatable = visit.page.getByRole("switch", { name: en.evaluation.repeatable });
    await visit.byTestId("flag").click();
    expect(await repeatable.isVisible()).toBe(false);
    expect(await start()).toEqual({ time_limit_s: 180 });
    await visit.byTestId("eval-command").fill("python3 run.py");
    expect(await repeatable.isChecked()).toBe(true);
    await visit.page.getByText(en.evaluation.repeatableHelp).waitFor();
    expect(await start()).toMatchObject({ command: "python3 run.py", pace: "virtual" });
    await visit.page.getByText(en.evaluation.repeatable, { exact: true }).click();
    expect(await repeatable.isChecked()).toBe(false);
    expect(await start()).toMatchObject({ command: "python3 run.py", pace: "real" });
    await visit.page.reload();
    await visit.ready();
    await visit.byTestId("flag").click();
    expect(await repeatable.isChecked()).toBe(false);
    expect(await start()).toMatchObject({ command: "python3 run.py", pace: "real" });
  });

  it("can't be repeatable if programs reach the internet, and the result says so", async () => {
    const reason = "the program has internet access; --student-network none closes it";
    const ofThisServer = { started_at: new Date().toISOString() };
    const visit = await fixture.open({ prepare: captureEventStream });
    const repeatable = visit.byTestId("eval-repeatable");
    const run = async (fields: object) => {
      await setRecord(visit.page, fields);
      await emitRunStart(visit.page);
      await emitRunEnd(visit.page);
    };
    await run({ ...ofThisServer, pace: "real", pace_reason: reason, network: "internet" });
    await visit.page.getByText(en.evaluation.paceReason(reason)).waitFor();
    expect(await visit.byTestId("result-pace").textContent()).toBe(en.evaluation.paces.real);
    await visit.byTestId("eval-command").fill("python3 run.py");
    await visit.page.getByText(en.evaluation.notRepeatable.internet).waitFor();
    expect([await repeatable.isDisabled(), await repeatable.isChecked()]).toEqual([true, false]);
    // The hidden input of the switch must not make the page higher than the window.
    expect(await visit.page.evaluate(() => document.documentElement.scrollHeight)).toBe(720);
    const again = visit.page.waitForRequest("**/sim/api/evaluation/start");
    await visit.page.route("**/sim/api/evaluation/start", (route) => route.fulfill({ json: { ok: true } }));
    await visit.byTestId("again").click();
    expect((await again).postDataJSON()).toMatchObject({ pace: "virtual" });
    // This record is from a server without network access for programs, as after a restart with
    // another option. The switch is on again.
    await run({ ...ofThisServer, pace: "virtual", network: "none" });
    await visit.page.getByText(en.evaluation.repeatableHelp).waitFor();
    expect([await repeatable.isDisabled(), await repeatable.isChecked()]).toEqual([false, true]);
    expect(await visit.byTestId("result-pace").textContent()).toBe(en.evaluation.paces.virtual);
    expect(await visit.byTestId("result-pace-reason").isVisible()).toBe(false);
  });

  it("sends and remembers the student's name and the wall-clock limit", async () => {
    const bodies: unknown[] = [];
    const visit = await fixture.open({
      prepare: async (page) => {
        await page.route("**/sim/api/evaluation/start", async (route) => {
          bodies.push(route.request().postDataJSON());
          await route.fulfill({ json: { ok: true } });
        });
      },
    });
    await visit.byTestId("flag").click();
    expect(await visit.byTestId("eval-student").isVisible()).toBe(false);
    await visit.byTestId("eval-advanced").locator("summary").click();
    expect(await visit.byTestId("eval-wall-limit").getAttribute("placeholder")).toBe("900");
    await visit.byTestId("eval-limit").fill("10");
    expect(await visit.byTestId("eval-wall-limit").getAttribute("placeholder")).toBe("120");
    await visit.byTestId("eval-student").fill(" Ada Lovelace ");
    await visit.byTestId("eval-wall-limit").fill("60");
    await visit.byTestId("eval-start").click();
    const sent = { student: "Ada Lovelace", wall_limit_s: 60 };
    await until(
      () => bodies,
      () => bodies.length === 1,
    );
    expect(bodies[0]).toEqual({ time_limit_s: 10, ...sent });
    await visit.page.reload();
    await visit.ready();
    await visit.byTestId("flag").click();
    expect(await visit.byTestId("eval-advanced-values").textContent()).toBe("Ada Lovelace · at most 60 s");
    await visit.byTestId("eval-start").click();
    await until(
      () => bodies,
      () => bodies.length === 2,
    );
    expect(bodies[1]).toEqual({ time_limit_s: 180, ...sent });
  });

  it("shows the text of an error by its code", async () => {
    const visit = await fixture.open({
      prepare: async (page) => {
        await page.route("**/sim/api/evaluation/start", (route) =>
          route.fulfill({ status: 403, json: { error: "role", code: "role_forbids" } }),
        );
      },
    });
    visit.allowedErrors = /403/;
    await visit.byTestId("flag").click();
    await visit.byTestId("eval-start").click();
    await visit.page.getByText(en.errors.role_forbids).waitFor();
  });

  it("shows a run whose program crashed as failed, never as finished", async () => {
    const visit = await fixture.open({
      prepare: async (page) => {
        await captureEventStream(page);
        await setRecord(page, CRASHED);
        await page.route("**/sim/api/evaluation/records?*", (route) => route.fulfill({ json: { records: records() } }));
      },
    });
    await visit.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const { failed, finished } = en.evaluation.outcomes;
    const sentence = en.evaluation.failure.status(1);
    await emitRunStart(visit.page);
    expect(await visit.byTestId("eval-program-failure").isVisible()).toBe(false);
    await emitCrash(visit.page);
    expect(await visit.byTestId("eval-phase").textContent()).toBe(en.evaluation.programFailed);
    expect(await visit.byTestId("eval-program-failure").textContent()).toBe(sentence);
    expect(await visit.byTestId("eval-program-tail").textContent()).toContain(TRACEBACK.join("\n"));
    await emitFailedEnd(visit.page);
    const card = visit.byTestId("result-card");
    await card.waitFor();
    expect(await card.getAttribute("data-tone")).toBe("bad");
    expect(await visit.byTestId("result-outcome").textContent()).toBe(failed);
    expect(await visit.byTestId("result-program-failure").textContent()).toBe(sentence);
    // The output tail in the record replaces the lines that the page has received.
    await until(
      () => visit.byTestId("result-program-tail").textContent(),
      (tail) => tail === TRACEBACK.join("\n"),
    );
    await visit.byTestId("result-program-copy").click();
    await visit.page.getByText(en.worlds.copied).waitFor();
    expect(await visit.page.evaluate(() => navigator.clipboard.readText())).toBe(TRACEBACK.join("\n"));
    await visit.byTestId("history").locator("summary").first().click();
    const rows = visit.byTestId("record");
    await rows.nth(2).getByText(sentence).waitFor();
    expect(await rows.nth(2).locator(".record-outcome").textContent()).toBe(failed);
    expect(await rows.nth(2).locator(".record-outcome").getAttribute("data-tone")).toBe("bad");
    expect(await rows.nth(0).locator(".record-outcome").textContent()).toBe(finished + en.evaluation.best);
    expect(await rows.nth(0).locator(".record-outcome").getAttribute("data-tone")).toBe("good");
    const tail = rows.nth(2).getByTestId("record-program-tail");
    expect(await tail.isVisible()).toBe(false);
    await rows.nth(2).locator("summary").click();
    expect(await tail.textContent()).toBe(TRACEBACK.join("\n"));
    expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBe(1280);
  });

  it("shows who disturbed a run and what its program was refused, with the first commands", async () => {
    const visit = await fixture.open({
      prepare: async (page) => {
        await captureEventStream(page);
        await setRecord(page, DISTURBED);
        await page.route("**/sim/api/evaluation/records?*", (route) => route.fulfill({ json: { records: records() } }));
      },
    });
    await emitRunStart(visit.page);
    await emitRunEnd(visit.page);
    const badges = visit.byTestId("result-badges");
    await badges.getByText("interference 23").waitFor();
    await badges.getByText("2 refused requests").waitFor();
    await badges.getByTestId("interference").click();
    const commands = badges.getByTestId("interference-commands");
    expect(await commands.locator("tbody tr").first().locator("td").allTextContents()).toEqual([
      "0:03.2",
      en.evaluation.sources.viewer,
      "/sim/api/models/box1/posename box1, x 1.25, y -0.5",
    ]);
    await commands.getByText(en.evaluation.moreCommands(20)).waitFor();
    await visit.page.keyboard.press("Escape");
    await commands.waitFor({ state: "hidden" });
    await badges.getByTestId("refused").click();
    await badges.getByTestId("refused-commands").getByText("/sim/api/clock").waitFor();
    await visit.page.keyboard.press("Escape");
    expect(await visit.byTestId("result-student").textContent()).toBe("Ada Lovelace");
    expect(await visit.byTestId("result-box").textContent()).toBe(en.evaluation.boxes.closed);
    expect(await visit.byTestId("result-version").textContent()).toBe("0.1.0 (a895820)");
    await visit.byTestId("history").locator("summary").first().click();
    const rows = visit.byTestId("record");
    await rows.nth(1).getByText("interference 23").click();
    await rows.nth(1).getByTestId("interference-commands").getByText("/cmd_vel").waitFor();
    expect(await rows.nth(0).getByTestId("interference").count()).toBe(0);
    await rows.nth(3).getByText("wall-clock limit of 900 s").waitFor();
    expect(await rows.nth(3).locator(".record-outcome").getAttribute("data-tone")).toBe("neutral");
    expect(await rows.nth(0).textContent()).toContain("Ada Lovelace · closed box · 0.1.0 (a895820)");
  });

  it("shows phase, clock, record, logs and a stop button, then the result", async () => {
    let stopped = 0;
    const visit = await fixture.open({
      prepare: async (page) => {
        await captureEventStream(page);
        await page.route("**/sim/api/evaluation/stop", async (route) => {
          stopped++;
          await route.fulfill({ json: { ok: true, stopped: true } });
        });
        await page.route("**/sim/api/evaluation/start", (route) => route.fulfill({ json: { ok: true } }));
        await page.route("**/sim/api/evaluation/records?*", (route) => route.fulfill({ json: { records: records() } }));
      },
    });
    await emitRunStart(visit.page);
    await visit.byTestId("eval-panel").waitFor();
    expect(await visit.byTestId("eval-phase").textContent()).toBe(en.evaluation.phases.running);
    expect(await visit.byTestId("eval-record").textContent()).toBe("17.38");
    expect(await visit.byTestId("eval-log").textContent()).toContain("off the road: +5 s");
    expect(await visit.byTestId("eval-output").textContent()).toContain("lap 1, driving by lidar");
    const clock = await visit.byTestId("eval-clock").textContent();
    expect(clock).toMatch(/^\d:\d\d\.\d of 3:00\.0$/);
    await until(
      () => visit.byTestId("eval-clock").textContent(),
      (now) => now !== clock,
    );
    await visit.byTestId("eval-stop").click();
    await until(
      () => stopped,
      (count) => count === 1,
    );
    await emitRunEnd(visit.page);
    await visit.byTestId("result-card").waitFor();
    expect(await visit.byTestId("result-outcome").textContent()).toBe(en.evaluation.outcomes.finished);
    expect(await visit.byTestId("result-record").textContent()).toBe("36.52");
    expect(await visit.byTestId("result-program-name").textContent()).toBe("run.py");
    await until(
      () => visit.byTestId("result-standing").textContent(),
      (text) => text === `${en.evaluation.best}${en.evaluation.rank(1, 5)}`,
    );
    await visit.byTestId("open-replay").waitFor();
    await visit.byTestId("open-result").waitFor();
    await visit.byTestId("history").locator("summary").first().click();
    await visit.page.locator("svg.chart circle").first().waitFor();
    expect(await visit.page.locator("svg.chart circle").count()).toBe(5);
    // The axes of the chart show the best and the worst record, and the first and the last time.
    const labels = await visit.page.locator("svg.chart text").allTextContents();
    expect(labels.slice(0, 2)).toEqual(["61.3", "36.52"]);
    expect(labels).toHaveLength(4);
    const row = visit.byTestId("record").first();
    expect(await row.getByTestId("best").count()).toBe(1);
    expect(await row.textContent()).toContain("run.py");
    expect(await visit.byTestId("record").getByTestId("best").count()).toBe(1);
    expect(await visit.page.locator(".record-link").first().getAttribute("href")).toBe("/sim?result=20260101-000000-0001");
    expect(await visit.byTestId("record-replay").first().getAttribute("href")).toBe("/sim?replay=20260101-000000-0001");
    await visit.byTestId("eval-start").waitFor();
    const again = visit.page.waitForRequest("**/sim/api/evaluation/start");
    await visit.byTestId("again").click();
    expect((await again).postDataJSON()).toEqual({
      command: "python3 run.py",
      pace: "real",
      time_limit_s: 180,
      student: "Ada Lovelace",
      wall_limit_s: 900,
    });
  });

  it("shows the whole reason of a record, however long it is", async () => {
    const reason = "the judging script failed: ".repeat(30).trim();
    const visit = await fixture.open({
      prepare: async (page) => {
        await setRecord(page, CRASHED);
        await page.route("**/sim/api/evaluation/records?*", (route) =>
          route.fulfill({ json: { records: records().map((one) => ({ ...one, reason })) } }),
        );
      },
    });
    await visit.byTestId("flag").click();
    await visit.byTestId("history").locator("summary").first().click();
    const line = visit.page.locator(".record-reason").first();
    expect(await line.textContent()).toBe(reason);
    const cut = await line.evaluate((element) => element.scrollHeight - element.clientHeight + element.scrollWidth - element.clientWidth);
    expect(cut).toBe(0);
  });

  it("shows that a run beyond the time limit does not count", async () => {
    const visit = await fixture.open({ prepare: captureEventStream });
    await emitRunStart(visit.page);
    await emitEvent(visit.page, "evaluation", {
      kind: "end",
      session: SESSION,
      time: 180,
      outcome: "timeout",
      record: 12,
      reason: null,
    });
    await visit.page.getByText(en.evaluation.disqualified).waitFor();
  });

  it("is complete on a page that is opened during the run", async () => {
    const session = {
      id: SESSION,
      world: "technical",
      world_id: null,
      rev: null,
      phase: "running",
      outcome: null,
      record: 12.34,
      reason: null,
      better: "lower",
      command: "python3 run.py",
      time_limit_s: 180,
      seed: 0,
      started_at: "2026-01-01T00:00:00Z",
      elapsed_s: 12.3,
      run: { running: true, exit_code: null },
      interference: 0,
      log: ["the clock runs", "off the road: +5 s"],
    };
    const visit = await fixture.open({
      prepare: async (page) => {
        const events = [
          { time: 0, kind: "run", phase: "log", stream: "stdout", line: "printed before the page was opened" },
          ...session.log.map((line) => ({ time: 1, kind: "log", line })),
        ];
        await page.route("**/sim/api/evaluation/session", (route) =>
          route.fulfill({ json: { active: true, session } }),
        );
        await page.route("**/sim/api/evaluation/record?*", (route) =>
          route.fulfill({ json: { ...records()[0], ...session, session: SESSION, interference: { count: 0, first: [] }, events } }),
        );
      },
    });
    await visit.byTestId("eval-panel").waitFor();
    expect(await visit.byTestId("eval-record").textContent()).toBe("12.34");
    expect(await visit.byTestId("eval-log").textContent()).toContain("off the road: +5 s");
    await until(
      () => visit.byTestId("eval-output").textContent(),
      (text) => text?.includes("printed before the page was opened") ?? false,
    );
    expect(await visit.page.getByText("$ python3 run.py").isVisible()).toBe(true);
  });
});
