// @ts-check
/**
 * Benchmark of the world builder with a random track: time from a pointer event to the drawn frame,
 * from a change to the road of the server, and from a change to the acknowledged save.
 *
 *     node web/bench/build.js
 */
import { browser, Simulator, Visit } from "../tests/browser/support.js";

const EDITS = 40;
/** Upper limits that the page should meet. */
const TARGET = { frameMs: 50, roadMs: 200, savedMs: 1000 };

const line = (/** @type {string} */ what, /** @type {number} */ ms, /** @type {number} */ limit) =>
  console.log(`${what.padEnd(52)} ${`${ms.toFixed(0)} ms`.padStart(14)}  at most ${limit} ms`);

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

const simulator = await Simulator.start("--world", "oval");
const running = await browser();
try {
  const source = { from: "random", seed: 7, options: { field: [20, 16], tightness: 1 } };
  const { id, document } = await simulator.request("builder/projects", source);
  const visit = await Visit.open(running, `${simulator.origin}/build?project=${id}`);
  await visit.page.waitForFunction(() => window.__build?.isCurrent && window.__build.preview !== null);
  await visit.byTestId("plan").focus();
  await visit.page.keyboard.press("n");
  console.log(`random track of ${document.track.nodes.length} nodes, ${EDITS} edits`);
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
  await visit.close();
} finally {
  await running.close();
  await simulator.remove();
}
