// @ts-check
/**
 * Draws views with three.js in a browser, and compares the images with those of our renderer.
 *
 *     node second-opinion/run.js <folder>
 *
 * The program `second-opinion` of `chicane-bench` writes `<folder>`. This script adds one
 * `<view>.png` per view. The PNG shows our image, the image of three.js, and four times their
 * difference.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";
import { compare } from "./compare.js";
import { png } from "./png.js";

/** @import { RenderedImage, View, Views } from "./types.d.ts" */

/**
 * Limits for each view: the smallest overlap of outlines, the largest mean difference of colours
 * (0 to 255), and the largest share of pixels with a different colour.
 */
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

/**
 * Returns a PNG with both images and four times their difference, side by side.
 * @param {Uint8Array} a @param {Uint8Array} b @param {number} width @param {number} height
 */
function sideBySide(a, b, width, height) {
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

/**
 * Reads the image that our renderer drew.
 * @param {string} folder @param {View} view @returns {Promise<RenderedImage>}
 */
async function readOurs(folder, view) {
  const rgb = await readFile(path.join(folder, `${view.name}.rgb`));
  const labels = await readFile(path.join(folder, `${view.name}.labels`));
  return { rgb, labels: toUint16(labels) };
}

/** @param {Uint8Array} bytes */
function toUint16(bytes) {
  return new Uint16Array(Uint8Array.from(bytes).buffer);
}

/**
 * Opens the page. All requests of the page are answered with files from `folder` and from the `web`
 * folder, without a network.
 * @param {import("playwright-core").BrowserContext} browser @param {string} folder
 */
async function openPage(browser, folder) {
  const page = browser.pages()[0] ?? (await browser.newPage());
  /** @type {string[]} */
  const errors = [];
  page.on("console", (m) => m.type() === "error" && errors.push(m.text()));
  page.on("pageerror", (e) => errors.push(String(e)));
  await page.route("**/*", async (route) => {
    const { pathname } = new URL(route.request().url());
    const data = pathname.startsWith("/data/");
    await route.fulfill({ path: data ? path.join(folder, pathname.slice(6)) : path.join(WEB, pathname) });
  });
  await page.goto(`${ORIGIN}/second-opinion/page.html`, { timeout: 60_000 });
  await page.waitForFunction(() => document.title === "ready", undefined, { timeout: 60_000 }).catch((e) => {
    throw new Error([...errors, String(e)].join("\n"));
  });
  return { page, errors };
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
    const { page, errors } = await openPage(browser, folder);
    console.log("view                        overlap  worst outline (label)   mean diff  other colour");
    for (const view of views) {
      const sent = await page.evaluate(
        ([view, width, height]) => window.draw(view, width, height),
        /** @type {[View, number, number]} */ ([view, width, height]),
      );
      const theirs = {
        rgb: Buffer.from(sent.rgb, "base64"),
        labels: toUint16(Buffer.from(sent.labels, "base64")),
        whole: Buffer.from(sent.whole, "base64"),
      };
      const ours = await readOurs(folder, view);
      const { covered, worst, mean, other } = compare(ours, theirs, width, height);
      await writeFile(path.join(folder, `${view.name}.png`), sideBySide(ours.rgb, theirs.rgb, width, height));
      const good = Math.min(covered, worst.tolerant) >= LIMITS.overlap && mean <= LIMITS.mean && other <= LIMITS.other;
      wrong += good ? 0 : 1;
      const outline = `${worst.tolerant.toFixed(4)} exact ${worst.exact.toFixed(4)} (${worst.label})`;
      console.log(
        `${view.name.padEnd(27)} ${covered.toFixed(4)}   ${outline.padEnd(28)} ${mean.toFixed(2).padStart(5)}` +
          `     ${(100 * other).toFixed(2).padStart(5)} %${good ? "" : "   DIFFERS"}`,
      );
    }
    for (const text of errors) {
      console.error(`error in the browser: ${text}`);
    }
    wrong += errors.length;
  } finally {
    await browser.close();
    // The removal is repeated, because a process of the browser may still write to its profile.
    await rm(profile, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
  }
  const limits = `overlap ≥ ${LIMITS.overlap}, mean ≤ ${LIMITS.mean} levels, other colour ≤ ${100 * LIMITS.other} %`;
  console.log(`${views.length} views, ${wrong} failures (limits: ${limits}). Images: ${folder}`);
  return wrong === 0;
}

const folder = process.argv[2];
if (!folder) {
  console.error("No folder given. Run: node second-opinion/run.js target/second-opinion");
  process.exit(1);
}
process.exit((await main(path.resolve(folder))) ? 0 : 1);
