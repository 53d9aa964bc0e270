/**
 * Parses the tracks of a run: the response of `GET /evaluation/replay`.
 *
 * The response is a JSON header and then columns of numbers. The parser does not trust the
 * response: it checks every field, and a column must lie completely within the response.
 */
import { t } from "../strings.ts";
import type { LightState } from "../wire/sim.ts";

/**
 * Columns with one value per sample of the car, besides `time`. Lengths in metres, angles in
 * radians.
 */
export const CAR_COLUMNS = [
  "x",
  "y",
  "z",
  "qx",
  "qy",
  "qz",
  "qw",
  "speed",
  "steering",
  "steer_left",
  "steer_right",
  "wheel0",
  "wheel1",
  "wheel2",
  "wheel3",
  "pan",
  "tilt",
  "command_speed",
  "command_steering",
  "offset",
  "along",
] as const;
export type CarColumn = (typeof CAR_COLUMNS)[number];

/** Columns of an object, besides `time`. */
const OBJECT_COLUMNS = ["x", "y", "z", "qx", "qy", "qz", "qw"] as const;
/** These columns contain NaN in a world without a route. All others are finite. */
const NAN_COLUMNS: readonly string[] = ["offset", "along"] satisfies CarColumn[];

/** Poses over time. Row i of each column belongs to `time[i]`. */
export interface PoseColumns {
  /** Simulated seconds since the start of the run, in ascending order. */
  readonly time: Float64Array;
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly z: Float32Array;
  readonly qx: Float32Array;
  readonly qy: Float32Array;
  readonly qz: Float32Array;
  readonly qw: Float32Array;
}

export type CarTrack = PoseColumns & Readonly<Record<CarColumn, Float32Array>>;

export interface LightChange {
  time: number;
  state: LightState;
}

/** Times are simulated seconds since the start of the run. All lists are sorted by time. */
export interface RunTracks {
  readonly session: string;
  readonly world: string;
  readonly duration: number;
  /** False if the simulator ended before the run did. */
  readonly complete: boolean;
  readonly car: CarTrack;
  /** Objects that moved, by name. There is one row per change. */
  readonly objects: ReadonlyMap<string, PoseColumns>;
  readonly lights: ReadonlyMap<string, readonly LightChange[]>;
  readonly contacts: readonly { time: number; name: string; duration: number }[];
  /** Times at which the car was teleported. */
  readonly jumps: readonly number[];
  readonly brightness: readonly { time: number; value: number }[];
  readonly overlays: readonly { time: number; text: string; ttl: number; size: number }[];
}

/** Largest response, bytes. An hour of driving takes about 17 MB. */
export const MAX_BYTES = 512 * 1024 * 1024;
const MAGIC = "CHTRACK1";
/** Size of the magic number and of the header's length. */
const PREFIX_BYTES = 12;
const MAX_HEADER_BYTES = 64 * 1024 * 1024;
const MAX_SAMPLES = 2_000_000;
/** Largest number of entries of a list in the header. */
const MAX_ENTRIES = 200_000;
const MAX_OBJECTS = 10_000;

