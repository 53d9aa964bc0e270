import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { correction, encode, formatBits, pathOf, penalty, versionBits } from "../../src/build/qr.ts";

const rows = (text: string, mask: number): string[] =>
  (encode(text, mask)?.modules ?? []).map((row) => row.map((isDark) => (isDark ? "#" : ".")).join(""));

/**
 * The version-1 code of the text "Chicane" with mask 0, drawn by the npm package `qrcode` 1.5.4.
 */
const CHICANE = `
#######..#..#.#######
#.....#.##..#.#.....#
#.###.#...#.#.#.###.#
#.###.#..##...#.###.#
#.###.#.##..#.#.###.#
#.....#..#..#.#.....#
#######.#.#.#.#######
.........#.##........
#.#.#.#....#....#..#.
.##.##.#.#....##.####
#..##.#.....#...#.###
.#####.###....#.....#
...##.#.#...#.###...#
........#.##.#.#####.
#######..###.########
#.....#....###.##...#
#.###.#.##.#.###...##
#.###.#..##...####.#.
#.###.#.###.#..###..#
#.....#...#...#....#.
#######.#...#.#.#..##`;

/**
 * SHA-256 of the rows of codes drawn by the same package: with 2 blocks, with version information,
 * and with blocks of two lengths.
 */
const DRAWN = [
  {
    text: "http://127.0.0.1:8000/sim?world=0123456789abcdef0123456789abcdef",
    mask: 2,
    size: 37,
    hash: "b6c8bebb218356769446aa0646398a4669154538f33a4ae2f69bb436ce6a23ef",
  },
  {
    text: "x".repeat(120),
    mask: 6,
    size: 45,
    hash: "9d9b0dba533f427c2073b19ff552ba40fd13eaac816d6bfaaed42f5b6a6fb0e1",
  },
  {
    text: "ä".repeat(106),
    mask: 5,
    size: 57,
    hash: "253a0b124c78ff0ffb101e78d401885a831c81734e4aa1e608ee9c390d1711b3",
  },
];

describe("a QR code", () => {
  it("has the error correction of the example in the standard's literature", () => {
    const hello = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17];
    expect(correction(hello, 10)).toEqual([196, 35, 39, 119, 235, 215, 231, 226, 93, 23]);
  });

  it("has the format and version bits of the standard's tables", () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7].map((mask) => formatBits(mask).toString(2))).toEqual([
      "101010000010010",
      "101000100100101",
      "101111001111100",
      "101101101001011",
      "100010111111001",
      "100000011001110",
      "100111110010111",
      "100101010100000",
    ]);
    expect([7, 8, 9, 10].map((version) => versionBits(version).toString(16))).toEqual(["7c94", "85bc", "9a99", "a4d3"]);
  });

  it("equals the code of another program", () => {
    expect(`\n${rows("Chicane", 0).join("\n")}`).toBe(CHICANE);
    for (const { text, mask, size, hash } of DRAWN) {
      const drawn = rows(text, mask);
      expect([drawn.length, createHash("sha256").update(drawn.join("\n")).digest("hex")]).toEqual([size, hash]);
    }
  });

  it("has the mask with the lowest penalty", () => {
    const text = DRAWN[0].text;
    const penalties = Array.from({ length: 8 }, (_, mask) => penalty(encode(text, mask)?.modules ?? []));
    const chosen = encode(text);
    expect(chosen?.mask).toBe(2);
    expect(penalty(chosen?.modules ?? [])).toBe(Math.min(...penalties));
  });

  it("holds 213 bytes and not more", () => {
    expect(encode("x".repeat(213))?.size).toBe(57);
    expect(encode("x".repeat(214))).toBeNull();
    expect(encode("ä".repeat(107))).toBeNull();
    expect(encode("")?.size).toBe(21);
  });

  it("is drawn with a margin of four modules", () => {
    const code = encode("Chicane", 0);
    const drawn = code && pathOf(code);
    expect(drawn?.size).toBe(29);
    expect(drawn?.path.startsWith("M4 4h1v1h-1zM5 4h1v1h-1z")).toBe(true);
    expect(drawn?.path.match(/M/g)?.length).toBe(CHICANE.replace(/[^#]/g, "").length);
  });
});
