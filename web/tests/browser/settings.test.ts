import { afterEach, describe, expect, it } from "vitest";
import { de } from "../../src/strings/de.ts";
import { en } from "../../src/strings/en.ts";
import { ko } from "../../src/strings/ko.ts";
import { violations } from "./axe.ts";
import { browserFixture } from "./fixture.ts";
import { until, type Visit } from "./support.js";

const WAIT_STAGE_MS = 90_000;

async function openSettings(visit: Visit): Promise<void> {
  await visit.byTestId("settings").click();
  await visit.byTestId("settings-dialog").waitFor();
}

describe("settings", () => {
  const fixture = browserFixture("--world", "oval");
  afterEach(async () => {
    await fixture.simulator.request("clock", { paused: false });
  });

  it("switch the language without a reload, and remember it", async () => {
    const visit = await fixture.open();
    await visit.page.evaluate(() => Object.assign(window, { sameDocument: true }));
    await visit.page.keyboard.press("i");
    await visit.byTestId("instruments").waitFor();
    await openSettings(visit);
    await visit.byTestId("setting-language").focus();
    for (const [language, texts] of [["de", de], ["ko", ko]] as const) {
      await visit.byTestId("setting-language").selectOption(language);
      await visit.page.getByRole("heading", { name: texts.settings.title, exact: true }).waitFor();
      expect(await visit.page.evaluate(() => document.documentElement.lang)).toBe(language);
      // The dialog stays open, and its focus stays on the same control.
      expect(await visit.page.evaluate(() => document.activeElement?.getAttribute("data-testid"))).toBe("setting-language");
      expect(await visit.byTestId("link").textContent()).toBe(texts.link.live);
      expect(await visit.byTestId("reset").textContent()).toBe(texts.dock.reset);
      expect(await visit.page.getByRole("heading", { name: texts.instruments.title, exact: true }).count()).toBe(1);
    }
    expect(await visit.page.evaluate(() => "sameDocument" in window)).toBe(true);
    expect(await violations(visit)).toEqual([]);
    await visit.page.keyboard.press("Escape");
    // If the former panels still had their listeners, the key would act more than once, and the
    // instruments might stay open.
    await visit.page.keyboard.press("i");
    await visit.byTestId("instruments").waitFor({ state: "hidden" });
    await visit.byTestId("pause").click();
    await until(
      () => fixture.simulator.request("clock"),
      ({ paused }) => paused,
    );
    await until(
      () => visit.byTestId("pause").textContent(),
      (text) => text === ko.dock.run,
    );
    await visit.page.reload();
    await visit.ready();
    expect(await visit.byTestId("reset").textContent()).toBe(ko.dock.reset);
    await visit.page.goto(`${fixture.simulator.origin}/build`);
    await visit.page.getByText(ko.buildTabs.newProject).first().waitFor();
  });

  it("take the language of the browser by default", async () => {
    const visit = await fixture.open({ locale: "de-AT" });
    expect(await visit.byTestId("reset").textContent()).toBe(de.dock.reset);
    await openSettings(visit);
    await visit.byTestId("setting-language").selectOption("en");
    await until(
      () => visit.byTestId("reset").textContent(),
      (text) => text === en.dock.reset,
    );
  });

  it("change the image quality, and remember it", async () => {
    const visit = await fixture.open();
    const quality = () => visit.page.evaluate(() => window.__chicane.quality);
    expect(await quality()).toBe("low");
    await fixture.simulator.request("clock", { paused: true });
    await openSettings(visit);
    await visit.byTestId("setting-quality").selectOption("medium");
    await visit.page.waitForFunction(() => window.__chicane.quality === "medium" && window.__chicane.ready && window.__chicane.staged, null, {
      timeout: WAIT_STAGE_MS,
    });
    await until(
      () => visit.byTestId("quality-hint").textContent(),
      (text) => text === en.settings.qualityEdges,
    );
    await visit.byTestId("setting-quality").selectOption("low");
    await visit.page.waitForFunction(() => window.__chicane.quality === "low" && window.__chicane.ready && window.__chicane.staged, null, {
      timeout: WAIT_STAGE_MS,
    });
    await visit.page.reload();
    await visit.ready();
    await openSettings(visit);
    expect(await visit.byTestId("setting-quality").inputValue()).toBe("low");
  });

  it("change keys, swap used ones, and turn shortcuts off", async () => {
    const visit = await fixture.open();
    await openSettings(visit);
    await visit.byTestId("key-instruments").click();
    await visit.page.keyboard.press("Enter");
    expect(await visit.byTestId("keys-hint").textContent()).toBe(en.settings.keyReserved("Enter"));
    await visit.page.keyboard.press("d");
    await until(
      () => visit.byTestId("key-instruments").textContent(),
      (text) => text === "D",
    );
    expect(await visit.byTestId("key-drive").textContent()).toBe("I");
    await visit.page.keyboard.press("Escape");
    await visit.byTestId("settings-dialog").waitFor({ state: "hidden" });
    expect(await visit.byTestId("instruments-button").getAttribute("title")).toBe(`${en.dock.instrumentsTitle} (D)`);
    await visit.page.keyboard.press("d");
    await visit.byTestId("instruments").waitFor();
    await visit.page.keyboard.press("d");
    await visit.byTestId("instruments").waitFor({ state: "hidden" });
    await visit.page.reload();
    await visit.ready();
    await openSettings(visit);
    expect(await visit.byTestId("key-instruments").textContent()).toBe("D");
    await visit.byTestId("keys-reset").click();
    await until(
      () => visit.byTestId("key-instruments").textContent(),
      (text) => text === "I",
    );
    await visit.byTestId("setting-shortcuts").click({ force: true });
    await visit.byTestId("key-instruments").waitFor({ state: "hidden" });
    await visit.page.keyboard.press("Escape");
    await visit.byTestId("settings-dialog").waitFor({ state: "hidden" });
    await visit.page.keyboard.press("i");
    expect(await visit.byTestId("instruments").isVisible()).toBe(false);
    expect(await visit.byTestId("instruments-button").getAttribute("title")).toBe(en.dock.instrumentsTitle);
  });

  it("change units and theme", async () => {
    const visit = await fixture.open({ colorScheme: "dark" });
    const background = () => visit.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await background();
    await openSettings(visit);
    await visit.byTestId("setting-theme").selectOption("light");
    await until(background, (colour) => colour !== dark);
    expect(await violations(visit)).toEqual([]);
    await visit.byTestId("setting-speed-unit").selectOption("km/h");
    await visit.page.keyboard.press("Escape");
    await visit.page.keyboard.press("i");
    await until(
      () => visit.byTestId("instruments").textContent(),
      (text) => /\d km\/h/.test(text ?? ""),
    );
    await visit.page.goto(`${fixture.simulator.origin}/build`);
    await until(background, (colour) => colour !== dark);
  });
});
