import { beforeEach, describe, expect, it } from "vitest";
import { together } from "./stage.ts";
import { until } from "./support.js";

/** With a real judge: the world's own script in its container, and a real program. `chicane setup` makes a judge. */
describe("a real evaluation", () => {
  const at = together("--world", "oval");
  beforeEach(async () => {
    const answer = await fetch(`${at.simulator.origin}/sim/api/evaluation/start`, { method: "POST" });
    if (answer.status === 503) throw new Error("there is no judge here: chicane setup makes one");
    await at.simulator.ask("evaluation/stop", {});
  });

  it("goes from flag to result, the same on every page, also on one that is opened in the middle", async () => {
    const [one, two] = [await at.open(), await at.open()];
    await one.mark("flag").click();
    // A program that waits for a sign, and ends.
    const sign = `${at.simulator.origin}/sim/api/brightness`;
    const program = `import json, time, urllib.request as web; print('hello from the program')\nwhile json.load(web.urlopen('${sign}'))['value'] == 1: time.sleep(0.2)`;
    await at.simulator.ask("brightness", { value: 1 });
    await one.mark("eval-command").fill(`python3 -uc "exec(${JSON.stringify(program).replaceAll('"', '\\"')})"`);
    await one.mark("eval-limit").fill("600");
    await one.mark("eval-start").click();
    for (const visit of [one, two]) {
      await visit.mark("eval-panel").waitFor({ timeout: 60_000 });
      await until(
        () => visit.mark("eval-phase").textContent(),
        (phase) => phase === "Running",
        60_000,
      );
      await until(
        () => visit.mark("eval-output").textContent(),
        (text) => text?.includes("hello from the program") ?? false,
      );
    }
    const three = await at.open();
    await three.mark("eval-panel").waitFor();
    await until(
      () => three.mark("eval-output").textContent(),
      (text) => text?.includes("hello from the program") ?? false,
    );
    expect(await three.mark("eval-clock").textContent()).toMatch(/ of 10:00\.0$/);
    await at.simulator.ask("brightness", { value: 1.1 });
    // The program ends, the car stands for five seconds, and the script has seen enough.
    await at.simulator.ask("clock", { speed: 5 });
    for (const visit of [one, two, three]) {
      await visit.mark("result-card").waitFor({ timeout: 60_000 });
      expect(await visit.mark("result-outcome").textContent()).toBe("Finished");
    }
    await one.mark("history").locator("summary").click();
    await until(
      () => one.page.locator(".records a").count(),
      (count) => count > 0,
    );
    const link = (await one.mark("result-log").getAttribute("href")) ?? "";
    const record = await at.simulator.ask(link);
    expect(record.outcome).toBe("finished");
    await at.simulator.ask("clock", { speed: 1 });
    await at.simulator.ask("brightness", { value: 1 });
  });

  it("is stopped by anyone", async () => {
    const [one, two] = [await at.open(), await at.open()];
    await at.simulator.ask("evaluation/start", {});
    await two.mark("eval-stop").click();
    for (const visit of [one, two]) {
      await visit.mark("result-card").waitFor({ timeout: 60_000 });
      expect(await visit.mark("result-outcome").textContent()).toBe("Stopped");
    }
  });
});
