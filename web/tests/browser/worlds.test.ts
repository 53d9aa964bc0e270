import { describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { browserFixture } from "./fixture.ts";
import { until } from "./support.js";

const ID = "0123456789abcdef0123456789abcdef";

describe("worlds", () => {
  const fixture = browserFixture("--world", "oval");

  it("are listed with preview, size and evaluation, and open on every page", async () => {
    const [one, two] = [await fixture.open(), await fixture.open()];
    await one.byTestId("worlds").click();
    await one.byTestId("world-dialog").waitFor();
    const { worlds } = await fixture.simulator.request("worlds");
    for (const world of worlds) {
      const tile = one.byTestId(`world-${world.name}`);
      await tile.waitFor();
      const text = await tile.textContent();
      expect(text).toContain(world.display);
      expect(text).toContain(en.worlds.size(String(world.size[0]), String(world.size[1])));
      expect(text?.includes(en.worlds.evaluation)).toBe(world.evaluation);
      await until(
        () => tile.locator("img").evaluate((img: HTMLImageElement) => img.naturalWidth),
        (width) => width > 0,
      );
    }
    expect(await one.byTestId("open-oval").isDisabled()).toBe(true);
    await one.byTestId("open-technical").click();
    for (const visit of [one, two]) {
      await until(
        () => visit.page.evaluate(() => window.__chicane.ready && window.__chicane.world),
        (world) => world === "technical",
      );
      await until(
        () => visit.byTestId("worlds").textContent(),
        (name) => name === "Technical",
      );
    }
    await one.byTestId("world-dialog").waitFor({ state: "hidden" });
    await fixture.simulator.request("switch", { world: "oval.world" });
    await until(
      () => one.page.evaluate(() => window.__chicane.world),
      (world) => world === "oval",
    );
  });

  it("offer waypoints and a printable image", async () => {
    const visit = await fixture.open();
    await visit.page.keyboard.press("w");
    const tile = visit.byTestId("world-oval");
    const [waypoints] = await Promise.all([visit.page.waitForEvent("download"), tile.getByTestId("waypoints").click()]);
    expect(waypoints.suggestedFilename()).toBe("oval.npy");
    const href = await tile.getByTestId("print").getAttribute("href");
    const answer = await fetch(`${fixture.simulator.origin}${href}?dpi=10`);
    expect(answer.headers.get("content-type")).toBe("image/jpeg");
    await answer.arrayBuffer();
  });

  it("are shared by a link that does not switch the world without a click", async () => {
    const visit = await fixture.open({ permissions: ["clipboard-read", "clipboard-write"] });
    await visit.page.keyboard.press("w");
    await visit.byTestId("world-technical").getByTestId("share").click();
    await visit.page.getByText(en.worlds.copied).waitFor();
    const link = await visit.page.evaluate(() => navigator.clipboard.readText());
    expect(link).toBe(`${fixture.simulator.origin}/sim?world=technical`);
    const other = await fixture.open({ path: "/sim?world=technical" });
    await other.byTestId("world-dialog").waitFor();
    await other.page.getByText(en.worlds.linked).waitFor();
    expect((await fixture.simulator.request("worlds")).current).toBe("oval");
    await other.byTestId("open-technical").click();
    await until(
      () => other.page.evaluate(() => window.__chicane.world),
      (world) => world === "technical",
    );
    await fixture.simulator.request("switch", { world: "oval.world" });
    const known = await fixture.open({ path: "/sim?world=oval" });
    expect(await known.byTestId("world-dialog").isVisible()).toBe(false);
  });

  it("report an invalid world id and a failed installation", async () => {
    const visit = await fixture.open();
    visit.allowedErrors = /status of (404|502)/;
    await visit.byTestId("worlds").click();
    await visit.byTestId("install-id").fill("not an id");
    await visit.byTestId("install").click();
    expect(await visit.byTestId("install-error").textContent()).toBe(en.worlds.badId("not an id"));
    await visit.byTestId("install-id").fill(ID);
    await visit.byTestId("install").click();
    await until(
      () => visit.byTestId("install-error").textContent(),
      (text) => text !== null && !text.includes("hex digits") && text.length > 5,
    );
  });

  it("are published, installed by id with progress, opened, and deleted after a confirmation", async () => {
    const printed = await fixture.simulator.command("publish", "examples/projects/everything.json", "--name", "School yard");
    const id = /[0-9a-f]{32}/.exec(printed)?.[0] ?? "";
    let finish = () => {};
    const visit = await fixture.open({
      path: `/sim?world=${id}`,
      prepare: async (page) => {
        // Delay the request until the test has seen the progress bar.
        await page.route("**/sim/api/worlds/install", async (route) => {
          await new Promise<void>((done) => (finish = done));
          await route.continue();
        });
      },
    });
    await visit.page.getByText(en.worlds.linkedMissing).waitFor();
    expect(await visit.byTestId("install-id").inputValue()).toBe(id);
    await visit.byTestId("install").click();
    await visit.byTestId("install-progress").waitFor();
    await visit.page.getByText(/Installing · \d+ s/).waitFor();
    finish();
    const tile = visit.byTestId(`world-custom_${id}`);
    await tile.waitFor();
    expect(await tile.textContent()).toContain("School yard");
    expect(await tile.textContent()).toContain(en.worlds.custom);
    await tile.getByTestId("copy-id").waitFor();
    await visit.byTestId(`open-custom_${id}`).click();
    await until(
      () => visit.page.evaluate(() => window.__chicane.ready && window.__chicane.world),
      (world) => world === `custom_${id}`,
    );
    await fixture.simulator.request("switch", { world: "oval.world" });
    await until(
      () => visit.page.evaluate(() => window.__chicane.world),
      (world) => world === "oval",
    );
    await visit.byTestId("worlds").click();
    await tile.getByTestId("delete").click();
    const question = visit.page.getByText(en.worlds.deleteConfirm("School yard"));
    await question.waitFor();
    // A world switch refreshes the list. The question has to stay, or the user could not answer it.
    await fixture.simulator.request("switch", { world: "field.world" });
    await visit.byTestId("world-field").and(visit.page.locator("[data-current]")).waitFor();
    expect(await question.isVisible()).toBe(true);
    await tile.getByTestId("delete-yes").click();
    await tile.waitFor({ state: "detached" });
    const { worlds } = await fixture.simulator.request("worlds");
    expect(worlds.some((world: { name: string }) => world.name === `custom_${id}`)).toBe(false);
  });
});
