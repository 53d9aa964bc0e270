/**
 * The same sky as in the robot's camera: a blue gradient with haze at the horizon and a glow around
 * the sun. Below the horizon, the colour changes towards `nadir`, but less than in the camera.
 */
import * as THREE from "three";
import type { WorldLighting } from "./load.ts";

const VERTEX = /* glsl */ `
  varying vec3 along;
  void main() {
    along = position;
    vec4 p = projectionMatrix * mat4(mat3(viewMatrix)) * vec4(position, 1.0);
    gl_Position = p.xyww;
  }`;

const FRAGMENT = /* glsl */ `
  uniform vec3 zenith, horizon, nadir, sun, toSun;
  varying vec3 along;
  void main() {
    vec3 d = normalize(along);
    float down = max(-d.z, 0.0);
    float a = 1.0 - max(d.z, 0.0);
    float a4 = a * a * a * a;
    float haze = a4 * (0.6 * a * a + 0.4 * a);
    float c = max(dot(d, toSun), 0.0);
    float c4 = c * c * c * c;
    float c32 = pow(c4, 8.0);
    float c256 = pow(c32, 8.0);
    float disc = pow(c256, 8.0);
    float glow = 0.07 * c4 + 0.12 * c32 + 0.3 * c256 + disc;
    vec3 sky = mix(zenith, horizon, haze) + sun * glow;
    // The part below the horizon is lighter than in the robot's camera, because in the 3D view this
    // part is the background around the whole world.
    vec3 earth = mix(horizon, nadir, 0.6 * down / (0.04 + down));
    gl_FragColor = vec4(d.z >= 0.0 ? sky : earth, 1.0);
    #include <tonemapping_fragment>
    #include <colorspace_fragment>
  }`;

export function makeSky({ sky, sun }: WorldLighting): THREE.Mesh {
  const vector = (v: readonly number[]) => ({ value: new THREE.Vector3(v[0], v[1], v[2]) });
  const material = new THREE.ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    side: THREE.BackSide,
    depthWrite: false,
    uniforms: {
      zenith: vector(sky.zenith),
      horizon: vector(sky.horizon),
      nadir: vector(sky.nadir),
      sun: vector(sun.colour),
      toSun: { value: new THREE.Vector3(...sun.direction).negate().normalize() },
    },
  });
  const dome = new THREE.Mesh(new THREE.SphereGeometry(1, 24, 16), material);
  dome.frustumCulled = false;
  dome.renderOrder = 1;
  return dome;
}
