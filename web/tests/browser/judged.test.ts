import { beforeEach, describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { browserFixture } from "./fixture.ts";
import { until } from "./support.js";

/**
 * Runs the judge script of the world in its container, with a real program. The container image of
 * the judge must exist (`chicane setup`).
 */
describe("a real evaluation", () => {
  const fixture = browserFixture("--world", "oval");
  beforeEach(async () => {
    const answer = await fetch(`${fixture.simulator.origin}/sim/api/evaluation/start`, { method: "POST" });
    if (answer.status === 503) throw new Error("The judge is not set up. Run `chicane setup` first.");
    await fixture.simulator.request("evaluation/stop", {});
  });

  it("shows the same run and result on every page, also on one opened during the run", async () => {
    const [one, two] = [await fixture.open(), await fixture.open()];
    await one.byTestId("flag").click();
    // The program waits until the brightness changes, then exits.
    const brightness = `${fixture.simulator.origin}/sim/api/brightness`;
    const program = `import json, time, urllib.request as web; print('hello from the program')\nwhile json.load(web.urlopen('${brightness}'))['value'] == 1: time.sleep(0.2)`;
    await fixture.simulator.request("brightness", { value: 1 });
    await one.byTestId("eval-command").fill(`python3 -uc "exec(${JSON.stringify(program).replaceAll('"', '\\"')})"`);
    await one.byTestId("eval-limit").fill("600");
    await one.byTestId("eval-start").click();
    for (const visit of [one, two]) {
      await visit.byTestId("eval-panel").waitFor({ timeout: 60_000 });
      await until(
        () => visit.byTestId("eval-phase").textContent(),
        (phase) => phase === en.evaluation.phases.running,
        60_000,
      );
      await until(
        () => visit.byTestId("eval-output").textContent(),
        (text) => text?.includes("hello from the program") ?? false,
      );
    }
    const three = await fixture.open();
    await three.byTestId("eval-panel").waitFor();
    await until(
      () => three.byTestId("eval-output").textContent(),
      (text) => text?.includes("hello from the program") ?? false,
    );
    expect(await three.byTestId("eval-clock").textContent()).toMatch(/ of 10:00\.0$/);
    await fixture.simulator.request("brightness", { value: 1.1 });
    // After the program has exited and the car has stood for five seconds, the script ends the run.
    await fixture.simulator.request("clock", { speed: 5 });
    for (const visit of [one, two, three]) {
      await visit.byTestId("result-card").waitFor({ timeout: 60_000 });
      expect(await visit.byTestId("result-outcome").textContent()).toBe(en.evaluation.outcomes.finished);
    }
    await one.byTestId("history").locator("summary").click();
    await until(
      () => one.page.locator(".records a").count(),
      (count) => count > 0,
    );
    const link = (await one.byTestId("result-log").getAttribute("href")) ?? "";
    const record = await fixture.simulator.request(link);
    expect(record.outcome).toBe("finished");
    await fixture.simulator.request("clock", { speed: 1 });
    await fixture.simulator.request("brightness", { value: 1 });
  });

  it("can be stopped on every page", async () => {
    const [one, two] = [await fixture.open(), await fixture.open()];
    await fixture.simulator.request("evaluation/start", {});
    await two.byTestId("eval-stop").click();
    for (const visit of [one, two]) {
      await visit.byTestId("result-card").waitFor({ timeout: 60_000 });
      expect(await visit.byTestId("result-outcome").textContent()).toBe(en.evaluation.outcomes.stopped);
    }
  });
});
