import { describe, expect, it } from "vitest";
import {
  current,
  documentOf,
  dragItem,
  dragNew,
  drawLoop,
  expectKept,
  loopOn,
  newProject,
  onPage,
  openProject,
  untilDocument,
} from "./build-support.ts";
import { browserFixture } from "./fixture.ts";
import { Fingers, TABLET } from "./hands.ts";

describe("the world builder on a tablet", () => {
  const fixture = browserFixture("--world", "oval");

  it("draws a loop with objects by touch, saves it and shows it again", async () => {
    const id = await newProject(fixture.simulator);
    const visit = await openProject(fixture, id, TABLET);
    const fingers = await Fingers.of(visit);
    const { size } = (await documentOf(visit)).field;
    const points = loopOn(size);
    await drawLoop(visit, points, fingers);
    expect((await current(visit)).road?.closed).toBe(true);
    await visit.byTestId("add-light").tap();
    await untilDocument(visit, (d) => d.objects?.length === 1);
    const to = { x: size[0] / 2 + 0.5, y: size[1] / 2 };
    await dragItem(visit, "object:light1", to, fingers);
    await untilDocument(visit, (d) => Math.abs((d.objects?.[0].x ?? 0) - to.x) < 0.11);
    // The browser must not ignore the tap that follows a fast drag (`fling.ts`). Without
    // `preventFling`, it ignores about every third tap.
    for (let i = 0; i < 6; i++) {
      await dragNew(visit, "box", { x: size[0] / 2, y: size[1] / 2 - 0.5 }, fingers);
      await untilDocument(visit, (d) => d.objects?.length === 2);
      await visit.byTestId("undo").tap();
      await untilDocument(visit, (d) => d.objects?.length === 1);
    }
    await visit.byTestId("redo").tap();
    await untilDocument(visit, (d) => d.objects?.length === 2);
    await expectKept(visit, fixture.simulator, id);
  });

  it("moves the view with one finger and zooms with two", async () => {
    const id = await newProject(fixture.simulator, { from: "world", world: "oval" });
    const visit = await openProject(fixture, id, TABLET);
    const fingers = await Fingers.of(visit);
    const before = await documentOf(visit);
    const corner = await onPage(visit, { x: 0, y: 6 });
    const middle = await onPage(visit, { x: 4, y: 3.1 });
    await fingers.drag(middle, { x: middle.x + 60, y: middle.y + 40 });
    await visit.page.waitForFunction(
      (from) => Math.abs(window.__build.at({ x: 0, y: 6 }).x - from.x) > 30,
      corner,
    );
    const scale = await visit.page.evaluate(() => window.__build.scale);
    await fingers.dragAll(
      [middle, { x: middle.x - 60, y: middle.y }],
      [
        { x: middle.x + 40, y: middle.y },
        { x: middle.x + 120, y: middle.y },
      ],
    );
    await visit.page.waitForFunction((before) => window.__build.scale > 1.5 * before, scale);
    expect(await documentOf(visit)).toEqual(before);
  });
});
