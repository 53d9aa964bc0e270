// @ts-check
/** Starts a simulator and a browser for tests, screenshots and benchmarks. */
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { chromium } from "playwright-core";

/** @import { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core" */

const REPOSITORY = path.resolve(import.meta.dirname, "../../..");
const PROGRAM = path.resolve(REPOSITORY, process.env["CHICANE_PROGRAM"] ?? "target/release/chicane");
/** How long tests wait for a condition, in milliseconds. */
const WAIT_MS = 60_000;
/** Browser options: software rendering, no background connections, sound without a click. */
const FLAGS = [
  "--no-sandbox",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  // With this option, a browser without a graphics card composites pages directly on the CPU.
  // Otherwise it would use the emulated graphics card, which takes most of the time of a test.
  "--disable-gpu-compositing",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--autoplay-policy=no-user-gesture-required",
];

/**
 * The simulator serves only the glTF files of the current world. A page that requests the file of a
 * world at the moment of a world switch gets status 404, and then loads the new world. If it never
 * loads a world, the test fails while it waits for the page.
 */
const OUTDATED_SCENE = /status of 404 .*\/sim\/scene\/[0-9a-f]{16}\.glb/;

/** A simulator process with a temporary data folder. */
export class Simulator {
  /** @type {import("node:child_process").ChildProcess | null} */
  #process = null;
  /** @type {string} */
  #folder = "";
  /**
   * Address of the page as the simulator prints it: with the token if the simulator made the token.
   */
  address = "";
  /** Scheme, host and port of the simulator. */
  origin = "";

  /** @param {string[]} options Options of `chicane serve`. */
  constructor(options = []) {
    this.options = options;
  }

  /** @param {string[]} options */
  static async start(...options) {
    const simulator = new Simulator(options);
    await simulator.start();
    return simulator;
  }

