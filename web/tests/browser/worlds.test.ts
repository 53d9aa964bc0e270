import { describe, expect, it } from "vitest";
import { together } from "./stage.ts";
import { until } from "./support.js";

const ID = "0123456789abcdef0123456789abcdef";

describe("worlds", () => {
  const at = together("--world", "oval");

  it("are listed with picture, size and evaluation, and opened for all", async () => {
    const [one, two] = [await at.open(), await at.open()];
    await one.mark("worlds").click();
    await one.mark("world-dialog").waitFor();
    const { worlds } = await at.simulator.ask("worlds");
    for (const world of worlds) {
      const tile = one.mark(`world-${world.name}`);
      await tile.waitFor();
      const text = await tile.textContent();
      expect(text).toContain(world.display);
      expect(text).toContain(`${world.size[0]} × ${world.size[1]} m`);
      expect(text?.includes("Evaluation")).toBe(world.evaluation);
      await until(() => tile.locator("img").evaluate((img: HTMLImageElement) => img.naturalWidth), (width) => width > 0);
    }
    expect(await one.mark("open-oval").isDisabled()).toBe(true);
    await one.mark("open-technical").click();
    for (const visit of [one, two]) {
      await until(() => visit.page.evaluate(() => window.__chicane.ready && window.__chicane.world), (world) => world === "technical");
      await until(() => visit.mark("worlds").textContent(), (name) => name === "Technical");
    }
    await one.mark("world-dialog").waitFor({ state: "hidden" });
    await at.simulator.ask("switch", { world: "oval.world" });
    await until(() => one.page.evaluate(() => window.__chicane.world), (world) => world === "oval");
  });

  it("offer waypoints and a picture to print", async () => {
    const visit = await at.open();
    await visit.page.keyboard.press("w");
    const tile = visit.mark("world-oval");
    const [waypoints] = await Promise.all([visit.page.waitForEvent("download"), tile.getByTestId("waypoints").click()]);
    expect(waypoints.suggestedFilename()).toBe("oval.npy");
    const href = await tile.getByTestId("print").getAttribute("href");
    const answer = await fetch(`${at.simulator.origin}${href}?dpi=10`);
    expect(answer.headers.get("content-type")).toBe("image/jpeg");
    await answer.arrayBuffer();
  });

  it("are shared by a link that asks before it changes the world", async () => {
    const visit = await at.open({ permissions: ["clipboard-read", "clipboard-write"] });
    await visit.page.keyboard.press("w");
    await visit.mark("world-technical").getByTestId("share").click();
    await visit.page.getByText("Copied.").waitFor();
    const link = await visit.page.evaluate(() => navigator.clipboard.readText());
    expect(link).toBe(`${at.simulator.origin}/sim?world=technical`);
    const other = await at.open({ path: "/sim?world=technical" });
    await other.mark("world-dialog").waitFor();
    await other.page.getByText("This link leads to a world.").waitFor();
    expect((await at.simulator.ask("worlds")).current).toBe("oval");
    await other.mark("open-technical").click();
    await until(() => other.page.evaluate(() => window.__chicane.world), (world) => world === "technical");
    await at.simulator.ask("switch", { world: "oval.world" });
    const known = await at.open({ path: "/sim?world=oval" });
    expect(await known.mark("world-dialog").isVisible()).toBe(false);
  });

  it("refuse an id that is none, and say why an install failed", async () => {
    const visit = await at.open();
    visit.allowed = /status of (404|502)/;
    await visit.mark("worlds").click();
    await visit.mark("install-id").fill("not an id");
    await visit.mark("install").click();
    expect(await visit.mark("install-error").textContent()).toContain("32 hex digits");
    await visit.mark("install-id").fill(ID);
    await visit.mark("install").click();
    await until(() => visit.mark("install-error").textContent(), (text) => text !== null && !text.includes("hex digits") && text.length > 5);
  });

  it("say what is under way while one is installed, and delete after asking", async () => {
    // The answers of a CDN, without one.
    let installed = false;
    let finish = () => {};
    const visit = await at.open({
      prepare: async (page) => {
        await page.route("**/sim/api/worlds/install", async (route) => {
          await new Promise<void>((done) => (finish = done));
          installed = true;
          await route.fulfill({ json: { ok: true, world: `custom_${ID}.world`, name: `custom_${ID}`, rev: "0123456789", cached: false, verified: true } });
        });
        await page.route("**/sim/api/worlds", async (route) => {
          const answer = await route.fetch();
          const list = await answer.json();
          const extra = { name: `custom_${ID}`, file: `custom_${ID}.world`, display: "School yard", world_id: ID, size: [5, 4], official: false, evaluation: false, deletable: true };
          await route.fulfill({ json: { ...list, worlds: installed ? [...list.worlds, extra] : list.worlds } });
        });
        await page.route(`**/sim/api/worlds/custom_${ID}`, async (route) => {
          expect(route.request().method()).toBe("DELETE");
          installed = false;
          await route.fulfill({ json: { ok: true, deleted: `custom_${ID}` } });
        });
        await page.route(`**/sim/api/worlds/custom_${ID}/thumbnail.png`, (route) => route.fulfill({ contentType: "image/svg+xml", body: "<svg xmlns='http://www.w3.org/2000/svg' width='4' height='3'/>" }));
      },
    });
    await visit.mark("worlds").click();
    await visit.mark("install-id").fill(ID.toUpperCase());
    await visit.mark("install").click();
    await visit.mark("install-progress").waitFor();
    await visit.page.getByText(/Installing · \d+ s/).waitFor();
    finish();
    const tile = visit.mark(`world-custom_${ID}`);
    await tile.waitFor();
    expect(await tile.textContent()).toContain("Custom");
    await tile.getByTestId("copy-id").waitFor();
    await tile.getByTestId("delete").click();
    await visit.page.getByText("Delete School yard?").waitFor();
    await tile.getByTestId("delete-yes").click();
    await tile.waitFor({ state: "detached" });
  });
});
