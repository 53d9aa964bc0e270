import { describe, expect, it } from "vitest";
import { current, documentOf, dragItem, newProject, openProject, saved, stored, untilDocument } from "./build-support.ts";
import { browserFixture } from "./fixture.ts";
import { until } from "./support.js";

describe("two editors of one project", () => {
  const fixture = browserFixture("--world", "oval");

  it("see the changes of each other, and keep both", async () => {
    const id = await newProject(fixture.simulator, { from: "world", world: "oval" });
    const [one, two] = [await openProject(fixture, id), await openProject(fixture, id)];
    one.allowedErrors = two.allowedErrors = /status of 409/;
    await until(
      () => one.byTestId("editors").isVisible(),
      (shown) => shown,
    );
    await dragItem(one, "object:box1", { x: 4, y: 3 });
    await untilDocument(two, (d) => d.objects?.[1].x === 4);
    // Both pages change the project at the same time: one moves an object, the other one adds two
    // objects.
    await Promise.all([
      dragItem(one, "object:box1", { x: 3, y: 2.5 }),
      (async () => {
        await two.page.keyboard.press("k");
        await two.page.keyboard.press("b");
      })(),
    ]);
    for (const visit of [one, two]) {
      await untilDocument(visit, (d) => d.objects?.length === 4 && d.objects.some(({ name, x }) => name === "box1" && x === 3));
      await saved(visit);
    }
    expect(await documentOf(one)).toEqual(await documentOf(two));
    expect(await stored(fixture.simulator, id)).toEqual(await documentOf(one));
    // Undo reverts only the step of this editor.
    await one.page.keyboard.press("Control+z");
    const undone = await untilDocument(two, (d) => d.objects?.some(({ name, x }) => name === "box1" && x === 4) ?? false);
    expect(undone.objects).toHaveLength(4);
  });

  it("lose nothing that was saved when the server is killed, and reconnect", async () => {
    const id = await newProject(fixture.simulator);
    const visits = [await openProject(fixture, id), await openProject(fixture, id)];
    for (const visit of visits) visit.allowedErrors = /status of 409|Failed to load resource|ERR_|EventSource/;
    const [one, two] = visits;
    await Promise.all([one.page.keyboard.press("k"), two.page.keyboard.press("b")]);
    for (const visit of visits) {
      await untilDocument(visit, (d) => d.objects?.length === 2);
      await saved(visit);
    }
    const acknowledged = await stored(fixture.simulator, id);
    // Both editors add objects while the server is killed.
    const drawing = Promise.all(
      visits.map(async (visit, i) => {
        for (const key of i === 0 ? ["s", "c", "l"] : ["k", "b", "k"]) await visit.page.keyboard.press(key);
      }),
    );
    await fixture.simulator.stop("SIGKILL");
    await drawing;
    await one.page.keyboard.press("l");
    await until(
      () => one.byTestId("save-status").getAttribute("data-status"),
      (status) => status === "offline",
    );
    await fixture.simulator.start();
    for (const visit of visits) {
      await untilDocument(visit, (d) => d.objects?.length === 9);
      await saved(visit);
    }
    const after = await stored(fixture.simulator, id);
    const names = after.objects?.map(({ name }) => name) ?? [];
    expect(new Set(names).size).toBe(9);
    for (const { name } of acknowledged.objects ?? []) expect(names).toContain(name);
    for (const visit of visits) expect(await documentOf(visit)).toEqual(after);
  });

  it("keeps changes of a closed page that it could not send", async () => {
    const id = await newProject(fixture.simulator);
    const visit = await openProject(fixture, id);
    visit.allowedErrors = /Failed to load resource|ERR_|EventSource/;
    await visit.page.route("**/sim/api/builder/projects/*", (route) =>
      route.request().method() === "PUT" ? route.abort() : route.continue(),
    );
    await visit.page.keyboard.press("k");
    await until(
      () => visit.byTestId("save-status").getAttribute("data-status"),
      (status) => status === "offline",
    );
    expect((await stored(fixture.simulator, id)).objects ?? []).toHaveLength(0);
    await visit.page.unrouteAll();
    await visit.page.reload();
    await current(visit);
    await untilDocument(visit, (d) => d.objects?.length === 1);
    await saved(visit);
    expect((await stored(fixture.simulator, id)).objects).toHaveLength(1);
  });
});
