/** Tone mapping of bright colours, and reflections on glossy materials. */
import * as THREE from "three";

/**
 * Colours up to 0.85 are not changed, so that the 3D view and the robot's camera show the same
 * colours. Brighter colours approach 1 and keep their hue, instead of being clipped.
 */
const CURVE = /* glsl */ `vec3 CustomToneMapping( vec3 color ) {
  color *= toneMappingExposure;
  float peak = max( color.r, max( color.g, color.b ) );
  if ( peak <= 0.85 ) return color;
  float over = peak - 0.85;
  float mapped = 0.85 + 0.15 * over / ( over + 0.15 );
  return mix( color * ( mapped / peak ), vec3( mapped ), 0.15 * clamp( over, 0.0, 1.0 ) );
}`;
const NONE = "vec3 CustomToneMapping( vec3 color ) { return color; }";

/**
 * The value for `WebGLRenderer.toneMapping`. The function changes a shader chunk of three.js, so it
 * must be called before a shader with tone mapping is compiled.
 */
export function softHighlights(): THREE.ToneMapping {
  const chunks = THREE.ShaderChunk as { tonemapping_pars_fragment: string };
  chunks.tonemapping_pars_fragment = chunks.tonemapping_pars_fragment.replace(NONE, CURVE);
  return THREE.CustomToneMapping;
}

/**
 * Strength of the reflections. It is reduced, because the hemisphere light already lights the
 * materials.
 */
const STRENGTH = 0.5;
/** Only materials that are smoother than this show reflections. */
const GLOSSY = 0.6;

/** Sets the environment map of the glossy materials below a node. */
export function reflect(root: THREE.Object3D, surroundings: THREE.Texture): void {
  root.traverse((part) => {
    if (!(part instanceof THREE.Mesh) || !(part.material instanceof THREE.MeshStandardMaterial)) return;
    if (part.material.roughness >= GLOSSY) return;
    Object.assign(part.material, { envMap: surroundings, envMapIntensity: STRENGTH, needsUpdate: true });
  });
}
