// @ts-check
/**
 * Runs for screenshots: made-up records, and tracks of cars that follow the centre line. No
 * evaluation is needed for them.
 */
import { clockRecords, encodeRun, HEADER } from "../run-file.js";
import { records, TRACEBACK } from "./fake-events.js";

/** @import { Page } from "playwright-core" */

export const RUN = "20260105-101500-0001";
export const GHOST = "20260104-093000-0001";
export const CRASH = "20260105-111500-0001";
export const OLD = "20250105-111500-0001";

/**
 * The centre line as a function of the distance along it in metres.
 * @param {number[][]} points
 */
function centreLine(points) {
  const lengths = points.map(([x, y], i) => (i === 0 ? 0 : Math.hypot(x - points[i - 1][0], y - points[i - 1][1])));
  const ends = lengths.map((_, i) => lengths.slice(0, i + 1).reduce((a, b) => a + b));
  const length = ends[ends.length - 1];
  const at = (/** @type {number} */ along) => {
    const s = ((along % length) + length) % length;
    const i = Math.max(1, ends.findIndex((end) => end >= s));
    const part = lengths[i] > 0 ? (s - ends[i - 1]) / lengths[i] : 0;
    const [a, b] = [points[i - 1], points[i]];
    return { x: a[0] + part * (b[0] - a[0]), y: a[1] + part * (b[1] - a[1]) };
  };
  return { length, at };
}

/**
 * A car that drives a lap. It weaves around the centre line, brakes in bends, and leaves the road
 * after `offRoad` metres unless this is null.
 * @param {any} world Response of `GET /world`.
 * @param {{ speed: number, wait: number, weave: number, offRoad: number | null }} options
 */
function driveLap(world, { speed, wait, weave, offRoad }) {
  const line = centreLine(world.track.route.waypoints);
  const rows = [];
  /** @type {number[]} */
  const jumps = [];
  let along = -0.185;
  let now = 0;
  let spin = 0;
  for (let tick = 0; along + 0.135 < line.length; tick++) {
    const time = tick / 50;
    const [back, here, ahead] = [-0.25, 0, 0.25].map((by) => line.at(along + by));
    const [before, after] = [Math.atan2(here.y - back.y, here.x - back.x), Math.atan2(ahead.y - here.y, ahead.x - here.x)];
    const bend = Math.atan2(Math.sin(after - before), Math.cos(after - before)) / 0.25;
    const wanted = time < wait ? 0 : speed / (1 + 0.55 * Math.abs(bend));
    now += Math.max(-0.05, Math.min(0.03, wanted - now));
    const leaves = offRoad !== null && along > offRoad && along < offRoad + 0.8 ? (along - offRoad) / 2 : 0;
    const offset = weave * Math.sin(1.7 * along) - leaves;
    const yaw = (before + after) / 2 + weave * Math.cos(1.7 * along) * 1.2 - (leaves > 0 ? 0.5 : 0);
    const steering = Math.max(-0.4, Math.min(0.4, 0.2 * bend + 0.4 * weave * Math.sin(1.7 * along + 1)));
    rows.push({
      time,
      x: here.x - offset * Math.sin((before + after) / 2),
      y: here.y + offset * Math.cos((before + after) / 2),
      qz: Math.sin(yaw / 2),
      qw: Math.cos(yaw / 2),
      speed: now,
      steering,
      steer_left: steering,
      steer_right: steering,
      wheel0: spin,
      wheel1: spin,
      wheel2: spin,
      wheel3: spin,
      command_speed: wanted,
      command_steering: steering,
      offset,
      along: ((along % line.length) + line.length) % line.length,
    });
    if (leaves > 0.38) {
      jumps.push(time + 0.005);
      along += 0.3;
      offRoad = null;
      now = 0;
    }
    along += now / 50;
    spin = (spin + now / 50 / 0.033) % (2 * Math.PI);
  }
  return { rows, jumps, duration: rows[rows.length - 1].time };
}

/**
 * Serves four runs of a world: one with penalties, a better one, one that crashed, and one without
 * a journal.
 * @param {Page} page @param {any} world Response of `GET /world`.
 */
