// @ts-check
/**
 * Benchmark of the world builder.
 *
 * Latency with a random track: time from a key event to the drawn frame, to the road that the
 * server computed, and to the acknowledged save. Frame rate: frames of the top view while an object
 * is dragged. Loop: the time from the empty list of projects to a closed road in the simulator,
 * with the pauses of a person who knows the page.
 *
 *     node web/bench/build.js
 */
import { browser, Simulator, Visit } from "../tests/browser/support.js";

const EDITS = 40;
/** Limits that the page should meet: a minimum for `framesPerSecond`, otherwise maxima. */
const TARGET = { frameMs: 50, roadMs: 200, savedMs: 1000, framesPerSecond: 20, loopS: 60 };
/** Time that a person needs to find the next button or place and to click it, in milliseconds. */
const PRESS_MS = 400;
/** Time that a person needs for a drag, in milliseconds. */
const DRAG_MS = 1100;
/** Duration of the drag during which the frames are counted, in milliseconds. */
const DRAGGING_MS = 3000;

const row = (/** @type {string} */ what, /** @type {string} */ value, /** @type {string} */ limit) =>
  console.log(`${what.padEnd(52)} ${value.padStart(14)}  ${limit}`);
const line = (/** @type {string} */ what, /** @type {number} */ ms, /** @type {number} */ limit) =>
  row(what, `${ms.toFixed(0)} ms`, `at most ${limit} ms`);

/** The median and the 95th percentile. @param {number[]} values */
function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)], p95: sorted[Math.floor(0.95 * sorted.length)] };
}

/**
 * Presses a key that moves the selection, and measures the time until a condition holds.
 * @param {Visit} visit @param {"frame" | "road" | "saved"} until
 */
function measure(visit, until) {
  return visit.page.evaluate(
    (until) =>
      new Promise((/** @type {(ms: number) => void} */ done) => {
        const since = performance.now();
        const { plan } = window.__build.frames;
        const road = window.__build.preview;
        document
          .querySelector("[data-testid=plan]")
          ?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", shiftKey: true, bubbles: true }));
        const reached = {
          frame: () => window.__build.frames.plan > plan,
          road: () => window.__build.preview !== road,
          saved: () => window.__build.status === "saved",
        }[until];
        const look = () => (reached() ? done(performance.now() - since) : setTimeout(look, 1));
        look();
      }),
    until,
  );
}


/** Waits until the editor shows a document and its road. @param {Visit} visit */
const ready = (visit) =>
  visit.page.waitForFunction(() => window.__build?.isCurrent && window.__build.preview !== null, null, { timeout: 60_000 });

/** Measures the latency of edits with the keyboard. @param {Visit} visit */
async function latency(visit) {
  await visit.byTestId("plan").focus();
  await visit.page.keyboard.press("n");
  for (const [what, until, limit] of /** @type {const} */ ([
    ["edit to frame", "frame", TARGET.frameMs],
    ["edit to road", "road", TARGET.roadMs],
    ["edit to saved", "saved", TARGET.savedMs],
  ])) {
    /** @type {number[]} */
    const times = [];
    for (let i = 0; i < EDITS; i++) {
      await visit.page.waitForFunction(() => window.__build.isCurrent && window.__build.status === "saved");
      times.push(await measure(visit, until));
    }
    const { median, p95 } = spread(times);
    line(`${what}, median`, median, limit);
    line(`${what}, 95th percentile`, p95, limit);
  }
}

/** Drags an object in circles, and counts the frames of the top view. @param {Visit} visit */
async function frameRate(visit) {
  const { mouse } = visit.page;
  await visit.page.keyboard.press("Escape");
  await visit.byTestId("add-box").click();
  await ready(visit);
  const at = await visit.page.evaluate(() => window.__build.where("object:box1"));
  if (!at) throw new Error("the box is not on the field");
  await mouse.move(at.x, at.y);
  await mouse.down();
  const state = () => visit.page.evaluate(() => ({ frames: window.__build.frames.plan, now: performance.now() }));
  const before = await state();
  for (let i = 0; (await state()).now - before.now < DRAGGING_MS; i++) {
    await mouse.move(at.x + 60 * Math.cos(i / 8), at.y + 60 * Math.sin(i / 8));
  }
  const after = await state();
  await mouse.up();
  const rate = (1000 * (after.frames - before.frames)) / (after.now - before.now);
  row("frames per second of the top view during a drag", rate.toFixed(0), `at least ${TARGET.framesPerSecond}`);
}

/** Goes from the list of projects to a loop in the simulator, like a person who knows the page. */
async function loop() {
  const visit = await Visit.open(running, `${simulator.origin}/build`);
  const { page } = visit;
  await visit.byTestId("new").waitFor();
  const since = performance.now();
  let actions = 0;
  const pause = async (/** @type {number} */ ms) => {
    actions += ms;
    await page.waitForTimeout(ms);
  };
  const press = async (/** @type {string} */ testid) => {
    await pause(PRESS_MS);
    await visit.byTestId(testid).click();
  };
  const place = (/** @type {number} */ x, /** @type {number} */ y) =>
    page.evaluate(([x, y]) => window.__build.at({ x, y }), [x, y]);
  await press("new");
  await press("new-create");
  await page.waitForURL(/project=/);
  await ready(visit);
  await press("tool-pen");
  for (const [x, y] of [[2, 1.5], [4, 1.2], [6, 1.5], [6, 4.5], [4, 4.8], [2, 4.5], [2, 1.5]]) {
    const at = await place(x, y);
    await pause(PRESS_MS);
    await page.mouse.click(at.x, at.y);
  }
  await ready(visit);
  // Drag the middle node of the upper side of the loop, because the work of a user includes a drag.
  const [from, to] = [await place(4, 4.8), await place(4, 4.5)];
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await pause(DRAG_MS);
  await page.mouse.move(to.x, to.y, { steps: 8 });
  await page.mouse.up();
  await ready(visit);
  const findings = await page.evaluate(() => window.__build.preview?.findings.filter((one) => one.severity === "error"));
  if (findings?.length !== 0) throw new Error(`the loop has errors: ${JSON.stringify(findings)}`);
  await press("drive");
  await page.waitForURL((url) => url.pathname === "/sim", { timeout: 60_000 });
  await visit.ready();
  const all = performance.now() - since;
  await visit.close();
  row("from an empty list to a drivable loop, actions", `${(actions / 1000).toFixed(1)} s`, `at most ${TARGET.loopS} s`);
  row("from an empty list to a drivable loop, with the page", `${(all / 1000).toFixed(1)} s`, "");
}

const simulator = await Simulator.start("--world", "oval");
const running = await browser();
try {
  await loop();
  const source = { from: "random", seed: 7, options: { field: [20, 16], tightness: 1 } };
  const { id, document } = await simulator.request("builder/projects", source);
  const visit = await Visit.open(running, `${simulator.origin}/build?project=${id}`);
  await ready(visit);
  console.log(`random track of ${document.track.nodes.length} nodes, ${EDITS} edits`);
  await latency(visit);
  await frameRate(visit);
  await visit.close();
} finally {
  await running.close();
  await simulator.remove();
}
