import { describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { browserFixture, MOTION } from "./fixture.ts";
import { until, type Visit } from "./support.js";

/** Mean value of the colour channels of all pixels of a PNG file, from 0 to 255. */
function brightness({ page }: Visit, png: Buffer): Promise<number> {
  return page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
    context?.drawImage(image, 0, 0);
    const { data } = context?.getImageData(0, 0, image.width, image.height) ?? { data: [] };
    const colours = [...data].filter((_, i) => i % 4 < 3);
    return colours.reduce((sum, value) => sum + value, 0) / colours.length;
  }, png.toString("base64"));
}

describe("a first visit", () => {
  const fixture = browserFixture("--world", "oval");
  const { steps } = en.tour;

  it("shows a picture of an empty track until the first frame, and never a black canvas", async () => {
    const waiting: (() => void)[] = [];
    const visit = await fixture.open({
      ...MOTION,
      skipReady: true,
      prepare: async (page) => {
        await page.route("**/*.glb*", async (route) => {
          await new Promise<void>((done) => waiting.push(done));
          await route.continue();
        });
      },
    });
    await visit.byTestId("notice").getByText(en.scene.first).waitFor();
    const box = await visit.page.locator("canvas.canvas").boundingBox();
    if (!box) throw new Error("The canvas is not visible");
    expect(await visit.page.locator(".skeleton").boundingBox()).toEqual(box);
    for (const [x, y] of [
      [0.5, 0.3],
      [0.2, 0.6],
      [0.9, 0.9],
    ]) {
      const clip = { x: box.x + x * box.width, y: box.y + y * box.height, width: 8, height: 8 };
      expect(await brightness(visit, await visit.page.screenshot({ clip }))).toBeGreaterThan(25);
    }
    await until(
      () => waiting.length,
      (count) => count === 2,
    );
    for (const load of waiting) load();
    await visit.ready();
    await visit.page.locator(".skeleton").waitFor({ state: "detached" });
  });

  it("has no tour in a browser that a program controls, unless the address asks for it", async () => {
    const visit = await fixture.open();
    expect(await visit.byTestId("tour").isVisible()).toBe(false);
  });

  it("has a tour of three steps, which the keyboard controls", async () => {
    const visit = await fixture.open({ path: "/sim?tour" });
    await visit.byTestId("tour").waitFor();
    for (const [i, { title, text }] of steps.entries()) {
      expect(await visit.byTestId("tour-progress").textContent()).toBe(en.tour.progress(i + 1, steps.length));
      expect(await visit.byTestId("tour").getByRole("heading").textContent()).toBe(title);
      expect(await visit.byTestId("tour-text").textContent()).toBe(text);
      // The button of the next step has the focus.
      await visit.page.keyboard.press("Enter");
    }
    await visit.byTestId("tour").waitFor({ state: "hidden" });
    expect(await visit.page.locator(".tour-target").count()).toBe(0);
  });

  it("shows the tour once, and again from the help dialog", async () => {
    // The page must not detect that a program controls the browser, because it would then not start
    // the tour by itself.
    const visit = await fixture.open({
      ...MOTION,
      prepare: (page) =>
        page.addInitScript(() => Object.defineProperty(Navigator.prototype, "webdriver", { get: () => false })).then(() => {}),
    });
    await visit.byTestId("tour").waitFor();
    await visit.page.keyboard.press("Escape");
    await visit.byTestId("tour").waitFor({ state: "hidden" });
    await visit.page.reload();
    await visit.ready();
    expect(await visit.byTestId("tour").isVisible()).toBe(false);
    await visit.page.keyboard.press("?");
    await visit.byTestId("show-tour").click();
    await visit.byTestId("help-dialog").waitFor({ state: "hidden" });
    await visit.byTestId("tour").waitFor();
    await visit.byTestId("tour-next").click();
    await visit.byTestId("tour-back").click();
    expect(await visit.byTestId("tour-progress").textContent()).toBe(en.tour.progress(1, steps.length));
    await visit.byTestId("tour-close").click();
    await visit.byTestId("tour").waitFor({ state: "hidden" });
  });
});
