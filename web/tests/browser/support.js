// @ts-check
/** A real simulator and a real browser, for tests, screenshots and benchmarks. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

/** @import { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core" */

const PROGRAM = path.resolve(import.meta.dirname, "../../..", process.env["CHICANE_PROGRAM"] ?? "target/release/chicane");
/** Software rendering, a fresh profile, and not a word to anyone outside. */
const FLAGS = [
  "--no-sandbox",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--ignore-gpu-blocklist",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--autoplay-policy=no-user-gesture-required",
];

/** A simulator of one's own in a folder of its own. */
export class Simulator {
  /** @type {import("node:child_process").ChildProcess | null} */
  #process = null;
  /** @type {string} */
  #folder = "";
  /** Where the page is. */
  address = "";
  /** Where everything is. */
  origin = "";

  /** @param {string[]} words */
  constructor(words = []) {
    this.words = words;
  }

  /** @param {string[]} words */
  static async start(...words) {
    const simulator = new Simulator(words);
    await simulator.start();
    return simulator;
  }

  /** Starts it; again where it was. */
  async start() {
    this.#folder ||= await mkdtemp(path.join(tmpdir(), "chicane-viewer-"));
    const listen = this.origin ? new URL(this.origin).host : "127.0.0.1:0";
    const words = ["serve", "--listen", listen, "--data-dir", path.join(this.#folder, "data"), ...this.words];
    const child = spawn(PROGRAM, words, { cwd: this.#folder, stdio: ["ignore", "pipe", "pipe"] });
    this.#process = child;
    /** @type {string[]} */
    const said = [];
    createInterface({ input: child.stderr }).on("line", (line) => said.push(line));
    this.address = await new Promise((found, failed) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        const address = /https?:\/\/\S+/.exec(line)?.[0];
        if (address) found(address);
      });
      child.once("error", (error) => failed(new Error(`${PROGRAM}: ${error.message}; \`make build\` makes it`)));
      child.once("exit", (code) => failed(new Error(`the simulator ended with ${code}:\n${said.join("\n")}`)));
    });
    this.origin = new URL(this.address).origin;
  }

  /** Ends it, and keeps what it has stored. */
  async stop(/** @type {NodeJS.Signals} */ signal = "SIGTERM") {
    const child = this.#process;
    this.#process = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await ended;
  }

  /** Ends it for good. */
  async remove() {
    await this.stop();
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true });
  }

  /**
   * Asks it: POST with a body, else GET.
   * @param {string} where @param {object} [body] @returns {Promise<any>}
   */
  async ask(where, body) {
    const url = `${this.origin}${where.startsWith("/") ? where : `/sim/api/${where}`}`;
    const answer = await fetch(url, body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${where}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}

/** Starts a browser. */
export function browser() {
  return chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: FLAGS });
}

/** A page, and everything that it should not have done. */
export class Visit {
  /** Errors in the console, and requests to other hosts. @type {string[]} */
  wrong = [];
  /** Words that an error may hold, in a test that makes it so. @type {RegExp | null} */
  allowed = null;

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
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, colorScheme: "dark", ...options });
    const page = await context.newPage();
    const visit = new Visit(context, page);
    const { host } = new URL(address);
    page.on("pageerror", (error) => visit.wrong.push(`error: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error") visit.wrong.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (!["blob:", "data:"].includes(url.protocol) && url.host !== host) visit.wrong.push(`request: ${request.url()}`);
    });
    page.on("websocket", (socket) => {
      if (new URL(socket.url()).host !== host) visit.wrong.push(`socket: ${socket.url()}`);
    });
    await prepare?.(page);
    await page.goto(address);
    return visit;
  }

  /** Waits until the scene is drawn. */
  async ready() {
    await this.page.waitForFunction(() => window.__chicane?.ready, null, { timeout: 60_000 });
    return this;
  }

  /** By its mark. @param {string} id */
  mark(id) {
    return this.page.getByTestId(id);
  }

  /** Where a thing is drawn on the page. @param {string} name */
  where(name) {
    return this.page.evaluate((name) => window.__chicane.where(name), name).then((at) => {
      if (!at) throw new Error(`${name} is not on the screen`);
      return at;
    });
  }

  /** Where a thing is drawn in the world. @param {string} name */
  pose(name) {
    return this.page.evaluate((name) => window.__chicane.pose(name), name).then((pose) => {
      if (!pose) throw new Error(`${name} is not there`);
      return pose;
    });
  }

  /** Waits until the view stands still. */
  still() {
    return this.page.waitForFunction(() => window.__chicane.still, null, { timeout: 60_000 });
  }

  /** Clicks a thing, and waits until it is selected and the view rests beside its card. @param {string} name */
  async click(name) {
    await this.still();
    const at = await this.where(name);
    await this.page.mouse.click(at.x, at.y);
    await this.page.waitForFunction((name) => window.__chicane.selected === name, name);
    await this.page.waitForFunction((name) => document.querySelector("[data-testid=tag]")?.textContent?.toLowerCase() === name, name.toLowerCase());
    await this.still();
  }

  /** What went wrong, but for what had to. */
  faults() {
    const { allowed } = this;
    return allowed ? this.wrong.filter((text) => !allowed.test(text)) : this.wrong;
  }

  close() {
    return this.context.close();
  }
}

/**
 * Waits until something is so; what it was last is in the error.
 * @template T @param {() => Promise<T> | T} look @param {(value: T) => boolean} isSo @param {number} [ms] @returns {Promise<T>}
 */
export async function until(look, isSo, ms = 30_000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await look();
    if (isSo(value)) return value;
    if (Date.now() > end) throw new Error(`still ${JSON.stringify(value)} after ${ms} ms, waiting for ${isSo}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}
