import { describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { browserFixture } from "./fixture.ts";
import { until } from "./support.js";
import { captureEventStream, records, SESSION, emitEvent, emitRunEnd, emitRunStart } from "./fake-events.js";

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
    expect(body).toEqual({ command: "python3 run.py", time_limit_s: 60 });
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
    expect(await visit.byTestId("result-log").getAttribute("href")).toBe(`/sim/api/evaluation/record?session=${SESSION}`);
    await visit.byTestId("history").locator("summary").click();
    await visit.page.locator("svg.chart circle").first().waitFor();
    expect(await visit.page.locator("svg.chart circle").count()).toBe(7);
    expect(await visit.page.locator(".records a").first().getAttribute("href")).toContain(
      "/sim/api/evaluation/record?session=",
    );
    await visit.byTestId("eval-start").waitFor();
    const again = visit.page.waitForRequest("**/sim/api/evaluation/start");
    await visit.byTestId("again").click();
    expect((await again).postDataJSON()).toEqual({ command: "python3 run.py", time_limit_s: 180 });
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
          route.fulfill({ json: { ...session, session: SESSION, events } }),
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
