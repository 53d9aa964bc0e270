// @ts-check
/** Writes the response of `GET /evaluation/replay` for tests, and makes test runs and records. */

/** Columns of the car with one number per sample, besides `time`. */
export const COLUMNS = (
  "x y z qx qy qz qw speed steering steer_left steer_right wheel0 wheel1 wheel2 wheel3 pan tilt " +
  "command_speed command_steering offset along"
).split(" ");

/** @typedef {{ time: number, [column: string]: number }} Row */
/** @typedef {{ name: string, rows: Row[] }} ObjectRows */

/** The fields of the header besides `samples`, columns and objects. */
export const HEADER = {
  session: "20260101-000000-0001",
  world: "oval",
  world_sha256: null,
  duration: 2,
  complete: true,
  rate: 50,
  lights: [],
  contacts: [],
  jumps: [],
  brightness: [],
  overlays: [],
};

/**
 * Encodes a run. Missing values are 0, and 1 for `qw`.
 * @param {readonly Row[]} rows @param {object} [header] @param {readonly ObjectRows[]} [objects]
 * @returns {ArrayBuffer}
 */
export function encodeRun(rows, header = {}, objects = []) {
  /** @type {{ offset: number, bytes: Uint8Array }[]} */
  const parts = [];
  let end = 0;
  const add = (/** @type {string} */ name, /** @type {Float32Array | Float64Array} */ values) => {
    const offset = end;
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    parts.push({ offset, bytes });
    end = 8 * Math.ceil((end + bytes.length) / 8);
    return { name, type: values instanceof Float64Array ? "f64" : "f32", offset, count: values.length };
  };
  const addAll = (/** @type {readonly Row[]} */ from, /** @type {readonly string[]} */ names) => [
    add("time", Float64Array.from(from, (row) => row.time)),
    ...names.map((name) => add(name, Float32Array.from(from, (row) => row[name] ?? (name === "qw" ? 1 : 0)))),
  ];
  const columns = addAll(rows, COLUMNS);
  const moved = objects.map((object) => ({ name: object.name, columns: addAll(object.rows, COLUMNS.slice(0, 7)) }));
  const json = new TextEncoder().encode(
    JSON.stringify({ ...HEADER, samples: rows.length, columns, objects: moved, ...header }),
  );
  const length = 8 * Math.ceil((12 + json.length) / 8) - 12;
  const file = new Uint8Array(12 + length + end);
  file.fill(0x20, 12, 12 + length);
  file.set(new TextEncoder().encode("CHTRACK1"));
  new DataView(file.buffer).setUint32(8, length, true);
  file.set(json, 12);
  for (const { offset, bytes } of parts) file.set(bytes, 12 + length + offset);
  return file.buffer;
}

/**
 * Rows of a car that drives along the x axis, one row per 20 ms. The column `along` starts again at
 * 0 after `length` metres, as on a loop. The car begins at `from` metres and starts to move after
 * `wait` seconds.
 * @param {{ length: number, seconds: number, from?: number, wait?: number,
 *           speed: number | ((time: number) => number) }} options
 * @returns {Row[]}
 */
export function driveLoop({ length, seconds, from = 0, wait = 0, speed }) {
  const speedAt = typeof speed === "number" ? () => speed : speed;
  /** @type {Row[]} */
  const rows = [];
  let at = from;
  for (let tick = 0; tick <= Math.round(seconds * 50); tick++) {
    const time = tick / 50;
    const now = time > wait ? speedAt(time) : 0;
    if (tick > 0) at += now / 50;
    rows.push({ time, x: at, y: 0, speed: now, along: ((at % length) + length) % length, offset: 0 });
  }
  return rows;
}

let count = 0;

/**
 * A record with a journal.
 * @param {unknown} record @param {object} [fields]
 * @returns {import("../src/net/session.ts").EvaluationRecord}
 */
export function makeRecord(record, fields = {}) {
  count++;
  return /** @type {any} */ ({
    session: `run-${count}`,
    outcome: "finished",
    record,
    better: "lower",
    world: "oval",
    started_at: `2026-01-01T00:00:${String(count % 60).padStart(2, "0")}Z`,
    journal: { bytes: 1, sha256: "00" },
    ...fields,
  });
}

/**
 * Events of a record that follows the clock, ten times per second. At the time `from`, the record
 * is `add`.
 * @param {number} from @param {number} to @param {number} [add]
 * @returns {import("../src/wire/sim.ts").RecordedEvent[]}
 */
export function clockRecords(from, to, add = 0) {
  const times = Array.from({ length: Math.round((to - from) * 10) + 1 }, (_, i) => from + i / 10);
  return times.map((time) => ({ kind: "record", time, record: Number((time - from + add).toFixed(3)) }));
}
