import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const CSS = readFileSync(path.resolve(import.meta.dirname, "../../src/style/base.css"), "utf8");

/** The relative luminance of a colour `#rrggbb`, as WCAG defines it. */
function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5]
    .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

describe("the solid colours", () => {
  const solid = [...CSS.matchAll(/--(\w+-solid): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)];

  it("are found in the style sheet", () => {
    expect(solid.map(([, name]) => name)).toEqual(expect.arrayContaining(["red-solid", "amber-solid", "violet-solid"]));
  });

  for (const [, name, light, dark] of solid) {
    it(`${name} has enough contrast with white text in both themes`, () => {
      for (const colour of [light, dark]) expect(1.05 / (luminance(colour) + 0.05)).toBeGreaterThanOrEqual(4.5);
    });
  }
});
