import { describe, expect, it } from "vitest";
import { parseWaypoints, routeFacts } from "../../src/net/routes.ts";

/** A NumPy file of version 1. */
function npy(rows: readonly (readonly number[])[], descr = "<f8", order = "False"): ArrayBuffer {
  const columns = rows[0]?.length ?? 0;
  const header = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': (${rows.length}, ${columns}), }`.padEnd(117) + "\n";
  const bytes = new ArrayBuffer(10 + header.length + rows.length * columns * 8);
  const view = new DataView(bytes);
  [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0].forEach((byte, i) => view.setUint8(i, byte));
  view.setUint16(8, header.length, true);
  [...header].forEach((character, i) => view.setUint8(10 + i, character.charCodeAt(0)));
  rows.flat().forEach((value, i) => view.setFloat64(10 + header.length + 8 * i, value, true));
  return bytes;
}

const circle = (radius: number, count: number) =>
  Array.from({ length: count + 1 }, (_, i): [number, number] => {
    const angle = (2 * Math.PI * i) / count;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });

describe("the route of a world", () => {
  it("is read from a NumPy file", () => {
    const rows = [
      [1, 2, 3, 4, 5, 6],
      [-1.5, 2.25, 0, 0, 0, 0],
    ];
    expect(parseWaypoints(npy(rows))).toEqual([
      [1, 2],
      [-1.5, 2.25],
    ]);
  });

  it("is refused if the file is another one or incomplete", () => {
    const rows = [[1, 2, 3, 4, 5, 6]];
    expect(() => parseWaypoints(new ArrayBuffer(4))).toThrow("not a NumPy file");
    expect(() => parseWaypoints(npy(rows, "<f4"))).toThrow("not an array of waypoints");
    expect(() => parseWaypoints(npy(rows, "<f8", "True"))).toThrow("not an array of waypoints");
    expect(() => parseWaypoints(npy(rows).slice(0, -1))).toThrow("an incomplete file");
  });

  it("has a length, a tightest radius, and a difficulty by its bends", () => {
    const wide = routeFacts(circle(3, 200));
    expect(wide?.length).toBeCloseTo(2 * Math.PI * 3, 1);
    expect(wide?.radius).toBeCloseTo(3, 1);
    expect(wide?.turning).toBeCloseTo(180 / Math.PI / 3, 0);
    expect(wide?.difficulty).toBe("easy");
    expect(routeFacts(circle(2, 200))?.difficulty).toBe("medium");
    expect(routeFacts(circle(1, 200))?.difficulty).toBe("hard");
  });

  it("may be a straight line, and is not known without a length", () => {
    const straight = routeFacts([
      [0, 0],
      [2, 0],
      [2, 0],
      [9, 0],
    ]);
    expect(straight?.length).toBe(9);
    expect(straight?.turning).toBeCloseTo(0, 9);
    expect(straight?.difficulty).toBe("easy");
    expect(routeFacts([])).toBeNull();
    expect(routeFacts([[1, 1], [1, 1]])).toBeNull();
  });
});
