// Starts a real simulator and calls its web API.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const READY = /chicane is ready: (http:\/\/[^/]+)\/sim/;
const WAIT_TIMEOUT_MS = 60_000;

/** Polls until the condition is true and returns its value. Throws after a timeout. */
export async function waitFor(what, condition) {
  const deadline = Date.now() + WAIT_TIMEOUT_MS;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`timeout: waited ${WAIT_TIMEOUT_MS} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A running simulator on a free port, with an empty data folder. */
export class Simulator {
  port = 0;

  static async start() {
    const simulator = new Simulator();
    simulator.folder = await mkdtemp(join(tmpdir(), "chicane-roslib-"));
    await simulator.start();
    return simulator;
  }

  /** Starts the simulator. A second start uses the same port again. */
  async start() {
    const options = ["--listen", `127.0.0.1:${this.port}`, "--data-dir", join(this.folder, "data")];
    const args = ["serve", ...options, "--log-level", "error"];
    this.process = spawn(process.env.CHICANE_PROGRAM, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    const lines = createInterface(this.process.stdout);
    const line = await Promise.race([new Promise((resolve) => lines.once("line", resolve)), this.ended]);
    const ready = READY.exec(String(line));
    if (!ready) throw new Error(`the simulator did not start: ${line}`);
    this.url = ready[1];
    this.port = Number(new URL(this.url).port);
  }

  async stop(how = "SIGTERM") {
    this.process.kill(how);
    await this.ended;
  }

  async close() {
    await this.stop();
    // The removal is repeated, because a process that is ending may still write to the folder.
    await rm(this.folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
  }

  async get(path) {
    return (await fetch(this.url + path)).json();
  }

  async post(path, body) {
    const headers = { "content-type": "application/json" };
    return (await fetch(this.url + path, { method: "POST", headers, body: JSON.stringify(body) })).json();
  }

  /** The current command for an axis: speed, steering, pan or tilt. */
  async commanded(axis) {
    return (await this.get("/states?include=")).cmd[axis];
  }
}
