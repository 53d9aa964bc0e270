import { describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import {
  current,
  documentOf,
  dragItem,
  dragNew,
  drawLoop,
  expectKept,
  loopOn,
  newProject,
  openProject,
  saved,
  stored,
  untilDocument,
  whereIs,
} from "./build-support.ts";
import { browserFixture } from "./fixture.ts";
import { Mouse } from "./hands.ts";
import { until } from "./support.js";

describe("the world builder", () => {
  const fixture = browserFixture("--world", "oval");

  it("lists projects, makes one and opens it", async () => {
    const visit = await fixture.open({ path: "/build", skipReady: true });
    const id = await newProject(fixture.simulator, { from: "world", world: "oval" });
    await visit.page.reload();
    await visit.page.getByText("Oval").first().waitFor();
    await visit.page.goto(`${fixture.simulator.origin}/sim/build?project=${id}`);
    await current(visit);
    expect(new URL(visit.page.url()).pathname).toBe("/build");
    expect(await visit.page.title()).toContain("Oval");
  });

  for (const [width, height] of [
    [1280, 720],
    [820, 1180],
  ]) {
    it(`draws a loop with objects by mouse, saves it and shows it again, at ${width}×${height}`, async () => {
      const id = await newProject(fixture.simulator);
      const visit = await openProject(fixture, id, { viewport: { width, height } });
      const before = await documentOf(visit);
      const points = loopOn(before.field.size);
      await drawLoop(visit, points);
      expect((await documentOf(visit)).track.nodes.map(({ x, y }) => ({ x, y }))).toEqual(points);
      expect((await current(visit)).road?.closed).toBe(true);
      // A box is dragged from the palette. A cone is added by a click, and then moved.
      const [w, h] = before.field.size;
      await dragNew(visit, "box", { x: w / 2, y: h / 2 });
      await untilDocument(visit, (document) => document.objects?.length === 1);
      await visit.byTestId("add-cone").click();
      await untilDocument(visit, (document) => document.objects?.length === 2);
      await visit.page.keyboard.press("Escape");
      await dragItem(visit, "object:cone1", { x: w / 2 + 0.6, y: h / 2 + 0.4 });
      const moved = await untilDocument(visit, (d) => Math.abs((d.objects?.[1].x ?? 0) - (w / 2 + 0.6)) < 0.06);
      expect(moved.objects?.map(({ name }) => name)).toEqual(["box1", "cone1"]);
      await expectKept(visit, fixture.simulator, id);
      const scroll = await visit.page.evaluate(() => window.document.documentElement.scrollWidth);
      expect(scroll).toBe(width);
    });
  }

  it("keeps the drawing in its place while it saves and while it cannot save", async () => {
    const { id } = await fixture.simulator.request("builder/projects", { from: "world", world: "oval" });
    for (const width of [1280, 820]) {
      const visit = await openProject(fixture, id, { viewport: { width, height: 720 }, hasTouch: true });
      visit.allowedErrors = /Failed to load resource|ERR_/;
      await visit.byTestId("world-name").fill("A name that is as long as the names of some worlds are");
      await visit.page.keyboard.press("Enter");
      await saved(visit);
      const place = () => visit.byTestId("plan").boundingBox();
      const [before, status] = [await place(), visit.byTestId("save-status")];
      let fail = () => {};
      const held = new Promise<void>((done) => (fail = done));
      await visit.page.route("**/sim/api/builder/projects/*", async (route) => {
        if (route.request().method() !== "PUT") return route.continue();
        await held;
        await route.abort();
      });
      await visit.byTestId("add-cone").click();
      await status.and(visit.page.locator("[data-status=saving]")).waitFor();
      expect(await place()).toEqual(before);
      fail();
      await status.and(visit.page.locator("[data-status=offline]")).waitFor();
      expect(await place()).toEqual(before);
      await visit.page.unrouteAll();
      await saved(visit);
    }
  });

  it("undoes and redoes every step; a drag is one step", async () => {
    const id = await newProject(fixture.simulator, { from: "world", world: "oval" });
    const visit = await openProject(fixture, id);
    const first = await documentOf(visit);
    await dragItem(visit, "object:box1", { x: 4, y: 3 });
    await untilDocument(visit, (d) => d.objects?.[1].x === 4);
    await visit.page.keyboard.press("q");
    await visit.page.keyboard.press("ArrowRight");
    await visit.page.keyboard.press("Control+d");
    const last = await untilDocument(visit, (d) => d.objects?.length === 3);
    for (let i = 0; i < 4; i++) await visit.page.keyboard.press("Control+z");
    await untilDocument(visit, (d) => d.objects?.length === 2 && d.objects[1].x === first.objects?.[1].x);
    expect(await documentOf(visit)).toEqual(first);
    expect(await visit.byTestId("undo").isDisabled()).toBe(true);
    for (let i = 0; i < 4; i++) await visit.page.keyboard.press("Control+Shift+z");
    await untilDocument(visit, (d) => d.objects?.length === 3);
    expect(await documentOf(visit)).toEqual(last);
    await saved(visit);
    expect(await stored(fixture.simulator, id)).toEqual(last);
  });

  it("builds a world with the keyboard alone", async () => {
    const id = await newProject(fixture.simulator);
    const visit = await openProject(fixture, id);
    const { page } = visit;
    const nodes = (await documentOf(visit)).track.nodes.length;
    await visit.byTestId("plan").focus();
    await page.keyboard.press("n");
    expect(await page.evaluate(() => window.__build.selection)).toEqual(["node:0"]);
    await page.keyboard.press("a");
    await untilDocument(visit, (d) => d.track.nodes.length === nodes + 1);
    await page.keyboard.press("w");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Escape");
    for (const key of ["b", "c", "s", "k", "l"]) await page.keyboard.press(key);
    const added = await untilDocument(visit, (d) => d.objects?.length === 5);
    expect(added.objects?.map(({ kind }) => kind)).toEqual(["box", "cylinder", "sphere", "cone", "light"]);
    expect(added.track.nodes[1].width).toBeGreaterThan(0.2);
    await page.keyboard.press("r");
    await page.keyboard.press("o");
    await untilDocument(visit, (d) => d.track.direction === "backward" && d.track.closed === false);
    await page.keyboard.press("Control+a");
    expect(await page.evaluate(() => window.__build.selection.length)).toBe(nodes + 6);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await visit.byTestId("help-dialog").waitFor();
    await page.keyboard.press("Escape");
    await saved(visit);
  });

  it("changes nodes, their width and the start line with handles", async () => {
    const id = await newProject(fixture.simulator, { from: "world", world: "oval" });
    const visit = await openProject(fixture, id);
    const { page } = visit;
    const before = await documentOf(visit);
    await new Mouse(visit).pressAt(await whereIs(visit, "node:11"));
    await page.waitForFunction(() => window.__build.selection[0] === "node:11");
    const handle = async (kind: string) => {
      await current(visit);
      const found = (await page.evaluate(() => window.__build.handles())).find((one) => one.kind === kind);
      if (!found) throw new Error(`there is no handle "${kind}"`);
      return found;
    };
    const width = await handle("width");
    await new Mouse(visit).drag(width, { x: width.x + 12, y: width.y });
    await untilDocument(visit, (d) => typeof d.track.nodes[11].width === "number");
    const start = await handle("start");
    await new Mouse(visit).drag(start, await whereIs(visit, "node:30"));
    await untilDocument(visit, (d) => (d.track.start ?? 0) > 5);
    const insert = await handle("insert");
    await new Mouse(visit).pressAt(insert);
    await untilDocument(visit, (d) => d.track.nodes.length === before.track.nodes.length + 1);
    await page.keyboard.press("Delete");
    const after = await untilDocument(visit, (d) => d.track.nodes.length === before.track.nodes.length);
    expect(after.track.nodes.map(({ x, y }) => [x, y])).toEqual(before.track.nodes.map(({ x, y }) => [x, y]));
  });

  it("lists the findings of the check, and goes to their place", async () => {
    const id = await newProject(fixture.simulator, { from: "world", world: "oval" });
    const visit = await openProject(fixture, id);
    expect(await visit.byTestId("finding-summary").textContent()).toBe(en.build.findings.none);
    await new Mouse(visit).pressAt(await whereIs(visit, "object:box1"));
    await visit.byTestId("item-x").fill("-3");
    await visit.page.keyboard.press("Enter");
    const row = visit.byTestId("finding").first();
    await row.waitFor();
    await visit.byTestId("plan").focus();
    await visit.page.keyboard.press("Escape");
    await row.click();
    expect(await visit.page.evaluate(() => window.__build.selection)).toEqual(["object:box1"]);
    const [at, middle] = [await whereIs(visit, "object:box1"), await visit.byTestId("plan").boundingBox()];
    expect(Math.abs(at.x - (middle?.x ?? 0) - (middle?.width ?? 0) / 2)).toBeLessThan(3);
    visit.allowedErrors = /status of 409/;
    await visit.byTestId("drive").click();
    await visit.page.getByText(en.build.hasErrors).waitFor();
  });

  it("selects several items, aligns, groups and copies them into another project", async () => {
    const [one, two] = [await newProject(fixture.simulator), await newProject(fixture.simulator)];
    const visit = await openProject(fixture, one);
    const { page } = visit;
    for (const key of ["b", "k"]) await page.keyboard.press(key);
    await page.keyboard.press("Escape");
    const [w, h] = (await documentOf(visit)).field.size;
    await page.keyboard.press("n");
    await page.keyboard.press("Escape");
    await dragItem(visit, "object:cone1", { x: w / 2 + 0.5, y: h / 2 + 0.3 });
    await untilDocument(visit, (d) => d.objects?.[1].x !== d.objects?.[0].x);
    await page.keyboard.down("Shift");
    await new Mouse(visit).pressAt(await whereIs(visit, "object:box1"));
    await page.keyboard.up("Shift");
    await visit.byTestId("align-middle").click();
    const aligned = await untilDocument(visit, (d) => Math.abs((d.objects?.[0].y ?? 0) - (d.objects?.[1].y ?? 9)) < 0.01);
    expect(aligned.objects?.[0].x).not.toBe(aligned.objects?.[1].x);
    await visit.byTestId("group").click();
    await visit.byTestId("plan").focus();
    await page.keyboard.press("Escape");
    await new Mouse(visit).pressAt(await whereIs(visit, "object:box1"));
    await page.waitForFunction(() => window.__build.selection.length === 2);
    // The group is part of the project, so another browser has it too.
    await saved(visit);
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await current(visit);
    // When the facts of the preview are shown, the drawing is fitted again, and the cone moves on
    // the page. So the click is repeated until the group is selected.
    await until(
      async () => {
        await new Mouse(visit).pressAt(await whereIs(visit, "object:cone1"));
        return page.evaluate(() => window.__build.selection.length);
      },
      (selected) => selected === 2,
    );
    await page.keyboard.press("Control+c");
    await page.getByText(en.build.copied(2)).waitFor();
    await page.goto(`${fixture.simulator.origin}/build?project=${two}`);
    await current(visit);
    await visit.byTestId("plan").focus();
    await page.keyboard.press("Control+v");
    const pasted = await untilDocument(visit, (d) => d.objects?.length === 2);
    // The order of the copies depends on the order of the selection, so the names are sorted.
    const places = ({ objects }: typeof pasted) => objects?.map(({ name, x, y }) => [name, x, y]).sort();
    expect(places(pasted)).toEqual(places(aligned));
  });

  it("moves the groups that an older version kept in the browser into the project, and undoes a group", async () => {
    const document = await stored(fixture.simulator, await newProject(fixture.simulator));
    document.objects = ["a", "b"].map((name, i) => ({ kind: "cone", name, x: 3 + i, y: 3 }));
    const id = await newProject(fixture.simulator, { from: "document", document });
    const kept = `chicane.build.groups.${id}`;
    const visit = await openProject(fixture, id, {
      prepare: async (page) => {
        await page.addInitScript((key) => localStorage.setItem(key, '[["a", "b"], ["a", "gone"]]'), kept);
      },
    });
    const grouped = await untilDocument(visit, ({ objects }) => Boolean(objects?.[0].group));
    expect(grouped.objects?.[1].group).toBe(grouped.objects?.[0].group);
    expect(await visit.page.evaluate((key) => localStorage.getItem(key), kept)).toBeNull();
    await saved(visit);
    expect((await stored(fixture.simulator, id)).objects?.[0].group).toBe(grouped.objects?.[0].group);
    await visit.byTestId("plan").focus();
    await visit.page.keyboard.press("Control+z");
    await untilDocument(visit, ({ objects }) => !objects?.some(({ group }) => group));
  });

  it("shows the same world in 3D, and changes the field in the inspector", async () => {
    const id = await newProject(fixture.simulator, { from: "world", world: "oval" });
    const visit = await openProject(fixture, id);
    await visit.byTestId("view-split").click();
    await visit.page.waitForFunction(() => window.__build.frames.solid > 0, null, { timeout: 60_000 });
    const frames = await visit.page.evaluate(() => window.__build.frames.solid);
    await visit.byTestId("ground").selectOption("grass");
    await visit.byTestId("field-width").fill("9");
    await visit.page.keyboard.press("Enter");
    await visit.byTestId("fence").evaluate((input: HTMLInputElement) => input.click());
    await untilDocument(visit, (d) => d.field.size[0] === 9 && d.field.ground === "grass" && !d.fence);
    await visit.page.waitForFunction((before) => window.__build.frames.solid > before, frames, { timeout: 60_000 });
    await visit.byTestId("view-solid").click();
    expect(await visit.byTestId("plan").isVisible()).toBe(false);
    await saved(visit);
    expect((await stored(fixture.simulator, id)).field.ground).toBe("grass");
  });

  it("is driven in the simulator, pushes changes into it, and is edited again", async () => {
    const id = await newProject(fixture.simulator, { from: "world", world: "oval" });
    const visit = await openProject(fixture, id);
    await visit.page.keyboard.press("k");
    await untilDocument(visit, (d) => d.objects?.length === 3);
    await visit.byTestId("drive").click();
    await visit.page.waitForURL((url) => url.pathname === "/sim", { timeout: 60_000 });
    await visit.ready();
    await until(
      () => visit.page.evaluate(() => window.__chicane.pose("cone1") !== null),
      (isThere) => isThere,
    );
    await visit.byTestId("back-to-editing").click();
    await current(visit);
    await visit.page.keyboard.press("s");
    await untilDocument(visit, (d) => d.objects?.length === 4);
    await visit.byTestId("push").click();
    await visit.page.getByText(en.build.pushed).waitFor({ timeout: 60_000 });
    await until(
      async () => Object.keys((await fixture.simulator.request("state")).objects),
      (names) => names.includes("sphere1"),
    );
    await fixture.simulator.request("switch", { world: "oval.world" });
  });

  it("says that a project does not exist", async () => {
    const visit = await fixture.open({ path: "/build?project=ffffffffffffffff", skipReady: true });
    visit.allowedErrors = /status of 404/;
    await visit.page.getByText(en.build.missing).waitFor();
    await visit.page.goto(`${fixture.simulator.origin}/build?project=%3Cb%3E`);
    await visit.page.getByText(en.build.badAddress).waitFor();
  });
});
