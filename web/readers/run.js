// @ts-check
/**
 * Compares how three.js and our own reader read the mesh files of our worlds.
 *
 *     node readers/run.js <folder>
 *
 * `<folder>` contains the output folders of `chicane build`, one per world. It also contains
 * `meshes.json`, the output of the program `readers` of `chicane-bench`.
 */
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

/** @import { MeshFile, TriangleGroup } from "./types.d.ts" */

const WEB = path.resolve(import.meta.dirname, "..");
const ORIGIN = "http://readers.invalid";
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"];
/** Folder of the standard textures. Every simulator has them, so worlds do not contain them. */
const STANDARD = "/world_builder/textures/";
/** An image of one pixel. It replaces textures that are missing in the world. */
const PIXEL = Buffer.from("R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==", "base64");

/** @param {number} a @param {number} b */
const close = (a, b) => Math.abs(a - b) <= 1e-6 + 1e-5 * Math.max(Math.abs(a), Math.abs(b));

/**
 * Describes the first difference between two readings of a group of triangles. Returns an empty
 * string if there is none.
 * @param {string} file @param {TriangleGroup} ours @param {TriangleGroup} theirs
 */
function difference(file, ours, theirs) {
  const folder = path.posix.dirname(file);
  const texture = ours.texture && `${ORIGIN}/data/${path.posix.join(folder, ours.texture)}`;
  if (texture !== theirs.texture) {
    return `texture: ours ${texture}, three.js ${theirs.texture}`;
  }
  if (ours.triangles !== theirs.triangles) {
    return `triangles: ours ${ours.triangles}, three.js ${theirs.triangles}`;
  }
  for (const what of /** @type {const} */ (["area", "volume", "uv_area"])) {
    if (!close(ours[what], theirs[what])) {
      return `${what}: ours ${ours[what]}, three.js ${theirs[what]}`;
    }
  }
  for (const what of /** @type {const} */ (["low", "high", "colour"])) {
    const [a, b] = [ours[what] ?? [], theirs[what] ?? []];
    // If a material has a texture, its colour has no effect and is not compared.
    const counts = what !== "colour" || !ours.texture;
    if (counts && (a.length !== b.length || a.some((v, i) => Math.abs(v - b[i]) > 1e-5))) {
      return `${what}: ours ${a}, three.js ${b}`;
    }
  }
  return "";
}

/** @param {string} folder */
async function main(folder) {
  const meshes = /** @type {MeshFile[]} */ (JSON.parse(await readFile(path.join(folder, "meshes.json"), "utf8")));
  const profile = await mkdtemp(path.join(tmpdir(), "readers-"));
  const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
  const browser = await chromium.launchPersistentContext(profile, { executablePath, args: FLAGS });
  let [wrong, groups, triangles] = [0, 0, 0];
  /** @param {string} text */
  const report = (text) => {
    wrong += 1;
    console.error(text);
  };
  try {
    const page = browser.pages()[0] ?? (await browser.newPage());
    page.on("pageerror", (e) => report(`error in the browser: ${e}`));
    await page.route("**/*", async (route) => {
      const { pathname } = new URL(route.request().url());
      const file = pathname.startsWith("/data/") ? path.join(folder, pathname.slice(6)) : path.join(WEB, pathname);
      if (existsSync(file)) {
        return route.fulfill({ path: file });
      }
      if (!pathname.includes(STANDARD)) {
        report(`${pathname} is missing in the world`);
      }
      return route.fulfill({ body: PIXEL, contentType: "image/gif" });
    });
    await page.goto(`${ORIGIN}/readers/page.html`, { timeout: 60_000 });
    await page.waitForFunction(() => document.title === "ready", undefined, { timeout: 60_000 });
    for (const { file, groups: ours } of meshes) {
      const theirs = await page.evaluate((file) => window.readMesh(file), file);
      if (ours.length !== theirs.length) {
        report(`${file}: triangle groups: ours ${ours.length}, three.js ${theirs.length}`);
      }
      for (const group of ours) {
        const same = theirs.find((t) => t.material === group.material);
        const differs = same ? difference(file, group, same) : "not found by three.js";
        if (differs) {
          report(`${file}: ${group.material}: ${differs}`);
        }
        groups += 1;
        triangles += group.triangles;
      }
    }
  } finally {
    await browser.close();
    // The removal is repeated, because a process of the browser may still write to its profile.
    await rm(profile, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
  }
  console.log(
    `${meshes.length} meshes with ${groups} materials and ${triangles} triangles read by three.js, ${wrong} differences`,
  );
  return wrong === 0 && meshes.length > 0;
}

const folder = process.argv[2];
if (!folder) {
  console.error("No folder given. Run: node readers/run.js target/readers");
  process.exit(1);
}
process.exit((await main(path.resolve(folder))) ? 0 : 1);
