import { describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { browserFixture } from "./fixture.ts";
import { until } from "./support.js";

describe("recording", () => {
  const fixture = browserFixture("--world", "oval");

  it("is started and stopped by the button on every page", async () => {
    const [one, two] = [await fixture.open(), await fixture.open()];
    const button = one.byTestId("recording-button");
    await button.waitFor();
    expect(await button.getAttribute("title")).toBe(en.recording.start);
    await button.click();
    await until(
      () => one.byTestId("recording-time").textContent(),
      (time) => time !== "0:00.0",
    );
    const { file } = await fixture.simulator.request("recording");
    expect(await button.getAttribute("title")).toBe(en.recording.stop(file));
    await until(
      () => two.byTestId("recording-button").getAttribute("aria-pressed"),
      (pressed) => pressed === "true",
    );
    await two.byTestId("recording-button").click();
    const { folder } = await fixture.simulator.request("recording");
    await two.page.getByText(en.recording.saved(`${folder}/${file}`)).waitFor();
    await until(
      () => one.byTestId("recording-button").getAttribute("aria-pressed"),
      (pressed) => pressed === "false",
    );
    const { active, failure } = await fixture.simulator.request("recording");
    expect([active, failure]).toEqual([false, null]);
  });
});
