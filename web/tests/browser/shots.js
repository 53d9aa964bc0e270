// @ts-check
/**
 * Takes screenshots of the page in its main states, for visual review.
 *
 *     node web/tests/browser/shots.js target/shots
 */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { browser, Simulator, Visit } from "./support.js";
import {
  captureEventStream,
  CRASHED,
  DISTURBED,
  emitCrash,
  emitFailedEnd,
  emitRunEnd,
  emitRunStart,
  records,
  setRecord,
} from "./fake-events.js";
import { CRASH, RUN, serveRuns } from "./fake-run.js";

const folder = path.resolve(process.argv[2] ?? "target/shots");
const SIZES = /** @type {const} */ ([
  ["laptop", { viewport: { width: 1280, height: 720 }, colorScheme: "dark" }],
  [
    "phone",
    {
      viewport: { width: 390, height: 844 },
      colorScheme: "light",
      hasTouch: true,
      isMobile: true,
      deviceScaleFactor: 2,
    },
  ],
]);

/** Waits until the page has stopped changing. @param {Visit} visit */
async function settled(visit) {
  await visit.still();
  await visit.page.waitForFunction(() => window.__chicane.staged, null, { timeout: 120_000 });
  // A change is visible after two animation frames.
  await visit.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await visit.page.waitForTimeout(700);
}

/** Takes screenshots of the world builder: the list, both views, a selection and the rules. */
async function builderShots() {
  const { id } = await simulator.request("builder/projects", { from: "world", world: "town" });
  const tablet = /** @type {const} */ (["tablet", { viewport: { width: 820, height: 1180 }, colorScheme: "light", hasTouch: true }]);
  for (const [name, options] of [...SIZES, tablet]) {
    const visit = await Visit.open(running, `${simulator.origin}/build?project=${id}&quality=high`, options);
    const shot = async (/** @type {string} */ what) => {
      await visit.page.waitForFunction(() => window.__build?.isCurrent && window.__build.preview !== null);
      await visit.page.waitForTimeout(700);
      await visit.page.screenshot({ path: path.join(folder, `build-${what}-${name}.png`), timeout: 120_000 });
    };
    await shot("plan");
    for (let i = 0; i < 4; i++) await visit.page.keyboard.press("Shift+N");
    await shot("selection");
    await visit.page.keyboard.press("2");
    await shot("split");
    await visit.page.keyboard.press("3");
    await shot("solid");
    await visit.page.keyboard.press("1");
    await visit.byTestId("tab-rules").click();
    await shot("rules");
    await visit.page.goto(`${simulator.origin}/build`);
    await visit.page.waitForTimeout(1500);
    await visit.page.screenshot({ path: path.join(folder, `build-list-${name}.png`), timeout: 120_000 });
    await visit.close();
  }
}

await mkdir(folder, { recursive: true });
const simulator = await Simulator.start("--world", "technical");
const running = await browser();
try {
  for (const [name, options] of SIZES) {
    // The page uses high quality, as it would on a machine with a graphics card. The simulation is
    // paused, because software rendering is too slow to draw every state.
    await simulator.request("clock", { paused: true });
    const visit = await Visit.open(running, `${simulator.address}?quality=high`, {
      ...options,
      prepare: async (page) => {
        await captureEventStream(page);
        await page.route("**/sim/api/evaluation/records?*", (route) => route.fulfill({ json: { records: records() } }));
      },
    });
    await visit.ready();
    const shot = async (/** @type {string} */ what) => {
      await settled(visit);
      await visit.page.screenshot({ path: path.join(folder, `${what}-${name}.png`), timeout: 120_000 });
    };
    await shot("first-open");
    await visit.click("box1");
    await shot("selected");
    await visit.page.keyboard.press("Escape");
    await visit.click("signal1");
    await simulator.request("traffic_lights/signal1", { state: "red" });
    await shot("light");
    await visit.page.keyboard.press("Escape");
    await visit.byTestId("flag").click();
    await visit.byTestId("eval-command").fill("python3 run.py");
    await shot("form");
    await emitRunStart(visit.page);
    await visit.page.evaluate(() => (document.body.dataset["evaluating"] = "true"));
    await shot("evaluation");
    await emitRunEnd(visit.page);
    await visit.byTestId("history").locator("summary").first().click();
    await visit.byTestId("result-card").evaluate((card) => card.scrollIntoView({ block: "center" }));
    await shot("result");
    await setRecord(visit.page, { ...CRASHED, ...DISTURBED });
    await emitRunStart(visit.page);
    await emitCrash(visit.page);
    await shot("crash");
    await emitFailedEnd(visit.page);
    await visit.byTestId("result-badges").getByTestId("interference").click();
    await shot("failed");
    await visit.page.keyboard.press("Escape");
    await visit.page.locator(".records .failure").first().evaluate((line) => line.scrollIntoView({ block: "center" }));
    await shot("records");
    await visit.page.keyboard.press("f");
    await visit.byTestId("worlds").click();
    await visit.page.waitForFunction(
      () =>
        [...document.querySelectorAll("dialog img")].every(
          (img) => /** @type {HTMLImageElement} */ (img).naturalWidth > 0,
        ) && document.querySelectorAll("dialog img").length > 0,
    );
    await shot("worlds");
    await visit.page.keyboard.press("Escape");
    await visit.page.keyboard.press("2");
    await visit.page.keyboard.press("4");
    await visit.page.keyboard.press("i");
    await visit.page.keyboard.press("l");
    await visit.page.keyboard.press("t");
    await simulator.request("step", { duration: 3, speed: 0.6, steering: 0.02 });
    await shot("chase");
    await visit.close();
    await simulator.request("reset", {});
    const world = await simulator.request("world");
    for (const [what, address, key] of /** @type {const} */ ([
      ["replay", `replay=${RUN}&t=7`, "1"],
      ["ghost", `replay=${RUN}&t=9`, "2"],
      ["run-page", `result=${RUN}`, "1"],
      ["failed-page", `result=${CRASH}`, "1"],
    ])) {
      const run = await Visit.open(running, `${simulator.origin}/sim?quality=high&${address}`, {
        ...options,
        prepare: (page) => serveRuns(page, world),
      });
      await run.ready();
      await run.page.locator("[data-testid=replay-bar]:visible, [data-testid=run-page]:visible").first().waitFor();
      await run.page.keyboard.press(key);
      await settled(run);
      await run.page.screenshot({ path: path.join(folder, `${what}-${name}.png`), timeout: 120_000 });
      await run.close();
    }
  }
  await builderShots();
} finally {
  await running.close();
  await simulator.remove();
}
console.log(folder);