/** The error of an invalid response. The message says what is wrong with the response. */
export class TracksError extends Error {
  constructor(detail: string) {
    super(t.replay.damaged(detail));
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Parses a response. Throws a `TracksError` if it is invalid. */
export function parseTracks(buffer: ArrayBuffer): RunTracks {
  const { header, dataStart } = parsePrefix(buffer);
  const columns = new ColumnReader(buffer, dataStart);
  const samples = integer(header, "samples", 1, MAX_SAMPLES);
  const car = columns.read(header, CAR_COLUMNS, samples);
  const lights = list<[string, LightChange[]]>(header, "lights", MAX_OBJECTS, (light) => [
    text(light, "name"),
    sorted(list(light, "changes", MAX_ENTRIES, (change) => ({ time: time(change), state: lightState(change) }))),
  ]);
  const objects = list<[string, PoseColumns]>(header, "objects", MAX_OBJECTS, (object) => [
    text(object, "name"),
    columns.read(object, OBJECT_COLUMNS, null),
  ]);
  return {
    session: text(header, "session"),
    world: text(header, "world"),
    duration: number(header, "duration", 0),
    complete: header["complete"] === true,
    car,
    objects: new Map(objects),
    lights: new Map(lights),
    contacts: sorted(
      list(header, "contacts", MAX_ENTRIES, (one) => ({
        time: time(one),
        name: text(one, "name"),
        duration: number(one, "duration", 0),
      })),
    ),
    jumps: jumpTimes(header),
    brightness: sorted(
      list(header, "brightness", MAX_ENTRIES, (one) => ({ time: time(one), value: number(one, "value", 0) })),
    ),
    overlays: sorted(
      list(header, "overlays", MAX_ENTRIES, (one) => ({
        time: time(one),
        text: text(one, "text"),
        ttl: number(one, "ttl", 0),
        size: number(one, "size", 0),
      })),
    ),
  };
}

/** Reads magic number and header. `dataStart` is where the columns begin. */
function parsePrefix(buffer: ArrayBuffer): { header: Fields; dataStart: number } {
  const { damage } = t.replay;
  const bytes = new Uint8Array(buffer);
  if (bytes.length < PREFIX_BYTES) throw new TracksError(damage.truncated);
  if (String.fromCharCode(...bytes.subarray(0, MAGIC.length)) !== MAGIC) throw new TracksError(damage.magic);
  const length = new DataView(buffer).getUint32(MAGIC.length, true);
  if (length > MAX_HEADER_BYTES) throw new TracksError(damage.limit("header"));
  if (PREFIX_BYTES + length > bytes.length) throw new TracksError(damage.truncated);
  let header: unknown;
  try {
    const text = bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + length);
    header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch {
    throw new TracksError(damage.header);
  }
  return { header: fields(header, "header"), dataStart: PREFIX_BYTES + length };
}

/** Makes arrays from the columns of a response, without copying them. */
class ColumnReader {
  constructor(
    readonly buffer: ArrayBuffer,
    readonly dataStart: number,
  ) {}

  /**
   * The columns of the car or of an object. If `rows` is null, every column must have as many rows
   * as `time`.
   */
  read<Name extends string>(
    owner: Fields,
    names: readonly Name[],
    rows: number | null,
  ): Readonly<Record<Name, Float32Array>> & PoseColumns {
    const places = new Map(
      list(owner, "columns", 100, (column) => [text(column, "name"), column] as [string, Fields]),
    );
    const placeOf = (name: string) => {
      const place = places.get(name);
      if (!place) throw new TracksError(t.replay.damage.missing(name));
      return place;
    };
    const time = this.#column(placeOf("time"), "time", "f64", rows) as Float64Array;
    ascending(time);
    const columns: Record<string, Float32Array | Float64Array> = { time };
    for (const name of names) {
      const column = this.#column(placeOf(name), name, "f32", time.length) as Float32Array;
      if (!NAN_COLUMNS.includes(name)) finite(column, name);
      columns[name] = column;
    }
    return columns as unknown as Readonly<Record<Name, Float32Array>> & PoseColumns;
  }

  #column(place: Fields, name: string, type: "f32" | "f64", rows: number | null): Float32Array | Float64Array {
    const { damage } = t.replay;
    if (place["type"] !== type) throw new TracksError(damage.field(name));
    const count = integer(place, "count", 1, MAX_SAMPLES);
    const start = this.dataStart + integer(place, "offset", 0, MAX_BYTES);
    const size = type === "f32" ? 4 : 8;
    if (rows !== null && count !== rows) throw new TracksError(damage.rows(name));
    if (start % size !== 0) throw new TracksError(damage.field(name));
    if (start + size * count > this.buffer.byteLength) throw new TracksError(damage.truncated);
    // The columns are little-endian. Every machine that runs a browser is little-endian too, so no
    // conversion is needed.
    return type === "f32" ? new Float32Array(this.buffer, start, count) : new Float64Array(this.buffer, start, count);
  }
}

function ascending(times: Float64Array): void {
  let before = -1e-9;
  for (const now of times) {
    if (!(now >= before) || now === Number.POSITIVE_INFINITY) throw new TracksError(t.replay.damage.field("time"));
    before = now;
  }
}

function finite(column: Float32Array, name: string): void {
  for (const value of column) if (!Number.isFinite(value)) throw new TracksError(t.replay.damage.field(name));
}

function fields(value: unknown, name: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TracksError(t.replay.damage.field(name));
  return value as Fields;
}

function list<T>(owner: Fields, name: string, max: number, parse: (entry: Fields) => T): T[] {
  const value = owner[name];
  if (!Array.isArray(value)) throw new TracksError(t.replay.damage.field(name));
  if (value.length > max) throw new TracksError(t.replay.damage.limit(name));
  return value.map((entry) => parse(fields(entry, name)));
}

function number(owner: Fields, name: string, min: number): number {
  const value = owner[name];
  if (typeof value !== "number" || !Number.isFinite(value) || value < min)
    throw new TracksError(t.replay.damage.field(name));
  return value;
}

function integer(owner: Fields, name: string, min: number, max: number): number {
  const value = number(owner, name, min);
  if (!Number.isInteger(value)) throw new TracksError(t.replay.damage.field(name));
  if (value > max) throw new TracksError(t.replay.damage.limit(name));
  return value;
}

function text(owner: Fields, name: string): string {
  const value = owner[name];
  if (typeof value !== "string") throw new TracksError(t.replay.damage.field(name));
  return value;
}

function time(owner: Fields): number {
  return number(owner, "time", 0);
}

function lightState(owner: Fields): LightState {
  const state = text(owner, "state");
  if (state !== "red" && state !== "yellow" && state !== "green") throw new TracksError(t.replay.damage.field("state"));
  return state;
}

function jumpTimes(header: Fields): number[] {
  const jumps = header["jumps"];
  if (!Array.isArray(jumps)) throw new TracksError(t.replay.damage.field("jumps"));
  if (jumps.length > MAX_ENTRIES) throw new TracksError(t.replay.damage.limit("jumps"));
  if (!jumps.every((jump) => typeof jump === "number" && jump >= 0)) throw new TracksError(t.replay.damage.field("jumps"));
  return (jumps as number[]).toSorted((a, b) => a - b);
}

function sorted<T extends { time: number }>(entries: readonly T[]): T[] {
  return entries.toSorted((a, b) => a.time - b.time);
}
