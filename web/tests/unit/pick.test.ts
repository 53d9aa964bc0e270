import { describe, expect, it } from "vitest";
import { hitDistance, pointAtHeight, pick, type Ray, type Pickable, type Vec } from "../../src/manipulate/pick.ts";

function ray(from: Vec, to: Vec): Ray {
  const along: [number, number, number] = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
  const length = Math.hypot(...along);
  return { from, along: [along[0] / length, along[1] / length, along[2] / length] };
}

function box(name: string, x: number, y: number, yaw = 0, size: Vec = [0.4, 0.2, 0.2]): Pickable {
  return {
    name,
    pose: { x, y, z: 0, q: [0, 0, Math.sin(yaw / 2), Math.cos(yaw / 2)] },
    centre: [0, 0, size[2] / 2],
    size,
  };
}

const nowhere = () => null;
const above: Vec = [0, 0, 5];

describe("hitDistance", () => {
  it("returns the distance to the box, or null", () => {
    expect(hitDistance(ray(above, [0, 0, 0]), box("a", 0, 0))).toBeCloseTo(4.8, 9);
    expect(hitDistance(ray(above, [0.19, 0.09, 0]), box("a", 0, 0))).not.toBeNull();
    expect(hitDistance(ray(above, [0.22, 0, 0]), box("a", 0, 0))).toBeNull();
  });

  it("respects the yaw of the box", () => {
    // The long side is along y now.
    const turned = box("a", 0, 0, Math.PI / 2);
    expect(hitDistance(ray([0, 0.18, 5], [0, 0.18, 0]), turned)).not.toBeNull();
    expect(hitDistance(ray([0.18, 0, 5], [0.18, 0, 0]), turned)).toBeNull();
  });

  it("respects the pitch of the box", () => {
    // The long side is vertical now, so the box is 0.4 m high.
    const half = Math.PI / 4;
    const tilted: Pickable = {
      ...box("a", 0, 0),
      pose: { x: 0, y: 0, z: 0.2, q: [0, Math.sin(half), 0, Math.cos(half)] },
      centre: [0, 0, 0],
    };
    expect(hitDistance(ray([5, 0, 0.39], [0, 0, 0.39]), tilted)).not.toBeNull();
    expect(hitDistance(ray([5, 0, 0.41], [0, 0, 0.41]), tilted)).toBeNull();
  });

  it("ignores a box behind the start of the ray", () => {
    expect(hitDistance(ray([0, 0, 5], [0, 0, 6]), box("a", 0, 0))).toBeNull();
  });

  it("handles a ray parallel to an axis without a division by zero", () => {
    expect(hitDistance({ from: [-1, 0, 0.1], along: [1, 0, 0] }, box("a", 0, 0))).toBeCloseTo(0.8, 9);
    expect(hitDistance({ from: [-1, 0.5, 0.1], along: [1, 0, 0] }, box("a", 0, 0))).toBeNull();
  });
});

describe("picking", () => {
  it("selects the nearest of two boxes on the ray", () => {
    const boxes = [box("far", 1, 0), box("near", 0, 0)];
    expect(pick(ray([-3, 0, 0.1], [3, 0, 0.1]), { x: 0, y: 0 }, boxes, nowhere, 0)?.name).toBe("near");
  });

  it("selects the box nearest to the pointer within the tolerance, if the ray hits none", () => {
    const at = { a: { x: 100, y: 100, radius: 5 }, b: { x: 130, y: 100, radius: 5 } };
    const boxes = [box("a", 3, 3), box("b", 4, 4)];
    const onScreen = (target: Pickable) => at[target.name as "a" | "b"];
    const miss = ray(above, [-5, -5, 0]);
    expect(pick(miss, { x: 112, y: 100 }, boxes, onScreen, 8)?.name).toBe("a");
    expect(pick(miss, { x: 120, y: 100 }, boxes, onScreen, 8)?.name).toBe("b");
    expect(pick(miss, { x: 160, y: 100 }, boxes, onScreen, 8)).toBeNull();
  });

  it("ignores a box behind the camera", () => {
    expect(pick(ray(above, [-5, -5, 0]), { x: 0, y: 0 }, [box("a", 3, 3)], nowhere, 1000)).toBeNull();
  });
});

describe("pointAtHeight", () => {
  it("returns the point where the ray reaches the height", () => {
    const [x, y] = pointAtHeight(ray([0, 0, 5], [1, 2, 0]), 0) ?? [0, 0];
    expect(x).toBeCloseTo(1, 9);
    expect(y).toBeCloseTo(2, 9);
  });

  it("returns null for a ray above the horizon", () => {
    expect(pointAtHeight(ray([0, 0, 1], [1, 0, 2]), 0)).toBeNull();
    expect(pointAtHeight(ray([0, 0, 1], [1, 0, 1]), 0)).toBeNull();
  });
});
