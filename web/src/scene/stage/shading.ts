/**
 * Contact shading inside the field: the ground next to the fence is darker, because the fence hides
 * a part of the sky.
 */
import * as THREE from "three";

/** Height of the shading above the ground, between the road and the contact shadows. */
const HEIGHT_M = 0.0022;
/** Opacity of the shading next to the fence, from 0 to 1. */
const STRENGTH = 0.34;

/**
 * A band of fading black along the inner side of the fence. The width of the band depends on the
 * height of the fence.
 */
export function wallShading({ min, max }: THREE.Box2, fence: number): THREE.Mesh {
  const width = Math.min(1.1 * fence, 0.25 * Math.min(max.x - min.x, max.y - min.y));
  const [positions, colours]: [number[], number[]] = [[], []];
  const steps = [0, 0.25, 0.55, 1];
  const corner = (i: number, step: number): [number, number, number] => {
    const off = steps[step] * width;
    const [x, y] = [[min.x + off, min.y + off], [max.x - off, min.y + off], [max.x - off, max.y - off], [min.x + off, max.y - off]][i % 4];
    return [x, y, HEIGHT_M];
  };
  const alpha = (step: number) => STRENGTH * (1 - steps[step]) ** 2;
  for (let i = 0; i < 4; i++) {
    for (let step = 0; step + 1 < steps.length; step++) {
      for (const [side, s] of [[i, step], [i + 1, step], [i + 1, step + 1], [i, step], [i + 1, step + 1], [i, step + 1]]) {
        positions.push(...corner(side, s));
        colours.push(0, 0, 0, alpha(s));
      }
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(positions, 3));
  geometry.setAttribute("color", new THREE.Float32BufferAttribute(colours, 4));
  const material = new THREE.MeshBasicMaterial({
    vertexColors: true,
    transparent: true,
    depthWrite: false,
    polygonOffset: true,
    polygonOffsetFactor: -2,
    polygonOffsetUnits: -2,
  });
  const mesh = new THREE.Mesh(geometry, material);
  mesh.renderOrder = -2;
  mesh.raycast = () => {};
  return mesh;
}
