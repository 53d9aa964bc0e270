/**
 * From an empty project to a published, installed and judged world, using only the pages. The
 * judged program drives one lap, so the judge has to be set up (`chicane setup`).
 */
import path from "node:path";
import type { BrowserContextOptions, Locator } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import {
  current,
  documentOf,
  dragItem,
  dragNew,
  drawLoop,
  loopOn,
  saved,
  stored,
  untilDocument,
  whereIs,
} from "./build-support.ts";
import { browserFixture, MOTION } from "./fixture.ts";
import { Fingers, type Hand, Mouse, TABLET } from "./hands.ts";
import { until, type Visit } from "./support.js";

const REPOSITORY = path.resolve(import.meta.dirname, "../../..");
const LAP = "env PYTHONPATH=python/src python3 examples/lap_by_route.py";
/** A folder for screenshots of every step, for visual review. */
const SHOTS = process.env["CHICANE_SHOTS"];

const WAYS: readonly [name: string, options: BrowserContextOptions, handOf: (visit: Visit) => Promise<Hand>][] = [
  ["mouse-1280x720", { ...MOTION, viewport: { width: 1280, height: 720 } }, async (visit) => new Mouse(visit)],
  ["mouse-820x1180", { viewport: { width: 820, height: 1180 } }, async (visit) => new Mouse(visit)],
  ["touch-820x1180", TABLET, (visit) => Fingers.of(visit)],
  ["touch-1280x720", { viewport: { width: 1280, height: 720 }, hasTouch: true }, (visit) => Fingers.of(visit)],
];

/**
 * Replaces the text of a field with key presses, as a physical or an on-screen keyboard sends them.
 */
async function enter(visit: Visit, hand: Hand, field: Locator, text: string): Promise<void> {
  await hand.press(field);
  const { length } = await field.inputValue();
  for (let i = 0; i < length; i++) for (const key of ["Backspace", "Delete"]) await visit.page.keyboard.press(key);
  await visit.page.keyboard.type(text);
}

describe("from an empty project to a judged world", () => {
  const fixture = browserFixture("--world", "oval", "--workspace", REPOSITORY);

  for (const [name, options, handOf] of WAYS) {
    it(`by ${name}`, { timeout: 900_000 }, async () => {
      const scale = SHOTS ? { deviceScaleFactor: 1 } : {};
      const visit = await fixture.open({ path: "/build", skipReady: true, ...scale, ...options });
      const { page } = visit;
      const hand = await handOf(visit);
      const press = (testid: string) => hand.press(visit.byTestId(testid));
      let step = 0;
      const look = async (what: string) => {
        if (SHOTS) await page.screenshot({ path: path.join(SHOTS, `${name}-${++step}-${what}.png`), timeout: 60_000 });
      };

      await press("new");
      await enter(visit, hand, visit.byTestId("new-title"), `Yard ${name}`);
      await look("new");
      await press("new-create");
      await page.waitForURL(/project=[0-9a-f]{16}/);
      const id = /project=(\w+)/.exec(page.url())?.[1] ?? "";
      await current(visit);
      await look("empty");

      const { size } = (await documentOf(visit)).field;
      const middle = { x: size[0] / 2, y: size[1] / 2 };
      await drawLoop(visit, loopOn(size), hand);
      expect((await current(visit)).road?.closed).toBe(true);
      await dragNew(visit, "box", middle, hand);
      await untilDocument(visit, (d) => d.objects?.length === 1);
      await press("add-cone");
      await untilDocument(visit, (d) => d.objects?.length === 2);
      await dragItem(visit, "object:cone1", { x: middle.x + 0.8, y: middle.y + 0.4 }, hand);
      await untilDocument(visit, (d) => Math.abs((d.objects?.[1].x ?? 0) - middle.x - 0.8) < 0.11);
      await press("undo");
      await untilDocument(visit, (d) => Math.abs((d.objects?.[1].x ?? 0) - middle.x - 0.8) > 0.11);
      await press("redo");
      await hand.pressAt(await whereIs(visit, "object:box1"));
      await enter(visit, hand, visit.byTestId("object-name"), "crate");
      await page.keyboard.press("Enter");
      await untilDocument(visit, (d) => d.objects?.[0].name === "crate");
      await look("drawn");
      expect(await visit.byTestId("finding-summary").textContent()).toBe(en.build.findings.none);

      await press("tab-rules");
      await press("rules-add");
      await enter(visit, hand, visit.byTestId("rules-limit"), "90");
      await page.keyboard.press("Tab");
      await untilDocument(visit, (d) => d.evaluation?.config.time_limit_s === 90);
      await look("rules");
      await press("tab-draw");
      await saved(visit);
      expect(await stored(fixture.simulator, id)).toEqual(await documentOf(visit));

      await press("publish");
      await look("publish");
      await press("publish-send");
      await visit.byTestId("publish-qr").waitFor({ timeout: 60_000 });
      await look("published");
      const link = await visit.byTestId("publish-link").inputValue();
      const world = `custom_${await visit.byTestId("publish-id").inputValue()}`;

      await page.goto(link);
      await visit.ready();
      // The page fills in the id when it has the list of worlds.
      await until(
        () => visit.byTestId("install-id").inputValue(),
        (id) => id !== "",
      );
      await press("install");
      await visit.byTestId(`world-${world}`).waitFor({ timeout: 60_000 });
      await look("installed");
      await press(`open-${world}`);
      await until(
        () => page.evaluate(() => window.__chicane.ready && window.__chicane.world),
        (shown) => shown === world,
      );
      expect(await page.evaluate(() => window.__chicane.pose("crate") !== null)).toBe(true);

      await press("flag");
      await enter(visit, hand, visit.byTestId("eval-command"), LAP);
      await look("evaluation");
      await press("eval-start");
      await visit.byTestId("result-card").waitFor({ timeout: 180_000 });
      await look("judged");
      expect(await visit.byTestId("result-outcome").textContent()).toBe(en.evaluation.outcomes.finished);
      const [record] = (await fixture.simulator.request("evaluation/records")).records;
      expect(record).toMatchObject({ world, outcome: "finished" });
      expect(record.record).toBeGreaterThan(5);
      await fixture.simulator.request("switch", { world: "oval.world" });
    });
  }
});
