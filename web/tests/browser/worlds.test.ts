import { describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { records } from "./fake-events.js";
import { browserFixture } from "./fixture.ts";
import { until } from "./support.js";

const ID = "0123456789abcdef0123456789abcdef";
/** Time in which a deletion can be undone (`UNDO_MS` in `delayed-deletion.ts`). */
const UNDO_MS = 6000;

/**
 * The errors of a page that requests the picture or the route of an installed world at the moment
 * of the deletion of the world.
 */
function filesOf(id: string): RegExp {
  return new RegExp(`status of 404 .*/worlds/custom_${id}/(thumbnail\\.png|waypoints\\.npy)`);
}

/** `window` of a page whose timers of one duration are held. */
interface HeldTimers {
  /** Ends the held timers that were not cancelled, and returns their number. */
  endTimers(): number;
}

/** Runs in the page: timers of this duration end only when `endTimers` is called. */
function holdTimers(duration: number): void {
  const held = new Map<number, () => void>();
  const { setTimeout, clearTimeout } = window;
  window.setTimeout = ((action: () => void, ms?: number, ...rest: unknown[]) => {
    if (ms !== duration) return setTimeout(action, ms, ...rest);
    // A timer that does nothing, for its number.
    const timer = setTimeout(() => {});
    held.set(timer, action);
    return timer;
  }) as typeof window.setTimeout;
  window.clearTimeout = (timer) => {
    held.delete(timer as number);
    clearTimeout(timer);
  };
  (window as unknown as HeldTimers).endTimers = () => {
    const actions = [...held.values()];
    held.clear();
    for (const action of actions) action();
    return actions.length;
  };
}

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

  it("are published, installed by id with progress, opened, and deleted unless the deletion is undone", async () => {
    const printed = await fixture.simulator.command("publish", "examples/projects/everything.json", "--name", "School yard");
    const id = /[0-9a-f]{32}/.exec(printed)?.[0] ?? "";
    let finish = () => {};
    const finished = new Promise<void>((done) => (finish = done));
    const visit = await fixture.open({
      path: `/sim?world=${id}`,
      prepare: async (page) => {
        // Delay the request until the test has seen the progress bar.
        await page.route("**/sim/api/worlds/install", async (route) => {
          await finished;
          await route.continue();
        });
        // The deletion must not be sent before the test has seen the button that undoes it.
        await page.addInitScript(holdTimers, UNDO_MS);
      },
    });
    visit.allowedErrors = filesOf(id);
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
    const deletions: string[] = [];
    visit.page.on("request", (request) => {
      if (request.method() === "DELETE") deletions.push(request.url());
    });
    const isListed = async () => {
      const { worlds } = await fixture.simulator.request("worlds");
      return worlds.some((world: { name: string }) => world.name === `custom_${id}`);
    };
    await visit.byTestId("worlds").click();
    await tile.getByTestId("delete").click();
    await visit.page.getByText(en.worldFacts.deleting("School yard")).waitFor();
    // The button that undoes the deletion has the focus, so pressing Enter is sufficient.
    await visit.page.keyboard.press("Enter");
    await tile.getByTestId("delete").waitFor();
    expect(await isListed()).toBe(true);
    await tile.getByTestId("delete").click();
    // A world switch refreshes the list. The undo button must remain.
    await fixture.simulator.request("switch", { world: "field.world" });
    await visit.byTestId("world-field").and(visit.page.locator("[data-current]")).waitFor();
    expect(await tile.getByTestId("undo-delete").isVisible()).toBe(true);
    expect(await visit.page.evaluate(() => (window as unknown as HeldTimers).endTimers())).toBe(1);
    await tile.waitFor({ state: "detached" });
    // If the undone deletion had been sent, it would have been sent before this one.
    expect(deletions).toHaveLength(1);
    expect(await isListed()).toBe(false);
  });

  it("that wait for their deletion are deleted when the page is closed", async () => {
    const printed = await fixture.simulator.command("publish", "examples/projects/loop.json", "--name", "Back yard");
    const id = /[0-9a-f]{32}/.exec(printed)?.[0] ?? "";
    await fixture.simulator.request("worlds/install", { world_id: id });
    const visit = await fixture.open();
    visit.allowedErrors = filesOf(id);
    await visit.byTestId("worlds").click();
    const tile = visit.byTestId(`world-custom_${id}`);
    await tile.getByTestId("delete").click();
    await tile.getByTestId("undo-delete").waitFor();
    await visit.page.goto("about:blank");
    await until(
      () => fixture.simulator.request("worlds"),
      ({ worlds }) => worlds.every((world: { name: string }) => world.name !== `custom_${id}`),
    );
  });

  it("show length and difficulty of their road and the best record, and are found by a search", async () => {
    const best = { ...records()[0], world: "technical" };
    const visit = await fixture.open({
      prepare: async (page) => {
        await page.route("**/sim/api/evaluation/records?world=technical&*", (route) =>
          route.fulfill({ json: { records: records() } }),
        );
        // The record increases like the clock, so its unit is seconds.
        await page.route("**/sim/api/evaluation/record?session=*", (route) =>
          route.fulfill({
            json: { ...best, events: [1, 2, 3, 4].map((time) => ({ kind: "record", time, record: time })) },
          }),
        );
      },
    });
    await visit.byTestId("worlds").click();
    const facts = async (name: string) => {
      const line = visit.byTestId(`world-${name}`).getByTestId("world-facts");
      await line.scrollIntoViewIfNeeded();
      await line.and(visit.page.locator("[data-loaded]")).waitFor();
      return line.textContent();
    };
    const { easy, hard } = en.worldFacts.difficulties;
    const technical = await facts("technical");
    expect(technical).toContain(hard);
    expect(technical).toContain(en.worldFacts.best("36.52 s"));
    const { waypoints } = (await fixture.simulator.request("world")).track.route as { waypoints: [number, number][] };
    const length = waypoints.slice(1).reduce((sum, [x, y], i) => sum + Math.hypot(x - waypoints[i][0], y - waypoints[i][1]), 0);
    const world = (await fixture.simulator.request("worlds")).current;
    expect(await facts(world)).toContain(en.worldFacts.length(length.toFixed(1)));
    expect(await facts("oval")).toContain(easy);
    expect(await facts("oval")).not.toContain(en.worldFacts.best(""));
    // The search field is above the list, and the form for published worlds is above the search
    // field.
    const top = async (id: string) => (await visit.byTestId(id).boundingBox())?.y ?? 0;
    await visit.byTestId("install-id").scrollIntoViewIfNeeded();
    expect(await top("install-id")).toBeLessThan(await top("world-search"));
    expect(await top("world-search")).toBeLessThan(await top("world-field"));
    await visit.byTestId("world-search").fill("TECH");
    await visit.byTestId("world-oval").waitFor({ state: "hidden" });
    expect(await visit.byTestId("world-technical").isVisible()).toBe(true);
    await visit.byTestId("world-search").fill("no such world");
    await visit.page.getByText(en.worldFacts.noMatch("no such world")).waitFor();
    await visit.byTestId("world-search").fill("");
    await visit.byTestId("world-oval").waitFor();
  });

  it("report an error over the dialog and whole, however long it is", async () => {
    const text = `the world can't be loaded: ${"a very long reason, ".repeat(20)}`;
    const visit = await fixture.open({
      prepare: (page) =>
        page.route("**/sim/api/switch", (route) => route.fulfill({ status: 422, json: { error: text } })).then(() => {}),
    });
    visit.allowedErrors = /422/;
    await visit.byTestId("worlds").click();
    await visit.byTestId("open-slalom").click();
    const toast = visit.byTestId("toast").first();
    await toast.waitFor();
    expect(await toast.textContent()).toBe(text);
    const isWhole = await toast.evaluate((element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      // A modal dialog covers everything outside it.
      const isOnTop = element.closest("dialog[open]") !== null;
      const isInPage = x >= 0 && y >= 0 && x + width <= innerWidth && y + height <= innerHeight;
      return { isOnTop, isInPage, isUncut: element.scrollHeight <= element.clientHeight && element.scrollWidth <= element.clientWidth };
    });
    expect(isWhole).toEqual({ isOnTop: true, isInPage: true, isUncut: true });
  });
});
