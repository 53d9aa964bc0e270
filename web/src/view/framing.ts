/**
 * Computes where the camera has to be so that the world fills the part of the canvas that no panel
 * covers.
 *
 * On a wide screen, panels lie over the canvas and do not change its size. Instead, the image is
 * shifted on the canvas, so that its centre is in the centre of the free area.
 */
import * as THREE from "three";

/** A rectangle of the canvas, in pixels. */
export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Position of the camera, the point it looks at, and the displacement of the image in pixels. */
export interface CameraPose {
  position: THREE.Vector3;
  target: THREE.Vector3;
  shift: THREE.Vector2;
}

type Size = Readonly<Record<"clientWidth" | "clientHeight", number>>;

/** The displacement that moves the centre of the image to the centre of an area. */
export function shiftOf({ clientWidth, clientHeight }: Size, { x, y, width, height }: Area): THREE.Vector2 {
  return new THREE.Vector2(x + (width - clientWidth) / 2, y + (height - clientHeight) / 2);
}

/** Displaces the image of a camera on the canvas. */
export function shiftCamera(camera: THREE.PerspectiveCamera, canvas: Size, shift: THREE.Vector2): void {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (width === 0 || height === 0) return;
  if (shift.x === 0 && shift.y === 0) camera.clearViewOffset();
  else camera.setViewOffset(width, height, -shift.x, -shift.y, width, height);
}

/** A copy of the camera that draws only an area around the centre of the original image. */
export function cameraForArea(camera: THREE.PerspectiveCamera, canvas: Size, area: Area): THREE.PerspectiveCamera {
  const copy = camera.clone();
  const [width, height] = [Math.max(1, area.width), Math.max(1, area.height)];
  const half = Math.tan((camera.fov * Math.PI) / 360) * (height / Math.max(1, canvas.clientHeight));
  copy.fov = (Math.atan(half) * 360) / Math.PI;
  copy.aspect = width / height;
  copy.clearViewOffset();
  return copy;
}

/**
 * The camera pose in a given direction that shows the whole ground as large as possible and
 * centred. The function finds the pose by iteration with a copy of the camera.
 */
export function fitBounds(
  camera: THREE.PerspectiveCamera,
  bounds: THREE.Box2,
  direction: THREE.Vector3,
  shift: THREE.Vector2,
): CameraPose {
  const { min, max } = bounds;
  const corners = [0, 0.25].flatMap((z) => [
    new THREE.Vector3(min.x, min.y, z),
    new THREE.Vector3(max.x, min.y, z),
    new THREE.Vector3(max.x, max.y, z),
    new THREE.Vector3(min.x, max.y, z),
  ]);
  const testCamera = camera.clone();
  const target = new THREE.Vector3((min.x + max.x) / 2, (min.y + max.y) / 2, 0);
  let far = max.distanceTo(min);
  for (let round = 0; round < 12; round++) {
    testCamera.position.copy(target).addScaledVector(direction, far);
    testCamera.lookAt(target);
    testCamera.updateMatrixWorld(true);
    const seen = new THREE.Box2();
    for (const corner of corners) {
      const at = corner.clone().project(testCamera);
      seen.expandByPoint(new THREE.Vector2(at.x, at.y));
    }
    const [size, centre] = [seen.getSize(new THREE.Vector2()), seen.getCenter(new THREE.Vector2())];
    const fraction = Math.max(size.x / 2 / 0.94, size.y / 2 / 0.9);
    // Move the target along the ground, so that the image becomes centred.
    const metres = far * Math.tan((camera.fov * Math.PI) / 360);
    const right = new THREE.Vector3(1, 0, 0).applyQuaternion(testCamera.quaternion);
    const ahead = new THREE.Vector3(0, 0, 1).cross(right);
    target
      .addScaledVector(right, centre.x * metres * camera.aspect)
      .addScaledVector(ahead, (centre.y * metres) / direction.z);
    far *= fraction;
  }
  return { position: target.clone().addScaledVector(direction, far), target, shift };
}
