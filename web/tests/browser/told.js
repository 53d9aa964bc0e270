// @ts-check
/** Evaluation events that a test tells a page itself, on the page's own event stream. */

/** @import { Page } from "playwright-core" */

/** Before the page is opened: its streams can be spoken to. @param {Page} page */
export async function listening(page) {
  await page.addInitScript(() => {
    const Real = window.EventSource;
    window.EventSource = class extends Real {
      constructor(/** @type {string | URL} */ url, /** @type {EventSourceInit | undefined} */ options) {
        super(url, options);
        if (String(url).endsWith("/sim/api/events")) Object.assign(window, { stream: this });
      }
    };
  });
}

/** Tells a page an event. @param {Page} page @param {string} name @param {object} data */
export async function tell(page, name, data) {
  await page.evaluate(
    ([name, data]) => /** @type {any} */ (window).stream.dispatchEvent(new MessageEvent(name, { data })),
    [name, JSON.stringify(data)],
  );
}

export const SESSION = "20260101-000000-0001";

/** A run from its start to the middle. @param {Page} page */
export async function tellRun(page) {
  const about = (/** @type {number} */ time) => ({ session: SESSION, time });
  await tell(page, "evaluation", { kind: "start", ...about(0), world: "technical", command: "python3 run.py", time_limit_s: 180 });
  await tell(page, "evaluation", { kind: "phase", ...about(0), phase: "starting" });
  await tell(page, "run", { phase: "start", command: "python3 run.py" });
  await tell(page, "evaluation", { kind: "phase", ...about(0), phase: "running" });
  for (const line of ["connected to the car", "lap 1, driving by lidar"]) await tell(page, "run", { phase: "log", stream: "stdout", line });
  await tell(page, "run", { phase: "log", stream: "stderr", line: "warning: the camera is slow" });
  await tell(page, "evaluation", { kind: "log", ...about(0.4), line: "the clock runs" });
  await tell(page, "evaluation", { kind: "log", ...about(11.1), line: "off the road: +5 s" });
  await tell(page, "evaluation", { kind: "record", ...about(12.4), record: 17.38 });
}

/** And to its end. @param {Page} page */
export async function tellEnd(page) {
  await tell(page, "run", { phase: "exit", exit_code: 0 });
  await tell(page, "evaluation", { kind: "end", session: SESSION, time: 31.52, outcome: "finished", record: 36.52, reason: null });
}

/** What was recorded before, newest first. @returns {object[]} */
export function records() {
  const values = [36.52, 38.1, 44.02, 39.4, null, 41.2, 52.75, 61.3];
  return values.map((record, i) => ({
    session: `20260101-00000${i}-0001`, outcome: record === null ? "timeout" : "finished", record, reason: null, better: "lower", world: "technical",
    world_id: null, rev: null, command: "python3 run.py", time_limit_s: 180, seed: 0,
    started_at: `2026-01-01T${String(20 - i).padStart(2, "0")}:00:00Z`, ended_at: null, elapsed_s: 31.5, events: [],
  }));
}
