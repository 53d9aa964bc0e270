// @ts-check
/**
 * Has three.js in a browser draw what our renderer has drawn, and compares.
 *
 * `node second-opinion/run.js <folder>`: the folder that the program `second-opinion` of
 * `chicane-bench` has written. Leaves `<view>.png` there: ours, theirs, and four times the difference.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";
import { compare } from "./compare.js";
import { png } from "./png.js";

/** @import { Drawn, View, Views } from "./types.d.ts" */

/** What two right renderers may differ by. */
const LIMITS = { overlap: 0.998, mean: 1.5, other: 0.005 };

const WEB = path.resolve(import.meta.dirname, "..");
const ORIGIN = "http://second-opinion.invalid";
const FLAGS = [
  "--no-sandbox",
  "--use-gl=angle",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** Ours, theirs and four times the difference, side by side. @param {Uint8Array} a @param {Uint8Array} b */
function beside(a, b, /** @type {number} */ width, /** @type {number} */ height) {
  const out = new Uint8Array(9 * width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < 3 * width; x++) {
      const [i, to] = [3 * width * y + x, 9 * width * y + x];
      out[to] = a[i];
      out[to + 3 * width] = b[i];
      out[to + 6 * width] = Math.min(255, 4 * Math.abs(a[i] - b[i]));
    }
  }
  return png(out, 3 * width, height);
}

/** @param {string} folder @param {View} view @returns {Promise<Drawn>} */
async function ours(folder, view) {
  const rgb = await readFile(path.join(folder, `${view.name}.rgb`));
  const labels = await readFile(path.join(folder, `${view.name}.labels`));
  return { rgb, labels: words(labels) };
}

/** @param {Uint8Array} bytes */
function words(bytes) {
  return new Uint16Array(Uint8Array.from(bytes).buffer);
}

/** A page whose every request is answered from the two folders and nowhere else. */
async function opened(/** @type {import("playwright-core").BrowserContext} */ browser, /** @type {string} */ folder) {
  const page = browser.pages()[0] ?? (await browser.newPage());
  /** @type {string[]} */
  const complaints = [];
  page.on("console", (m) => m.type() === "error" && complaints.push(m.text()));
  page.on("pageerror", (e) => complaints.push(String(e)));
  await page.route("**/*", async (route) => {
    const { pathname } = new URL(route.request().url());
    const data = pathname.startsWith("/data/");
    await route.fulfill({ path: data ? path.join(folder, pathname.slice(6)) : path.join(WEB, pathname) });
  });
  await page.goto(`${ORIGIN}/second-opinion/page.html`);
  await page.waitForFunction(() => document.title === "ready", undefined, { timeout: 60_000 }).catch((e) => {
    throw new Error([...complaints, String(e)].join("\n"));
  });
  return { page, complaints };
}

/** @param {string} folder */
async function main(folder) {
  const { width, height, views } = /** @type {Views} */ (
    JSON.parse(await readFile(path.join(folder, "views.json"), "utf8"))
  );
  const profile = await mkdtemp(path.join(tmpdir(), "second-opinion-"));
  const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
  const browser = await chromium.launchPersistentContext(profile, { executablePath, args: FLAGS });
  let wrong = 0;
  try {
    const { page, complaints } = await opened(browser, folder);
    console.log("view                        covered  worst outline (label)    mean off  other colour");
    for (const view of views) {
      const sent = await page.evaluate(
        ([view, width, height]) => window.draw(view, width, height),
        /** @type {[View, number, number]} */ ([view, width, height]),
      );
      const theirs = { rgb: Buffer.from(sent.rgb, "base64"), labels: words(Buffer.from(sent.labels, "base64")) };
      const mine = await ours(folder, view);
      const found = compare(mine, theirs, width, height);
      await writeFile(path.join(folder, `${view.name}.png`), beside(mine.rgb, theirs.rgb, width, height));
      const { covered, worst, mean, other } = found;
      const good = Math.min(covered, worst.tolerant) >= LIMITS.overlap && mean <= LIMITS.mean && other <= LIMITS.other;
      wrong += good ? 0 : 1;
      const outline = `${worst.tolerant.toFixed(4)} exact ${worst.exact.toFixed(4)} (${worst.label})`;
      console.log(
        `${view.name.padEnd(27)} ${covered.toFixed(4)}   ${outline.padEnd(28)} ${mean.toFixed(2).padStart(5)}` +
          `     ${(100 * other).toFixed(2).padStart(5)} %${good ? "" : "   DIFFERS"}`,
      );
    }
    for (const text of complaints) {
      console.error(`the browser says: ${text}`);
    }
    wrong += complaints.length;
  } finally {
    await browser.close();
    await rm(profile, { recursive: true, force: true });
  }
  const limits = `outlines from ${LIMITS.overlap}, mean up to ${LIMITS.mean} levels, other colour up to ${100 * LIMITS.other} %`;
  console.log(`${views.length} views, ${wrong} not as they should be (${limits}); pictures are in ${folder}`);
  return wrong === 0;
}

const folder = process.argv[2];
if (!folder) {
  console.error("second-opinion: say which folder, such as target/second-opinion");
  process.exit(1);
}
process.exit((await main(path.resolve(folder))) ? 0 : 1);
