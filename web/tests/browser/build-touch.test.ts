import type { CDPSession } from "playwright-core";
import { describe, expect, it } from "vitest";
import {
  current,
  documentOf,
  drawLoop,
  loopOn,
  newProject,
  onPage,
  openProject,
  saved,
  stored,
  untilDocument,
  whereIs,
} from "./build-support.ts";
import { browserFixture } from "./fixture.ts";
import type { Visit } from "./support.js";

type Point = { x: number; y: number };

const TABLET = { viewport: { width: 820, height: 1180 }, hasTouch: true };

/** Fingers on the screen. The browser makes pointer events from the touches. */
class Fingers {
  constructor(readonly session: CDPSession) {}

  static async of(visit: Visit): Promise<Fingers> {
    return new Fingers(await visit.context.newCDPSession(visit.page));
  }

  async #send(type: "touchStart" | "touchMove" | "touchEnd", points: readonly Point[]): Promise<void> {
    const touchPoints = points.map(({ x, y }, id) => ({ x, y, id }));
    await this.session.send("Input.dispatchTouchEvent", { type, touchPoints });
  }

  /** Moves fingers, each from its first to its second position. */
  async drag(...ways: (readonly [Point, Point])[]): Promise<void> {
    await this.#send("touchStart", ways.map(([from]) => from));
    for (const part of [0.25, 0.5, 0.75, 1]) {
      const between = ([a, b]: readonly [Point, Point]) => ({ x: a.x + part * (b.x - a.x), y: a.y + part * (b.y - a.y) });
      await this.#send("touchMove", ways.map(between));
    }
    await this.#send("touchEnd", []);
  }
}

describe("the world builder on a tablet", () => {
  const fixture = browserFixture("--world", "oval");

  it("draws a loop with objects by touch, saves it and shows it again", async () => {
    const id = await newProject(fixture.simulator);
    const visit = await openProject(fixture, id, TABLET);
    const fingers = await Fingers.of(visit);
    const { size } = (await documentOf(visit)).field;
    const points = loopOn(size);
    await drawLoop(visit, points, ({ x, y }) => visit.page.touchscreen.tap(x, y));
    expect((await current(visit)).road?.closed).toBe(true);
    await visit.byTestId("add-light").tap();
    await untilDocument(visit, (d) => d.objects?.length === 1);
    const to = { x: size[0] / 2 + 0.5, y: size[1] / 2 };
    await fingers.drag([await whereIs(visit, "object:light1"), await onPage(visit, to)]);
    await untilDocument(visit, (d) => Math.abs((d.objects?.[0].x ?? 0) - to.x) < 0.11);
    const palette = await visit.byTestId("add-box").boundingBox();
    const box = { x: (palette?.x ?? 0) + 20, y: (palette?.y ?? 0) + 20 };
    await fingers.drag([box, await onPage(visit, { x: size[0] / 2, y: size[1] / 2 - 0.5 })]);
    await untilDocument(visit, (d) => d.objects?.length === 2);
    await saved(visit);
    const document = await documentOf(visit);
    expect(await stored(fixture.simulator, id)).toEqual(document);
    await visit.page.reload();
    await current(visit);
    expect(await documentOf(visit)).toEqual(document);
  });

  it("moves the view with one finger and zooms with two", async () => {
    const id = await newProject(fixture.simulator, { from: "world", world: "oval" });
    const visit = await openProject(fixture, id, TABLET);
    const fingers = await Fingers.of(visit);
    const before = await documentOf(visit);
    const corner = await onPage(visit, { x: 0, y: 6 });
    const middle = await onPage(visit, { x: 4, y: 3.1 });
    await fingers.drag([middle, { x: middle.x + 60, y: middle.y + 40 }]);
    await visit.page.waitForFunction(
      (from) => Math.abs(window.__build.at({ x: 0, y: 6 }).x - from.x) > 30,
      corner,
    );
    const scale = await visit.page.evaluate(() => window.__build.scale);
    await fingers.drag(
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
