import * as THREE from "three";
import { describe, expect, it } from "vitest";
import { cameraForArea, fitBounds, shiftCamera, shiftOf, type Area } from "../../src/view/framing.ts";

THREE.Object3D.DEFAULT_UP.set(0, 0, 1);

const bounds = new THREE.Box2(new THREE.Vector2(0, 0), new THREE.Vector2(8, 6));

/** Positions of the ground's corners on the canvas, in pixels, with the view that fits an area. */
function cornersOnCanvas(canvas: { clientWidth: number; clientHeight: number }, area: Area): THREE.Vector2[] {
  const camera = new THREE.PerspectiveCamera(42, canvas.clientWidth / canvas.clientHeight, 0.05, 200);
  const shift = shiftOf(canvas, area);
  const direction = new THREE.Vector3(-0.26, -0.72, 0.72).normalize();
  const pose = fitBounds(cameraForArea(camera, canvas, area), bounds, direction, shift);
  camera.position.copy(pose.position);
  camera.lookAt(pose.target);
  camera.updateMatrixWorld(true);
  shiftCamera(camera, canvas, pose.shift);
  return [bounds.min, new THREE.Vector2(8, 0), bounds.max, new THREE.Vector2(0, 6)].map(({ x, y }) => {
    const at = new THREE.Vector3(x, y, 0).project(camera);
    return new THREE.Vector2(((at.x + 1) / 2) * canvas.clientWidth, ((1 - at.y) / 2) * canvas.clientHeight);
  });
}

describe("framing", () => {
  for (const [what, canvas, area] of [
    ["the whole canvas", { clientWidth: 1280, clientHeight: 600 }, { x: 0, y: 0, width: 1280, height: 600 }],
    ["a canvas with a panel at the right", { clientWidth: 1280, clientHeight: 600 }, { x: 0, y: 0, width: 940, height: 600 }],
    ["a canvas with a panel at the bottom", { clientWidth: 390, clientHeight: 680 }, { x: 0, y: 64, width: 390, height: 290 }],
  ] as const) {
    it(`shows the whole ground in the free area of ${what}, as large as possible`, () => {
      const corners = cornersOnCanvas(canvas, area);
      const seen = new THREE.Box2().setFromPoints(corners);
      expect(seen.min.x).toBeGreaterThan(area.x);
      expect(seen.max.x).toBeLessThan(area.x + area.width);
      expect(seen.min.y).toBeGreaterThan(area.y);
      expect(seen.max.y).toBeLessThan(area.y + area.height);
      const size = seen.getSize(new THREE.Vector2());
      expect(Math.max(size.x / area.width, size.y / area.height)).toBeGreaterThan(0.8);
    });
  }

  it("does not displace the image if the whole canvas is free", () => {
    const canvas = { clientWidth: 800, clientHeight: 600 };
    expect(shiftOf(canvas, { x: 0, y: 0, width: 800, height: 600 }).toArray()).toEqual([0, 0]);
    expect(shiftOf(canvas, { x: 0, y: 0, width: 500, height: 600 }).toArray()).toEqual([-150, 0]);
  });
});