export async function serveRuns(page, world) {
  const slow = driveLap(world, { speed: 1.25, wait: 1.2, weave: 0.06, offRoad: 5.2 });
  const fast = driveLap(world, { speed: 1.5, wait: 0.4, weave: 0.03, offRoad: null });
  const about = { ...records()[0], world: world.world, journal: { bytes: 1, sha256: "00" } };
  const lost = slow.jumps[0];
  const score = Number((slow.duration - 1.3 + 5).toFixed(2));
  /** @param {number} time @param {string} text */
  const line = (time, text) => ({ time, kind: "run", phase: "log", stream: "stdout", line: text });
  const runs = [
    {
      ...about,
      session: RUN,
      record: score,
      elapsed_s: slow.duration,
      started_at: "2026-01-05T10:15:00Z",
      student: "Grace Hopper",
      events: [
        { time: 0, kind: "run", phase: "start", command: "python3 run.py" },
        line(0.08, "connected to the car"),
        line(0.9, "camera calibrated: 480 × 360"),
        { time: 1.3, kind: "log", line: "1.30 s: the clock runs" },
        ...clockRecords(1.3, lost),
        line(3.4, "curve ahead, slowing down"),
        { time: lost, kind: "log", line: `${lost.toFixed(2)} s: the car left the road, +5 s` },
        { time: lost + 0.02, kind: "run", phase: "log", stream: "stderr", line: "warning: no lane found in the image" },
        ...clockRecords(lost + 0.1, slow.duration, lost + 0.1 - 1.3 + 5),
        line(lost + 1.1, "lane found again"),
        line(slow.duration - 2, "finish line in sight"),
        { time: slow.duration, kind: "log", line: "lap completed" },
        { time: slow.duration, kind: "record", record: score },
        { time: slow.duration, kind: "run", phase: "exit", exit_code: 0 },
        { time: slow.duration, kind: "end", outcome: "finished", record: score },
      ],
    },
    { ...about, session: GHOST, record: Number((fast.duration - 0.5).toFixed(2)), started_at: "2026-01-04T09:30:00Z" },
    {
      ...about,
      session: CRASH,
      record: null,
      elapsed_s: 2.4,
      student: "Charles Babbage",
      started_at: "2026-01-05T11:15:00Z",
      run: { exit_code: 1, signal: null, oom: false, output_tail: TRACEBACK },
      events: [
        { time: 0, kind: "run", phase: "start", command: "python3 run.py" },
        line(0.1, "connected to the car"),
        ...TRACEBACK.map((text) => ({ time: 2.3, kind: "run", phase: "log", stream: "stderr", line: text })),
        { time: 2.3, kind: "run", phase: "exit", exit_code: 1 },
        { time: 2.4, kind: "log", line: "2.40 s: the program ended with exit status 1, so there is no result" },
      ],
    },
    { ...about, session: OLD, record: 88.1, journal: null, started_at: "2025-01-05T11:15:00Z" },
  ];
  const file = (/** @type {string} */ session) => {
    const { rows, jumps, duration } = session === GHOST ? fast : slow;
    const kept = session === CRASH ? rows.filter((row) => row.time <= 2.4) : rows;
    const changes = [
      { time: 0, state: "green" },
      { time: 6, state: "yellow" },
      { time: 9, state: "red" },
    ];
    return encodeRun(kept, {
      ...HEADER,
      session,
      world: world.world,
      duration: session === CRASH ? 2.4 : duration,
      jumps: session === GHOST ? [] : jumps.filter((time) => time < (kept.at(-1)?.time ?? 0)),
      lights: world.objects["signal1"] ? [{ name: "signal1", changes }] : [],
      contacts: session === RUN ? [{ time: lost - 0.3, name: "box1", duration: 0.35 }] : [],
    });
  };
  const sessionOf = (/** @type {string} */ url) => new URL(url).searchParams.get("session") ?? "";
  const missing = { status: 404, json: { error: "no record", code: "no_record" } };
  await page.route("**/sim/api/evaluation/records?*", (route) => route.fulfill({ json: { records: runs } }));
  await page.route("**/sim/api/evaluation/record?*", (route) => {
    const run = runs.find((one) => one.session === sessionOf(route.request().url()));
    return route.fulfill(run ? { json: run } : missing);
  });
  await page.route("**/sim/api/evaluation/replay?*", (route) => {
    const session = sessionOf(route.request().url());
    if (session === OLD)
      return route.fulfill({
        status: 409,
        json: { error: "This run has no journal: it ran under an older version.", code: "no_journal" },
      });
    if (!runs.some((one) => one.session === session)) return route.fulfill(missing);
    return route.fulfill({ body: Buffer.from(file(session)), contentType: "application/octet-stream" });
  });
  await page.route("**/sim/api/evaluation/replay/camera?*", async (route) => {
    const live = await route.fetch({ url: new URL("/camera", route.request().url()).href });
    return route.fulfill({ response: live });
  });
}
