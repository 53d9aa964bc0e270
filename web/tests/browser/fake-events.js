// @ts-check
/**
 * Lets a test emit evaluation events on the event stream of a page, and sets the record of the run,
 * without the server.
 */

/** @import { Page } from "playwright-core" */

/**
 * Makes the event stream of the page available as `window.stream`. Call this before the page opens.
 * @param {Page} page
 */
export async function captureEventStream(page) {
  await setRecord(page);
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

/**
 * Emits an event on the captured event stream of the page.
 * @param {Page} page @param {string} name @param {object} data
 */
export async function emitEvent(page, name, data) {
  await page.evaluate(
    ([name, data]) => /** @type {any} */ (window).stream.dispatchEvent(new MessageEvent(name, { data })),
    [name, JSON.stringify(data)],
  );
}

export const SESSION = "20260101-000000-0001";

/** What a crashed program printed at its end. */
export const TRACEBACK = [
  "Traceback (most recent call last):",
  '  File "/home/ada/run.py", line 12, in <module>',
  "    import nunpy as np",
  "ModuleNotFoundError: No module named 'nunpy'",
];

/** The fields of the record of an ordinary run, in which no other sender sent commands. */
const QUIET = {
  student: "Ada Lovelace",
  program: { sha256: "00", files: 1, bytes: 420 },
  chicane: { version: "0.1.0", commit: "a89582000000" },
  pace: "real",
  box: "closed",
  network: "none",
  wall_limit_s: 900,
  run: { exit_code: 0, signal: null, oom: false, output_tail: ["lap 1, driving by lidar"] },
  interference: { count: 0, first: [] },
  refused: { count: 0, first: [] },
  journal: null,
};

/** The part of a record about a program that crashed. */
export const CRASHED = {
  outcome: "finished",
  record: null,
  run: { exit_code: 1, signal: null, oom: false, output_tail: TRACEBACK },
};

/** The part of a record about a run with commands of other senders and with refused commands. */
export const DISTURBED = {
  interference: {
    count: 23,
    first: [
      { time: 3.2, source: "viewer", path: "/sim/api/models/box1/pose", values: { name: "box1", x: 1.25, y: -0.5 } },
      { time: 4.8, source: "api", path: "/sim/api/pose", values: { x: 0, y: 0, yaw: 3.141593 } },
      { time: 62.05, source: "ros", path: "/cmd_vel", values: { speed: 0.5, steering: 0 } },
    ],
  },
  refused: {
    count: 2,
    first: [
      { time: 1, source: "student", path: "/sim/api/pose", values: { method: "POST" } },
      { time: 1.5, source: "student", path: "/sim/api/clock", values: { method: "POST" } },
    ],
  },
};

/**
 * Sets the record that the page fetches for the emitted run.
 * @param {Page} page @param {object} [fields]
 */
export async function setRecord(page, fields = {}) {
  await page.route(`**/sim/api/evaluation/record?session=${SESSION}`, (route) =>
    route.fulfill({ json: { ...records()[0], session: SESSION, ...fields } }),
  );
}

/** Emits the events of a run from its start until it is in progress. @param {Page} page */
export async function emitRunStart(page) {
  // The page fetches the current session when it opens. The response would replace the run.
  await page.waitForFunction(() => {
    const loaded = performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname);
    return loaded.includes("/sim/api/evaluation/session");
  });
  const about = (/** @type {number} */ time) => ({ session: SESSION, time });
  await emitEvent(page, "evaluation", {
    kind: "start",
    ...about(0),
    world: "technical",
    command: "python3 run.py",
    time_limit_s: 180,
  });
  await emitEvent(page, "evaluation", { kind: "phase", ...about(0), phase: "starting" });
  await emitEvent(page, "run", { phase: "start", command: "python3 run.py" });
  await emitEvent(page, "evaluation", { kind: "phase", ...about(0), phase: "running" });
  for (const line of ["connected to the car", "lap 1, driving by lidar"])
    await emitEvent(page, "run", { phase: "log", stream: "stdout", line });
  await emitEvent(page, "run", { phase: "log", stream: "stderr", line: "warning: the camera is slow" });
  await emitEvent(page, "evaluation", { kind: "log", ...about(0.4), line: "the clock runs" });
  await emitEvent(page, "evaluation", { kind: "log", ...about(11.1), line: "off the road: +5 s" });
  await emitEvent(page, "evaluation", { kind: "record", ...about(12.4), record: 17.38 });
}

/** Emits the events of a crash of the program. The run goes on. @param {Page} page */
export async function emitCrash(page) {
  for (const line of TRACEBACK) await emitEvent(page, "run", { phase: "log", stream: "stderr", line });
  await emitEvent(page, "run", { phase: "exit", exit_code: 1 });
}

/** Emits the end of a run whose program crashed. @param {Page} page */
export async function emitFailedEnd(page) {
  const end = { kind: "end", session: SESSION, time: 0.3, outcome: "finished", record: null, reason: null };
  await emitEvent(page, "evaluation", end);
}

/** Emits the events at the end of the run that `emitRunStart` started. @param {Page} page */
export async function emitRunEnd(page) {
  await emitEvent(page, "run", { phase: "exit", exit_code: 0 });
  await emitEvent(page, "evaluation", {
    kind: "end",
    session: SESSION,
    time: 31.52,
    outcome: "finished",
    record: 36.52,
    reason: null,
  });
}

/** Records of earlier runs, newest first. @returns {object[]} */
export function records() {
  const values = [36.52, 38.1, 44.02, 39.4, null, 41.2, 52.75, 61.3];
  return values.map((record, i) => ({
    session: `20260101-00000${i}-0001`,
    outcome: record === null ? "timeout" : "finished",
    record,
    reason: null,
    better: "lower",
    world: "technical",
    world_id: null,
    rev: null,
    command: "python3 run.py",
    time_limit_s: 180,
    seed: 0,
    started_at: `2026-01-01T${String(20 - i).padStart(2, "0")}:00:00Z`,
    ended_at: null,
    elapsed_s: 31.5,
    judge: { sha256: "00", observations: 1575, wait_s: 0.2 },
    ...QUIET,
    ...(i === 1 && DISTURBED),
    ...(i === 2 && CRASHED),
    ...(i === 3 && { outcome: "stopped", reason: "wall-clock limit of 900 s" }),
    events: [],
  }));
}
