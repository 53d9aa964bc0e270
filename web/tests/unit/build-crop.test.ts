import { describe, expect, it } from "vitest";
import {
  type Crop,
  dragged,
  fitted,
  freeName,
  fullCrop,
  type Handle,
  handleAt,
  MIN_SIDE,
  outputSize,
} from "../../src/build/crop.ts";

const picture = { width: 400, height: 300 };
const crop: Crop = { left: 100, top: 50, width: 200, height: 150 };

describe("a crop", () => {
  it("starts as the whole picture, or as the largest square in its centre", () => {
    expect(fullCrop(picture, null)).toEqual({ left: 0, top: 0, width: 400, height: 300 });
    expect(fullCrop(picture, 1)).toEqual({ left: 50, top: 0, width: 300, height: 300 });
    expect(fullCrop({ width: 90, height: 400 }, 1)).toEqual({ left: 0, top: 155, width: 90, height: 90 });
  });

  it("is moved inside the picture", () => {
    expect(dragged(picture, crop, "move", 30, -20, null)).toEqual({ ...crop, left: 130, top: 30 });
    expect(dragged(picture, crop, "move", 9999, -9999, null)).toEqual({ ...crop, left: 200, top: 0 });
  });

  it("keeps the opposite corner of a dragged corner", () => {
    expect(dragged(picture, crop, "se", 50, 25, null)).toEqual({ left: 100, top: 50, width: 250, height: 175 });
    expect(dragged(picture, crop, "nw", 50, 25, null)).toEqual({ left: 150, top: 75, width: 150, height: 125 });
    expect(dragged(picture, crop, "ne", 9999, -9999, null)).toEqual({ left: 100, top: 0, width: 300, height: 200 });
    expect(dragged(picture, crop, "sw", -9999, 9999, null)).toEqual({ left: 0, top: 50, width: 300, height: 250 });
  });

  it("does not turn over when a corner is dragged past the other", () => {
    expect(dragged(picture, crop, "se", -9999, -9999, null)).toEqual({
      left: 100,
      top: 50,
      width: MIN_SIDE,
      height: MIN_SIDE,
    });
    expect(dragged(picture, crop, "nw", 9999, 9999, null)).toEqual({
      left: 292,
      top: 192,
      width: MIN_SIDE,
      height: MIN_SIDE,
    });
  });

  it("lies in the picture and keeps its ratio, whatever is dragged", () => {
    let seed = 1;
    const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;
    let square = fullCrop(picture, 1);
    for (let i = 0; i < 2000; i++) {
      const handle = (["move", "nw", "ne", "sw", "se"] as Handle[])[Math.floor(random() * 5)];
      square = dragged(picture, square, handle, (random() - 0.5) * 500, (random() - 0.5) * 500, 1);
      expect(square.width).toBe(square.height);
      expect(Math.min(square.left, square.top)).toBeGreaterThanOrEqual(0);
      expect(square.left + square.width).toBeLessThanOrEqual(picture.width);
      expect(square.top + square.height).toBeLessThanOrEqual(picture.height);
      expect(square.width).toBeGreaterThanOrEqual(MIN_SIDE);
    }
  });

  it("from number fields is corrected", () => {
    expect(fitted(picture, { left: -5, top: 290, width: 50.4, height: 60 }, null)).toEqual({
      left: 0,
      top: 240,
      width: 50,
      height: 60,
    });
    expect(fitted(picture, { left: Number.NaN, top: 0, width: Number.NaN, height: 10 }, null)).toEqual({
      left: 0,
      top: 0,
      width: 400,
      height: 10,
    });
    expect(fitted(picture, { left: 0, top: 0, width: 400, height: 10 }, 1)).toEqual({
      left: 0,
      top: 0,
      width: 300,
      height: 300,
    });
    expect(fitted({ width: 3, height: 2 }, { left: 0, top: 0, width: 50, height: 50 }, null)).toEqual({
      left: 0,
      top: 0,
      width: 3,
      height: 2,
    });
  });

  it("has handles at its corners", () => {
    expect(handleAt(crop, 103, 48, 10)).toBe("nw");
    expect(handleAt(crop, 300, 200, 10)).toBe("se");
    expect(handleAt(crop, 200, 120, 10)).toBe("move");
    expect(handleAt(crop, 50, 120, 10)).toBeNull();
  });
});

describe("a stored picture", () => {
  it("is not larger than the limit and never empty", () => {
    expect(outputSize({ width: 4000, height: 1000 }, 2048)).toEqual({ width: 2048, height: 512 });
    expect(outputSize({ width: 100, height: 50 }, 2048)).toEqual({ width: 100, height: 50 });
    expect(outputSize({ width: 9000, height: 1 }, 2048)).toEqual({ width: 2048, height: 1 });
  });

  it("gets a plain name that the project does not have", () => {
    expect(freeName("Größer Plan (1).PNG", "image/png", [])).toBe("Gro_er_Plan_1.png");
    expect(freeName("floor.webp", "image/jpeg", ["Floor.jpg", "floor_2.jpg"])).toBe("floor_3.jpg");
    expect(freeName("床.jpg", "image/jpeg", [])).toBe("picture.jpg");
  });
});