  /** Starts the process. A restart uses the same folder and port. */
  async start() {
    this.#folder ||= await mkdtemp(path.join(tmpdir(), "chicane-viewer-"));
    const listen = this.origin ? new URL(this.origin).host : "127.0.0.1:0";
    const options = ["serve", "--listen", listen, "--data-dir", path.join(this.#folder, "data"), ...this.options];
    const child = spawn(PROGRAM, options, { cwd: this.#folder, stdio: ["ignore", "pipe", "pipe"] });
    this.#process = child;
    /** @type {string[]} */
    const log = [];
    createInterface({ input: child.stderr }).on("line", (line) => log.push(line));
    this.address = await new Promise((found, failed) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        const address = /https?:\/\/\S+/.exec(line)?.[0];
        if (address) found(address);
      });
      child.once("error", (error) =>
        failed(new Error(`Starting ${PROGRAM} failed: ${error.message}. Build it with \`make build\`.`)),
      );
      child.once("exit", (code) =>
        failed(new Error(`The simulator exited with code ${code}:\n${log.join("\n")}`)),
      );
    });
    this.origin = new URL(this.address).origin;
  }

  /** Stops the process and keeps its data folder. */
  async stop(/** @type {NodeJS.Signals} */ signal = "SIGTERM") {
    const child = this.#process;
    this.#process = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await ended;
  }

  /** Stops the process and deletes its data folder. */
  async remove() {
    await this.stop();
    // The removal is repeated, because a process that is ending may still write to the folder.
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
  }

  /**
   * Runs a command of the program with the data folder of this simulator, and returns its standard
   * output.
   * @param {string[]} options
   */
  async command(...options) {
    return program(...options, "--data-dir", path.join(this.#folder, "data"));
  }

  /**
   * Sends a POST request if there is a body, otherwise a GET request. Returns the JSON response. A
   * path without a leading slash is below `/sim/api`.
   * @param {string} where @param {object} [body] @returns {Promise<any>}
   */
  async request(where, body) {
    const url = `${this.origin}${where.startsWith("/") ? where : `/sim/api/${where}`}`;
    const answer = await fetch(
      url,
      body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) },
    );
    if (!answer.ok) throw new Error(`${where}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}

/**
 * Runs a command of the program in the folder of the repository, and returns its standard output.
 * @param {string[]} options
 */
export async function program(...options) {
  const { stdout } = await promisify(execFile)(PROGRAM, options, { cwd: REPOSITORY });
  return stdout;
}

/** Starts a headless browser. */
export function browser() {
  return chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: FLAGS });
}

/** An open page. Collects errors, console errors and requests to other hosts in `errors`. */
export class Visit {
  /** All errors so far. @type {string[]} */
  errors = [];
  /** The test expects errors that match this expression. @type {RegExp | null} */
  allowedErrors = null;

  /** @param {BrowserContext} context @param {Page} page */
  constructor(context, page) {
    this.context = context;
    this.page = page;
  }

  /**
   * @param {Browser} browser @param {string} address
   * @param {BrowserContextOptions & { prepare?: (page: Page) => Promise<void> }} [options]
   */
  static async open(browser, address, { prepare, ...options } = {}) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 720 },
      colorScheme: "dark",
      ...options,
    });
    context.setDefaultTimeout(WAIT_MS);
    const page = await context.newPage();
    const visit = new Visit(context, page);
    const { host } = new URL(address);
    page.on("pageerror", (error) => visit.errors.push(`error: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() !== "error") return;
      const { url } = message.location();
      visit.errors.push(`console: ${message.text()}${url && ` (${url})`}`);
    });
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (!["blob:", "data:"].includes(url.protocol) && url.host !== host)
        visit.errors.push(`request: ${request.url()}`);
    });
    page.on("websocket", (socket) => {
      if (new URL(socket.url()).host !== host) visit.errors.push(`socket: ${socket.url()}`);
    });
    await prepare?.(page);
    await page.goto(address);
    return visit;
  }

  /** Waits until the world has been drawn. */
  async ready() {
    await this.page.waitForFunction(() => window.__chicane?.ready, null, { timeout: 60_000 });
    return this;
  }

  /** The element with this `data-testid`. @param {string} id */
  byTestId(id) {
    return this.page.getByTestId(id);
  }

  /** Returns the position of an object on the page, in pixels. @param {string} name */
  screenPosition(name) {
    return this.page
      .evaluate((name) => window.__chicane.where(name), name)
      .then((at) => {
        if (!at) throw new Error(`"${name}" is not visible on the page`);
        return at;
      });
  }

  /** Returns the pose at which the page draws an object. @param {string} name */
  pose(name) {
    return this.page
      .evaluate((name) => window.__chicane.pose(name), name)
      .then((pose) => {
        if (!pose) throw new Error(`"${name}" does not exist in the 3D view`);
        return pose;
      });
  }

  /** Waits until the camera is at rest. */
  still() {
    return this.page.waitForFunction(() => window.__chicane.still, null, { timeout: 60_000 });
  }

  /**
   * Clicks an object and waits until the object is selected. Then waits until the camera is at
   * rest, because the card of the object covers a part of the view and the camera adapts.
   * @param {string} name
   */
  async click(name) {
    await this.still();
    const at = await this.screenPosition(name);
    await this.page.mouse.click(at.x, at.y);
    await this.page.waitForFunction((name) => window.__chicane.selected === name, name);
    await this.page.waitForFunction(
      (name) => document.querySelector("[data-testid=tag]")?.textContent?.toLowerCase() === name,
      name.toLowerCase(),
    );
    await this.still();
  }

  /**
   * Drags an object by a number of pixels. If `drop` is false, the mouse button stays pressed.
   * @param {string} name @param {[number, number]} by @param {boolean} [drop]
   */
  async drag(name, by, drop = true) {
    await this.still();
    const from = await this.screenPosition(name);
    await this.page.mouse.move(from.x, from.y);
    await this.page.mouse.down();
    await this.page.mouse.move(from.x + by[0], from.y + by[1], { steps: 6 });
    if (drop) await this.page.mouse.up();
  }

  /** All errors that the test does not expect. */
  unexpectedErrors() {
    return this.errors.filter((text) => !OUTDATED_SCENE.test(text) && !this.allowedErrors?.test(text));
  }

  close() {
    return this.context.close();
  }
}

/**
 * Calls `read` until `accept` returns true for the value, and returns the value. After `ms`
 * milliseconds, throws an error that contains the last value.
 * @template T @param {() => Promise<T> | T} read @param {(value: T) => boolean} accept
 * @param {number} [ms] @returns {Promise<T>}
 */
export async function until(read, accept, ms = WAIT_MS) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await read();
    if (accept(value)) return value;
    if (Date.now() > end)
      throw new Error(`Timeout after ${ms} ms: ${JSON.stringify(value)} does not satisfy ${accept}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
