/** Steps that the tests of the world builder share. */
import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import type { Preview } from "../../src/build/client.ts";
import type { ProjectDocument } from "../../src/build/document.ts";
import type { BrowserFixture } from "./fixture.ts";
import { Mouse, type Hand, type Point } from "./hands.ts";
import { until, type Simulator, type Visit } from "./support.js";

/** Creates a project for a test, and returns its id. */
export async function newProject(simulator: Simulator, source: object = { from: "empty" }): Promise<string> {
  const { id } = await simulator.request("builder/projects", source);
  return id as string;
}

/** The document that the server has stored. */
export async function stored(simulator: Simulator, id: string): Promise<ProjectDocument> {
  const { document } = await simulator.request(`builder/projects/${id}`);
  return document as ProjectDocument;
}

export async function openProject(
  fixture: BrowserFixture,
  id: string,
  options: BrowserContextOptions & { prepare?: (page: Page) => Promise<void> } = {},
): Promise<Visit> {
  const visit = await fixture.open({ path: `/build?project=${id}`, skipReady: true, ...options });
  await current(visit);
  return visit;
}

/**
 * Waits until the server has answered for the shown document, and returns the preview. The facts
 * of a preview take space from the drawing, so the function also waits until the drawing was fitted
 * again.
 */
export async function current(visit: Visit): Promise<Preview> {
  await visit.page.waitForFunction(() => window.__build?.isCurrent && window.__build.preview !== null, null, {
    timeout: 60_000,
  });
  await visit.page.evaluate(
    () => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
  );
  return visit.page.evaluate(() => window.__build.preview as Preview);
}

export function documentOf(visit: Visit): Promise<ProjectDocument> {
  return visit.page.evaluate(() => window.__build.document);
}

/** Waits until the page shows that everything is saved. */
export async function saved(visit: Visit): Promise<void> {
  await until(
    () => visit.byTestId("save-status").getAttribute("data-status"),
    (status) => status === "saved",
    60_000,
  );
}

/** Waits until the shown document satisfies a condition. */
export async function untilDocument(visit: Visit, accept: (document: ProjectDocument) => boolean): Promise<ProjectDocument> {
  return until(() => documentOf(visit), accept, 60_000);
}

/** Waits for the save. Checks that the server and the reloaded page have the shown document. */
export async function expectKept(visit: Visit, simulator: Simulator, id: string): Promise<void> {
  await saved(visit);
  const document = await documentOf(visit);
  expect(await stored(simulator, id)).toEqual(document);
  await visit.page.reload();
  await current(visit);
  expect(await documentOf(visit)).toEqual(document);
}

/** Position on the page of a point of the field. */
export function onPage(visit: Visit, point: Point): Promise<Point> {
  return visit.page.evaluate((point) => window.__build.at(point), point);
}

/** Position on the page of an item. */
export async function whereIs(visit: Visit, key: string): Promise<Point> {
  const at = await visit.page.evaluate((key) => window.__build.where(key), key);
  if (!at) throw new Error(`"${key}" does not exist`);
  return at;
}

/** Drags an item to a point of the field. */
export async function dragItem(visit: Visit, key: string, to: Point, hand: Hand = new Mouse(visit)): Promise<void> {
  await hand.drag(await whereIs(visit, key), await onPage(visit, to));
}

/** Drags an object from the palette to a point of the field. */
export async function dragNew(visit: Visit, kind: string, to: Point, hand: Hand = new Mouse(visit)): Promise<void> {
  const button = await visit.byTestId(`add-${kind}`).boundingBox();
  if (!button) throw new Error(`the palette shows no "${kind}"`);
  await hand.drag({ x: button.x + 20, y: button.y + 20 }, await onPage(visit, to));
}

/** A loop that fits on the field of an empty project. */
export function loopOn([width, height]: readonly [number, number]): Point[] {
  const [x, y] = [width / 4, height / 4];
  return [
    { x, y },
    { x: 2 * x, y: 0.8 * y },
    { x: 3 * x, y },
    { x: 3 * x, y: 3 * y },
    { x: 2 * x, y: 3.2 * y },
    { x, y: 3 * y },
  ].map((point) => ({ x: Math.round(10 * point.x) / 10, y: Math.round(10 * point.y) / 10 }));
}

/** Draws a closed line with the pen tool: the points, and then the first point again. */
export async function drawLoop(visit: Visit, points: readonly Point[], hand: Hand = new Mouse(visit)): Promise<void> {
  await hand.press(visit.byTestId("tool-pen"));
  for (const point of [...points, points[0]]) await hand.pressAt(await onPage(visit, point));
  await visit.page.waitForFunction((count) => window.__build.document.track.nodes.length === count, points.length);
}
