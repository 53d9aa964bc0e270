// @ts-check
/**
 * Benchmark of the page on the technical track: bytes and time until the first frame over loopback,
 * frames per second with software rendering, and data rate of the event stream.
 *
 *     node web/bench/viewer.js
 */
import { browser, Simulator, Visit } from "../tests/browser/support.js";

/** @import { Page } from "playwright-core" */

const WORLD = "technical";
const MEASURE_MS = 8000;
const VISITS = 5;
/**
 * Upper limits that the page should meet: the size of the first load without textures, and the time
 * from the navigation to the first frame.
 */
const TARGET = { kilobytes: 1536, firstFrameMs: 2000 };

const median = (/** @type {number[]} */ values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const line = (/** @type {string} */ what, /** @type {string} */ figure, target = "") =>
  console.log(`${what.padEnd(52)} ${figure.padStart(14)}  ${target}`);
const kilobytes = (/** @type {number} */ bytes) => `${(bytes / 1024).toFixed(0)} kB`;

/** Total size of the images in a binary glTF file, in bytes. @param {Buffer} glb */
function imageBytes(glb) {
  const length = glb.readUInt32LE(12);
  const { images = [], bufferViews = [] } = JSON.parse(glb.toString("utf8", 20, 20 + length));
  return images.reduce(
    (/** @type {number} */ sum, /** @type {{ bufferView: number }} */ image) =>
      sum + bufferViews[image.bufferView].byteLength,
    0,
  );
}

/**
 * Measures the frames per second while the car drives.
 * @param {Page} page @param {Simulator} simulator
 */
async function framesWhileDriving(page, simulator) {
  const drive = setInterval(() => void simulator.request("/drive", { speed: 0.4, steering: 0.1 }).catch(() => {}), 300);
  const look = () => page.evaluate(() => ({ frame: window.__chicane.frame, at: performance.now() }));
  // Wait until the page has adapted its resolution.
  await new Promise((done) => setTimeout(done, 4000));
  const before = await look();
  await new Promise((done) => setTimeout(done, MEASURE_MS));
  const after = await look();
  clearInterval(drive);
  await simulator.request("reset", {});
  return (1000 * (after.frame - before.frame)) / (after.at - before.at);
}

/** Measures bytes and messages per second of the event stream. @param {Simulator} simulator */
async function stream(simulator) {
  const answer = await fetch(`${simulator.origin}/sim/api/events`);
  const reader = answer.body?.getReader();
  if (!reader) throw new Error("GET /sim/api/events returned no body");
  let [bytes, messages] = [0, 0];
  const since = Date.now();
  while (Date.now() - since < MEASURE_MS) {
    const { value, done } = await reader.read();
    if (done) break;
    bytes += value.length;
    messages += Buffer.from(value).toString("latin1").split("\nevent:").length - 1 || 1;
  }
  await reader.cancel();
  const seconds = (Date.now() - since) / 1000;
  return { bytes: bytes / seconds, messages: messages / seconds };
}

const simulator = await Simulator.start("--world", WORLD);
const running = await browser();
try {
  console.log(`viewer: ${WORLD}, 1280 × 720, software rendering, loopback\n`);

  // Measure the transferred bytes.
  const scene = await simulator.request("scene");
  const page = await (await fetch(`${simulator.origin}/sim`)).text();
  const files = [...page.matchAll(/(?:src|href)="(\/sim\/[^"]+)"/g)].map((found) => found[1]);
  const packed = async (/** @type {string} */ path) => {
    const answer = await fetch(`${simulator.origin}${path}`, { headers: { "Accept-Encoding": "gzip" } });
    const plain = Buffer.from(await answer.arrayBuffer());
    return { sent: Number(answer.headers.get("content-length")), plain };
  };
  const code = await Promise.all(["/sim", ...files].map(packed));
  const [world, car] = await Promise.all([packed(scene.world_glb), packed(scene.car_glb)]);
  const codeBytes = code.reduce((sum, file) => sum + file.sent, 0);
  const textures = imageBytes(world.plain);
  // The estimate assumes that geometry has the same share of the gzipped file as of the plain file.
  // The real share is smaller, because gzip reduces geometry more than images.
  const geometry = Math.round(world.sent * (1 - textures / world.plain.length)) + car.sent;
  line("page and code, gzipped", kilobytes(codeBytes));
  line("geometry of world and car, gzipped (estimate)", kilobytes(geometry));
  line("first load without textures, gzipped", kilobytes(codeBytes + geometry), `target ≤ ${TARGET.kilobytes} kB`);
  line("textures", kilobytes(world.sent + car.sent - geometry));
  line("first load in total, gzipped", kilobytes(codeBytes + world.sent + car.sent));

  // Measure the time to the first frame, with a new browser context for each visit.
  const times = [];
  for (let i = 0; i < VISITS; i++) {
    const visit = await Visit.open(running, simulator.address);
    await visit.ready();
    times.push(
      await visit.page.evaluate(() => performance.getEntriesByName("chicane:first-frame")[0]?.startTime ?? Number.NaN),
    );
    await visit.close();
  }
  line(
    "first frame after navigation, median of 5",
    `${median(times).toFixed(0)} ms`,
    `target ≤ ${TARGET.firstFrameMs} ms`,
  );
  line("", `${times.map((ms) => ms.toFixed(0)).join(" ")}`);

  const visit = await (await Visit.open(running, simulator.address)).ready();
  for (const [key, name] of [
    ["1", "orbit"],
    ["2", "chase"],
  ]) {
    await visit.page.keyboard.press(key);
    line(`frames per second, ${name}, car driving`, (await framesWhileDriving(visit.page, simulator)).toFixed(1));
  }
  const size = await visit.page.evaluate(() => {
    const canvas = document.querySelector("canvas");
    return `${canvas?.width} × ${canvas?.height}`;
  });
  line("resolution at the end", size);
  await visit.close();

  for (const moving of [false, true]) {
    const drive = moving
      ? setInterval(() => void simulator.request("/drive", { speed: 0.4, steering: 0.1 }), 300)
      : undefined;
    const { bytes, messages } = await stream(simulator);
    clearInterval(drive);
    line(
      `event stream per viewer, ${moving ? "driving" : "standing"}`,
      `${messages.toFixed(1)} /s`,
      `${kilobytes(bytes)} per second`,
    );
  }
} finally {
  await running.close();
  await simulator.remove();
}
