import { describe, expect, it } from "vitest";
import { together } from "./stage.ts";
import { until } from "./support.js";
import { listening, records, SESSION, tell, tellEnd, tellRun } from "./told.js";

describe("an evaluation", () => {
  const at = together("--world", "technical");

  it("is offered with description, command and limit", async () => {
    const visit = await at.open();
    await visit.mark("flag").click();
    const { config } = await at.simulator.ask("evaluation");
    await visit.page.getByText(config.description).waitFor();
    expect(await visit.mark("eval-limit").inputValue()).toBe(String(config.time_limit_s));
    await visit.mark("eval-command").fill("python3 run.py");
    await visit.page.keyboard.press("Escape");
    await visit.mark("flag").click();
    await visit.mark("eval-card").waitFor({ state: "hidden" });
  });

  it("is not offered for another robot", async () => {
    const visit = await at.open({
      prepare: async (page) => {
        await page.route("**/sim/api/evaluation", async (route) => {
          const answer = await (await route.fetch()).json();
          await route.fulfill({ json: { ...answer, config: { ...answer.config, robot: "gen9" } } });
        });
      },
    });
    expect(await visit.mark("flag").isVisible()).toBe(false);
  });

  it("sends what was chosen, and says why it could not start", async () => {
    let body: unknown = null;
    const visit = await at.open({
      prepare: async (page) => {
        await page.route("**/sim/api/evaluation/start", async (route) => {
          body = route.request().postDataJSON();
          await route.fulfill({ status: 503, json: { error: "judge not available: try again" } });
        });
      },
    });
    visit.allowed = /503/;
    await visit.mark("flag").click();
    await visit.mark("eval-command").fill("python3 run.py");
    await visit.mark("eval-limit").fill("60");
    await visit.mark("eval-start").click();
    await visit.page.getByText("judge not available: try again").waitFor();
    expect(body).toEqual({ command: "python3 run.py", time_limit_s: 60 });
  });

  it("is shown as it runs, with phase, clock, record, both logs and a stop, and then its result", async () => {
    let stopped = 0;
    const visit = await at.open({
      prepare: async (page) => {
        await listening(page);
        await page.route("**/sim/api/evaluation/stop", async (route) => {
          stopped++;
          await route.fulfill({ json: { ok: true, stopped: true } });
        });
        await page.route("**/sim/api/evaluation/start", (route) => route.fulfill({ json: { ok: true } }));
        await page.route("**/sim/api/evaluation/records?*", (route) => route.fulfill({ json: { records: records() } }));
      },
    });
    await tellRun(visit.page);
    await visit.mark("eval-panel").waitFor();
    expect(await visit.mark("eval-phase").textContent()).toBe("Running");
    expect(await visit.mark("eval-record").textContent()).toBe("17.38");
    expect(await visit.mark("eval-log").textContent()).toContain("off the road: +5 s");
    expect(await visit.mark("eval-output").textContent()).toContain("lap 1, driving by lidar");
    const clock = await visit.mark("eval-clock").textContent();
    expect(clock).toMatch(/^\d:\d\d\.\d of 3:00\.0$/);
    await until(() => visit.mark("eval-clock").textContent(), (now) => now !== clock);
    await visit.mark("eval-stop").click();
    await until(() => stopped, (count) => count === 1);
    await tellEnd(visit.page);
    await visit.mark("result-card").waitFor();
    expect(await visit.mark("result-outcome").textContent()).toBe("Finished");
    expect(await visit.mark("result-record").textContent()).toBe("36.52");
    expect(await visit.mark("result-log").getAttribute("href")).toBe(`/sim/api/evaluation/record?session=${SESSION}`);
    await visit.mark("history").locator("summary").click();
    await visit.page.locator("svg.chart circle").first().waitFor();
    expect(await visit.page.locator("svg.chart circle").count()).toBe(7);
    expect(await visit.page.locator(".records a").first().getAttribute("href")).toContain("/sim/api/evaluation/record?session=");
    await visit.mark("eval-start").waitFor();
    const again = visit.page.waitForRequest("**/sim/api/evaluation/start");
    await visit.mark("again").click();
    expect((await again).postDataJSON()).toEqual({ command: "python3 run.py", time_limit_s: 180 });
  });

  it("tells a run that does not count", async () => {
    const visit = await at.open({ prepare: listening });
    await tellRun(visit.page);
    await tell(visit.page, "evaluation", { kind: "end", session: SESSION, time: 180, outcome: "timeout", record: 12, reason: null });
    await visit.page.getByText("The time limit passed: the run does not count.").waitFor();
  });

  it("is all there on a page that is opened in the middle of it", async () => {
    const session = {
      id: SESSION, world: "technical", world_id: null, rev: null, phase: "running", outcome: null, record: 12.34, reason: null, better: "lower",
      command: "python3 run.py", time_limit_s: 180, seed: 0, started_at: "2026-01-01T00:00:00Z", elapsed_s: 12.3,
      run: { running: true, exit_code: null }, log: ["the clock runs", "off the road: +5 s"],
    };
    const visit = await at.open({
      prepare: async (page) => {
        const events = [
          { time: 0, kind: "run", phase: "log", stream: "stdout", line: "said before the page came" },
          ...session.log.map((line) => ({ time: 1, kind: "log", line })),
        ];
        await page.route("**/sim/api/evaluation/session", (route) => route.fulfill({ json: { active: true, session } }));
        await page.route("**/sim/api/evaluation/record?*", (route) => route.fulfill({ json: { ...session, session: SESSION, events } }));
      },
    });
    await visit.mark("eval-panel").waitFor();
    expect(await visit.mark("eval-record").textContent()).toBe("12.34");
    expect(await visit.mark("eval-log").textContent()).toContain("off the road: +5 s");
    await until(() => visit.mark("eval-output").textContent(), (text) => text?.includes("said before the page came") ?? false);
    expect(await visit.page.getByText("$ python3 run.py").isVisible()).toBe(true);
  });
});
