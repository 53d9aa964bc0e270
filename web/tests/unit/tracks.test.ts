import { describe, expect, it } from "vitest";
import { CAR_COLUMNS, MAX_BYTES, parseTracks, TracksError } from "../../src/net/tracks.ts";
import { en } from "../../src/strings/en.ts";
import { COLUMNS, encodeRun, HEADER } from "../run-file.js";

const ROWS = [
  { time: 0, x: 1, y: 2, speed: 0.5, offset: Number.NaN, along: Number.NaN },
  { time: 0.02, x: 1.5, y: 2, speed: 0.6, offset: 0.1, along: 3 },
];

/**
 * The file with a changed header. The offsets of the columns stay valid, because they are relative
 * to the end of the header.
 */
function withHeader(file: ArrayBuffer, change: (header: Record<string, any>) => void): ArrayBuffer {
  const length = new DataView(file).getUint32(8, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 12, length)));
  change(header);
  const text = new TextEncoder().encode(JSON.stringify(header));
  const padded = 8 * Math.ceil((12 + text.length) / 8) - 12;
  const out = new Uint8Array(12 + padded + file.byteLength - 12 - length).fill(0x20);
  out.set(new Uint8Array(file, 0, 8));
  new DataView(out.buffer).setUint32(8, padded, true);
  out.set(text, 12);
  out.set(new Uint8Array(file, 12 + length), 12 + padded);
  return out.buffer;
}

describe("tracks of a run", () => {
  it("have the columns of the API", () => {
    expect([...CAR_COLUMNS]).toEqual(COLUMNS);
  });

  it("contain the car, moved objects and lists sorted by time", () => {
    const tracks = parseTracks(
      encodeRun(
        ROWS,
        {
          duration: 0.02,
          jumps: [3, 1],
          contacts: [
            { time: 2, name: "b", duration: 0.5 },
            { time: 1, name: "a", duration: 0 },
          ],
          lights: [{ name: "signal1", changes: [{ time: 0, state: "green" }] }],
          brightness: [{ time: 0, value: 0.5 }],
          overlays: [{ time: 0, text: "go", ttl: 2, size: 1 }],
        },
        [{ name: "box1", rows: [{ time: 0, x: 4, y: 5 }] }],
      ),
    );
    expect([...tracks.car.time]).toEqual([0, 0.02]);
    expect([...tracks.car.x]).toEqual([1, 1.5]);
    expect([...tracks.car.qw]).toEqual([1, 1]);
    expect(tracks.car.along[0]).toBeNaN();
    expect(tracks.objects.get("box1")?.x[0]).toBe(4);
    expect(tracks.jumps).toEqual([1, 3]);
    expect(tracks.contacts.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(tracks.lights.get("signal1")).toEqual([{ time: 0, state: "green" }]);
    expect([tracks.session, tracks.world, tracks.duration, tracks.complete]).toEqual([HEADER.session, "oval", 0.02, true]);
  });

  it("are refused if they are cut at any byte", () => {
    // Columns with an even number of rows need no padding, so every byte of the file is needed.
    const box = [0, 1].map((time) => ({ time, x: 4, y: 5 }));
    const file = encodeRun(ROWS, {}, [{ name: "box1", rows: box }]);
    for (let length = 0; length < file.byteLength; length++)
      expect(() => parseTracks(file.slice(0, length)), `${length} bytes`).toThrow(TracksError);
    expect(() => parseTracks(file)).not.toThrow();
  });

  it("are refused with a reason if a field is hostile", () => {
    const file = encodeRun(ROWS);
    const { damage } = en.replay;
    const column = (header: Record<string, any>, name: string) =>
      header["columns"].find((one: { name: string }) => one.name === name);
    const cases: [string, (header: Record<string, any>) => void][] = [
      [damage.field("samples"), (header) => (header["samples"] = "2")],
      [damage.field("samples"), (header) => (header["samples"] = 0)],
      [damage.limit("samples"), (header) => (header["samples"] = 1e9)],
      [damage.rows("time"), (header) => (header["samples"] = 3)],
      [damage.missing("speed"), (header) => (column(header, "speed").name = "sped")],
      [damage.field("speed"), (header) => (column(header, "speed").type = "u32")],
      [damage.field("speed"), (header) => (column(header, "speed").offset += 2)],
      [damage.field("offset"), (header) => (column(header, "speed").offset = -8)],
      [damage.field("offset"), (header) => (column(header, "speed").offset = 0.5)],
      [damage.truncated, (header) => (column(header, "speed").offset = 1e6)],
      [damage.limit("offset"), (header) => (column(header, "speed").offset = 8 * MAX_BYTES)],
      [damage.rows("speed"), (header) => (column(header, "speed").count = 1)],
      [damage.field("columns"), (header) => (header["columns"] = { length: 2 })],
      [damage.limit("columns"), (header) => (header["columns"] = Array.from({ length: 101 }, () => ({})))],
      [damage.field("objects"), (header) => (header["objects"] = null)],
      [damage.field("objects"), (header) => (header["objects"] = [null])],
      [damage.field("duration"), (header) => (header["duration"] = -1)],
      [damage.field("jumps"), (header) => (header["jumps"] = [null])],
      [damage.field("state"), (header) => (header["lights"] = [{ name: "a", changes: [{ time: 0, state: "blue" }] }])],
      [damage.field("time"), (header) => (header["contacts"] = [{ name: "a", duration: 1 }])],
    ];
    for (const [detail, change] of cases)
      expect(() => parseTracks(withHeader(file, change)), detail).toThrow(en.replay.damaged(detail));
  });

  it("are refused if times go back or a position is not a number", () => {
    expect(() => parseTracks(encodeRun([{ time: 1 }, { time: 0.5 }]))).toThrow(en.replay.damage.field("time"));
    expect(() => parseTracks(encodeRun([{ time: Number.NaN }]))).toThrow(en.replay.damage.field("time"));
    expect(() => parseTracks(encodeRun([{ time: 0, x: Number.NaN }]))).toThrow(en.replay.damage.field("x"));
    expect(() => parseTracks(encodeRun([{ time: 0, qz: Number.POSITIVE_INFINITY }]))).toThrow(en.replay.damage.field("qz"));
  });

  it("are refused if they are another file or have a broken header", () => {
    const file = encodeRun(ROWS);
    const changed = (at: number, value: number) => {
      const bytes = new Uint8Array(file.slice(0));
      bytes[at] = value;
      return bytes.buffer;
    };
    const html = new TextEncoder().encode("<!doctype html><p>proxy error</p>");
    expect(() => parseTracks(html.buffer)).toThrow(en.replay.damage.magic);
    expect(() => parseTracks(changed(0, 0x58))).toThrow(en.replay.damage.magic);
    expect(() => parseTracks(changed(12, 0x58))).toThrow(en.replay.damage.header);
    expect(() => parseTracks(changed(14, 0xff))).toThrow(en.replay.damage.header);
    expect(() => parseTracks(changed(11, 0xff))).toThrow(en.replay.damage.limit("header"));
  });
});
