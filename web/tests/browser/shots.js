// @ts-check
/**
 * Takes pictures of the page in every state that matters, for people to look at.
 *
 *     node web/tests/browser/shots.js target/shots
 */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { browser, Simulator, Visit } from "./support.js";
import { listening, records, tellEnd, tellRun } from "./told.js";

const folder = path.resolve(process.argv[2] ?? "target/shots");
const SIZES = /** @type {const} */ ([
  ["laptop", { viewport: { width: 1280, height: 720 }, colorScheme: "dark" }],
  ["phone", { viewport: { width: 390, height: 844 }, colorScheme: "light", hasTouch: true, isMobile: true, deviceScaleFactor: 2 }],
]);

/** @param {Visit} visit */
async function settled(visit) {
  await visit.still();
  // Two frames later what was asked for is on the screen.
  await visit.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await visit.page.waitForTimeout(700);
}

await mkdir(folder, { recursive: true });
const simulator = await Simulator.start("--world", "technical");
const running = await browser();
try {
  for (const [name, options] of SIZES) {
    // As a machine with a graphics card draws it; time stands still, so that nothing is drawn twice.
    await simulator.ask("clock", { paused: true });
    const visit = await Visit.open(running, `${simulator.address}?quality=high`, {
      ...options,
      prepare: async (page) => {
        await listening(page);
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
    await simulator.ask("traffic_lights/signal1", { state: "red" });
    await shot("light");
    await visit.page.keyboard.press("Escape");
    await tellRun(visit.page);
    await visit.page.evaluate(() => (document.body.dataset["evaluating"] = "true"));
    await shot("evaluation");
    await tellEnd(visit.page);
    await visit.mark("history").locator("summary").click();
    await shot("result");
    await visit.page.keyboard.press("f");
    await visit.mark("worlds").click();
    await visit.page.waitForFunction(() => [...document.querySelectorAll("dialog img")].every((img) => /** @type {HTMLImageElement} */ (img).naturalWidth > 0) && document.querySelectorAll("dialog img").length > 0);
    await shot("worlds");
    await visit.page.keyboard.press("Escape");
    await visit.page.keyboard.press("2");
    await visit.page.keyboard.press("4");
    await visit.page.keyboard.press("i");
    await visit.page.keyboard.press("l");
    await visit.page.keyboard.press("t");
    await simulator.ask("step", { duration: 3, speed: 0.6, steering: 0.02 });
    await shot("chase");
    await visit.close();
    await simulator.ask("reset", {});
  }
} finally {
  await running.close();
  await simulator.remove();
}
console.log(folder);
