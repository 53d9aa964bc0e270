import { beforeEach, describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { type BrowserFixture, browserFixture } from "./fixture.ts";
import { until } from "./support.js";

/**
 * Fails if the judge is not set up (`chicane setup`). The tests of this file run the judging script
 * of the world in its jail or container, and most of them run a real program.
 */
async function expectJudge({ simulator }: BrowserFixture): Promise<void> {
  const answer = await fetch(`${simulator.origin}/sim/api/evaluation/start`, { method: "POST" });
  if (answer.status === 503) throw new Error("The judge is not set up. Run `chicane setup` first.");
  await simulator.request("evaluation/stop", {});
}

describe("a real evaluation", () => {
  const fixture = browserFixture("--world", "oval");
  beforeEach(() => expectJudge(fixture));

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
    // The script ends the run when the program has exited and the car has stood for five simulated
    // seconds. The simulation runs faster, so that the test waits less.
    await fixture.simulator.request("clock", { speed: 5 });
    for (const visit of [one, two, three]) {
      await visit.byTestId("result-card").waitFor({ timeout: 60_000 });
      // The car has not moved, so the run has no record, although the program exited with 0.
      expect(await visit.byTestId("result-outcome").textContent()).toBe(en.evaluation.outcomes.failed);
      await visit.page.getByText(en.evaluation.failure.noRecord).first().waitFor();
    }
    await one.byTestId("history").locator("summary").first().click();
    await until(
      () => one.page.locator(".records a").count(),
      (count) => count > 0,
    );
    await one.byTestId("open-result").click();
    await until(
      () => one.byTestId("page-outcome").textContent(),
      (outcome) => outcome === en.evaluation.outcomes.failed,
    );
    await one.byTestId("run-page-close").click();
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

  it("shows a run whose program crashed as failed, with the traceback, in card and list", async () => {
    const visit = await fixture.open();
    await visit.byTestId("flag").click();
    await visit.byTestId("eval-command").fill(`python3 -c "import nunpy"`);
    await visit.byTestId("eval-advanced").locator("summary").click();
    await visit.byTestId("eval-student").fill("Ada Lovelace");
    await visit.byTestId("eval-start").click();
    await visit.byTestId("eval-panel").waitFor({ timeout: 60_000 });
    await fixture.simulator.request("clock", { speed: 10 });
    await visit.byTestId("result-card").waitFor({ timeout: 60_000 });
    expect(await visit.byTestId("result-outcome").textContent()).toBe(en.evaluation.outcomes.failed);
    expect(await visit.byTestId("result-card").getAttribute("data-tone")).toBe("bad");
    expect(await visit.byTestId("result-program-failure").textContent()).toBe(en.evaluation.failure.status(1));
    expect(await visit.byTestId("result-program-tail").textContent()).toMatch(/Traceback[^]*No module named 'nunpy'/);
    expect(await visit.byTestId("result-program-tail").isVisible()).toBe(true);
    await until(
      () => visit.byTestId("result-student").textContent(),
      (name) => name === "Ada Lovelace",
    );
    await visit.byTestId("history").locator("summary").first().click();
    const row = visit.byTestId("record").first();
    await row.getByText(en.evaluation.outcomes.failed).waitFor();
    await row.getByText(en.evaluation.failure.status(1)).waitFor();
    await row.getByText("Ada Lovelace").waitFor();
    await fixture.simulator.request("clock", { speed: 1 });
    // On this simulator, programs have internet access, so the run followed the wall clock.
    expect(await visit.byTestId("result-pace").textContent()).toBe(en.evaluation.paces.real);
    expect(await visit.byTestId("result-pace-reason").textContent()).toContain("internet");
    await until(
      () => visit.byTestId("eval-repeatable").isDisabled(),
      (isDisabled) => isDisabled,
    );
    await visit.page.reload();
    await visit.ready();
    await visit.byTestId("flag").click();
    await visit.page.getByText(en.evaluation.notRepeatable.internet).waitFor();
  });
});

describe("a real evaluation without internet access", () => {
  const fixture = browserFixture("--world", "oval", "--student-network", "none");
  beforeEach(() => expectJudge(fixture));

  it("is repeatable: its program has a clock of simulated time", async () => {
    const visit = await fixture.open();
    await visit.byTestId("flag").click();
    await visit.byTestId("eval-command").fill(`python3 -c "import time; time.sleep(1); print(time.gmtime().tm_hour); exit(3)"`);
    expect(await visit.byTestId("eval-repeatable").isChecked()).toBe(true);
    await visit.byTestId("eval-start").click();
    await visit.byTestId("result-card").waitFor({ timeout: 60_000 });
    await until(
      () => visit.byTestId("result-pace").textContent(),
      (pace) => pace === en.evaluation.paces.virtual,
    );
    // The program prints the hour of the day. The virtual clock starts at midnight.
    expect(await visit.byTestId("result-program-tail").textContent()).toBe("0");
    expect(await visit.byTestId("result-pace-reason").isVisible()).toBe(false);
    expect(await visit.byTestId("eval-repeatable").isEnabled()).toBe(true);
  });
});

describe("a real evaluation that a person disturbs", () => {
  const fixture = browserFixture("--world", "technical");
  beforeEach(() => expectJudge(fixture));

  it("shows the number of commands during the run, then the commands in result and list", async () => {
    const visit = await fixture.open();
    await fixture.simulator.request("evaluation/start", { command: "sleep 600", time_limit_s: 600 });
    await visit.byTestId("eval-panel").waitFor({ timeout: 60_000 });
    await until(
      () => visit.byTestId("eval-phase").textContent(),
      (phase) => phase === en.evaluation.phases.running,
      60_000,
    );
    expect(await visit.byTestId("eval-interference").isVisible()).toBe(false);
    await visit.drag("box1", [90, 20]);
    await visit.byTestId("eval-interference").waitFor();
    const count = async () => Number((await visit.byTestId("eval-interference").textContent())?.match(/\d+/)?.[0]);
    const before = await count();
    expect(before).toBeGreaterThan(0);
    await fixture.simulator.request("evaluation/session").then(({ session }) => expect(session.interference).toBeGreaterThan(0));
    await visit.page.keyboard.press("Control+z");
    await until(count, (now) => now > before);
    await visit.byTestId("eval-stop").click();
    const badge = visit.byTestId("result-badges").getByTestId("interference");
    await badge.waitFor({ timeout: 60_000 });
    await badge.click();
    const commands = visit.byTestId("result-badges").getByTestId("interference-commands");
    await commands.getByText("/sim/api/models/box1/pose").first().waitFor();
    await commands.getByText(en.evaluation.sources.viewer).first().waitFor();
    await visit.page.keyboard.press("Escape");
    await commands.waitFor({ state: "hidden" });
    await visit.byTestId("history").locator("summary").first().click();
    await visit.byTestId("record").first().getByTestId("interference").waitFor();
  });
});
