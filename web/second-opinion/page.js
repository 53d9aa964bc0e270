// @ts-check
/**
 * Draws a view of a world with three.js. It uses only the GLB files and the parameters of the view.
 *
 * three.js and its loader provide geometry, poses, textures and materials. The shaders below use
 * the lighting model of our renderer, so that colours can be compared. The light at a vertex is
 * ambient·(0.7 + 0.3·up) + sun·max(0, cosine). `up` is the vertical component of the normal, and
 * `cosine` is the cosine of the angle between the normal and the direction to the sun. Display
 * colours are squared to get linear colours. At the end, the square root of a linear colour gives
 * the display colour.
 */
import * as THREE from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

/** @import { Footprint, Lamp, Pose, View } from "./types.d.ts" */

/** The labels of our renderer. `objects` is the label of the first object; the others follow. */
const LABEL = { track: 1, scenery: 2, car: 3, objects: 16 };
/**
 * Contact shadows, in metres. A shadow extends beyond its object by `spread` and is drawn at the
 * height `lift` above the ground. An object at the height `reach` or higher has no shadow.
 */
const SHADOW = { spread: 0.05, lift: 0.0025, reach: 0.4 };

/**
 * The points of a pixel at which our renderer takes samples: the distances to the right and down
 * from the centre of the pixel, in pixels.
 */
const SAMPLES = [
  [-0.125, -0.375],
  [0.375, -0.125],
  [-0.375, 0.125],
  [0.125, 0.375],
];

const renderer = new THREE.WebGLRenderer({ antialias: false });
const loader = new GLTFLoader();
/** @type {Map<string, Promise<import("three/addons/loaders/GLTFLoader.js").GLTF>>} */
const files = new Map();

/** @param {string} name */
function load(name) {
  const file = files.get(name) ?? loader.loadAsync(`/data/${name}.glb`);
  files.set(name, file);
  return file;
}

/** Converts a vector from z-up to the y-up axes of three.js. @param {number[]} v */
function toYUp([x, y, z]) {
  return new THREE.Vector3(x, z, -y);
}

/** Converts a rotation from z-up to the y-up axes of three.js. @param {number[]} q */
function rotationToYUp([x, y, z, w]) {
  return new THREE.Quaternion(x, z, -y, w);
}

const LIT_VERTEX = /* glsl */ `
  uniform vec3 ambient, sun, toSun, colour;
  varying vec3 light;
  varying vec2 at;
  void main() {
    vec3 n = normalize(transpose(inverse(mat3(modelMatrix))) * normal);
    light = colour * (ambient * (0.7 + 0.3 * n.y) + sun * max(0.0, dot(n, toSun)));
    #ifdef PICTURE
      at = uv;
    #endif
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }`;
const LIT_FRAGMENT = /* glsl */ `
  uniform sampler2D picture;
  uniform vec3 emissive;
  uniform float opacity;
  varying vec3 light;
  varying vec2 at;
  void main() {
    vec4 texel = vec4(1.0);
    #ifdef PICTURE
      texel = texture2D(picture, at);
    #endif
    #ifdef SOLID
      texel.a = 1.0;
    #endif
    vec3 glow = emissive;
    #ifdef GLOWING_PICTURE
      glow *= texel.rgb * texel.rgb;
    #endif
    gl_FragColor = vec4(min(texel.rgb * texel.rgb * light + glow, 1.0), texel.a * opacity);
  }`;
const SHADOW_FRAGMENT = /* glsl */ `
  uniform float opacity;
  varying vec2 at;
  void main() {
    vec2 p = abs(2.0 * at - 1.0);
    float t = clamp((1.0 - pow(dot(p * p, p * p), 0.25)) / 0.6, 0.0, 1.0);
    gl_FragColor = vec4(0.0, 0.0, 0.0, opacity * 185.0 / 255.0 * t * t * (3.0 - 2.0 * t));
  }`;
const PLAIN_VERTEX = /* glsl */ `
  varying vec2 at;
  void main() {
    at = uv;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }`;

/**
 * Converts a material of the file to a material with our lighting model.
 * @param {THREE.MeshStandardMaterial} from
 * @param {Record<string, THREE.IUniform>} lights
 * @param {Lamp | undefined} lamp
 */
function lit(from, lights, lamp) {
  // glTF stores linear colours. Our renderer computes linear colours in another way: it squares
  // display colours. So the colours are converted back to display colours and then squared.
  const squared = (/** @type {THREE.Color} */ c) => {
    const { r, g, b } = c.getRGB({ r: 0, g: 0, b: 0 }, THREE.SRGBColorSpace);
    return new THREE.Vector3(r * r, g * g, b * b);
  };
  const map = lamp ? null : from.map;
  if (map) {
    // three.js must not convert these colours, because the shader squares them.
    map.colorSpace = THREE.NoColorSpace;
    map.anisotropy = 4;
  }
  return new THREE.ShaderMaterial({
    vertexShader: LIT_VERTEX,
    fragmentShader: LIT_FRAGMENT,
    uniforms: {
      ...lights,
      colour: { value: lamp ? new THREE.Vector3(...lamp.colour) : squared(from.color) },
      emissive: { value: lamp ? new THREE.Vector3(...lamp.emissive) : squared(from.emissive) },
      picture: { value: map },
      opacity: { value: from.opacity },
    },
    defines: {
      ...(map && { PICTURE: 1 }),
      ...(map && from.emissiveMap && { GLOWING_PICTURE: 1 }),
      ...(!from.transparent && { SOLID: 1 }),
    },
    side: from.side,
    transparent: from.transparent,
    depthWrite: !from.transparent,
  });
}

/**
 * Returns the contact shadow of an object, or null if the object is too high above the ground.
 * @param {Pose} pose @param {Footprint} footprint @param {number} ground
 */
function shadow(pose, { foot, size }, ground) {
  const rotation = rotationToYUp(pose.rotation);
  const at = toYUp(foot).applyQuaternion(rotation).add(toYUp(pose.position));
  const opacity = 1 - Math.abs(at.y - ground) / SHADOW.reach;
  if (opacity <= 0.01) {
    return null;
  }
  const [length, width] = size.map((v) => v + 2 * SHADOW.spread);
  const mesh = new THREE.Mesh(
    new THREE.PlaneGeometry(length, width).rotateX(-Math.PI / 2),
    new THREE.ShaderMaterial({
      vertexShader: PLAIN_VERTEX,
      fragmentShader: SHADOW_FRAGMENT,
      uniforms: { opacity: { value: opacity } },
      transparent: true,
      depthWrite: false,
    }),
  );
  const ahead = new THREE.Vector3(1, 0, 0).applyQuaternion(rotation);
  mesh.position.set(at.x, ground + SHADOW.lift, at.z);
  mesh.rotation.y = Math.atan2(-ahead.z, ahead.x);
  // Shadows are drawn before all other transparent meshes.
  mesh.renderOrder = -1;
  mesh.userData.label = 0;
  return mesh;
}

/** Loads the car and sets the pose and joint angles of the view. @param {View["car"]} car */
async function placedCar(car) {
  const scene = (await load("car")).scene.clone();
  scene.position.copy(toYUp(car.pose.position));
  scene.quaternion.copy(rotationToYUp(car.pose.rotation));
  scene.userData.label = LABEL.car;
  scene.traverse((node) => {
    const { joint, index } = node.userData;
    // The nodes inside the file have z-up axes.
    if (joint === "wheel") {
      node.rotation.set(0, car.spin[index], car.steering[index] ?? 0, "ZYX");
    } else if (joint === "pan") {
      node.rotation.set(0, 0, car.pan);
    } else if (joint === "tilt") {
      node.rotation.set(0, -car.tilt, 0);
    }
  });
  return scene;
}

/**
 * Returns `userData[key]` of a node, or of its nearest ancestor that has this key.
 * @param {THREE.Object3D} node @param {string} key
 */
function inheritedUserData(node, key) {
  for (let at = /** @type {THREE.Object3D | null} */ (node); at; at = at.parent) {
    if (at.userData[key] !== undefined) {
      return at.userData[key];
    }
  }
  return undefined;
}

/** Builds the three.js scene of a view, with materials and labels. @param {View} view */
async function buildScene(view) {
  const file = await load(view.world);
  const world = file.scene.clone();
  const scene = new THREE.Scene();
  scene.add(world, await placedCar(view.car));
  world.traverse((node) => {
    const object = view.objects.findIndex((o) => o.name === node.userData.object);
    if (object >= 0) {
      // The root node of the file rotates z-up to y-up. Objects are below this node, so their poses
      // stay z-up.
      node.position.fromArray(view.objects[object].pose.position);
      node.quaternion.fromArray(view.objects[object].pose.rotation);
      node.userData.label = LABEL.objects + object;
    }
  });
  for (const item of [...view.objects, view.car]) {
    const dark = item.shadow && shadow(item.pose, item.shadow, view.ground_z);
    if (dark) {
      scene.add(dark);
    }
  }
  // The loader stores the extras of the glTF scene in `userData`.
  const { ambient, sun } = file.scene.userData;
  const lights = {
    ambient: { value: new THREE.Vector3(...ambient) },
    sun: { value: new THREE.Vector3(...sun.colour) },
    toSun: { value: toYUp(sun.direction).negate().normalize() },
  };
  scene.traverse((node) => {
    if (!(node instanceof THREE.Mesh) || node.material instanceof THREE.ShaderMaterial) {
      return;
    }
    const light = view.lights.find((l) => l.name === inheritedUserData(node, "object"));
    const role = /** @type {string} */ (inheritedUserData(node, "role"));
    const lamp = light && (role === "lamp_red" || role === "lamp_green") ? light[role] : undefined;
    node.material = lit(/** @type {THREE.MeshStandardMaterial} */ (node.material), lights, lamp);
    const owner = /** @type {"track" | "scenery" | undefined} */ (inheritedUserData(node, "owner"));
    node.userData.label ??= inheritedUserData(node, "label") ?? (owner && LABEL[owner]);
  });
  scene.updateMatrixWorld(true);
  return scene;
}

/** Reads the pixels of a target, top row first. @param {THREE.WebGLRenderTarget} target */
function readPixels(target) {
  const { width, height } = target;
  const pixels = new Float32Array(width * height * 4);
  renderer.readRenderTargetPixels(target, 0, 0, width, height, pixels);
  const row = width * 4;
  const out = new Float32Array(pixels.length);
  for (let y = 0; y < height; y++) {
    out.set(pixels.subarray(y * row, (y + 1) * row), (height - 1 - y) * row);
  }
  return out;
}

/** @param {Uint8Array} bytes */
function toBase64(bytes) {
  let out = "";
  for (let i = 0; i < bytes.length; i += 32768) {
    out += String.fromCharCode(...bytes.subarray(i, i + 32768));
  }
  return btoa(out);
}

window.draw = async (view, width, height) => {
  const scene = await buildScene(view);
  const camera = new THREE.PerspectiveCamera((view.vertical_fov * 180) / Math.PI, width / height, view.near, 60);
  // Our camera looks along +x with z up. A camera of three.js looks along −z with y up.
  const rotation = rotationToYUp(view.camera.rotation);
  const ahead = toYUp([1, 0, 0]).applyQuaternion(rotation);
  camera.position.copy(toYUp(view.camera.position));
  camera.up.copy(toYUp([0, 0, 1]).applyQuaternion(rotation));
  camera.lookAt(camera.position.clone().add(ahead));

  const target = new THREE.WebGLRenderTarget(width, height, {
    type: THREE.FloatType,
    minFilter: THREE.NearestFilter,
    magFilter: THREE.NearestFilter,
    // The depth is stored as float, because layers of the road are only half a millimetre apart.
    depthTexture: new THREE.DepthTexture(width, height, THREE.FloatType),
  });
  renderer.setRenderTarget(target);
  renderer.setClearColor(0x000000, 0);
  // Draws one picture per sample. The colour of a pixel is the mean of its samples in linear light.
  const colours = new Float32Array(width * height * 4);
  const whole = new Uint8Array(width * height).fill(1);
  for (const [right, down] of SAMPLES) {
    camera.setViewOffset(width, height, right, down, width, height);
    renderer.clear();
    renderer.render(scene, camera);
    readPixels(target).forEach((value, i) => {
      colours[i] += Math.min(1, Math.max(0, value)) / SAMPLES.length;
      if (i % 4 === 3 && value === 0) {
        whole[i >> 2] = 0;
      }
    });
  }
  camera.clearViewOffset();

  scene.traverse((node) => {
    if (node instanceof THREE.Mesh) {
      const { side, transparent } = node.material;
      node.visible = !transparent;
      node.material = new THREE.ShaderMaterial({
        vertexShader: PLAIN_VERTEX,
        fragmentShader: "uniform float label; void main() { gl_FragColor = vec4(label, 0.0, 0.0, 1.0); }",
        uniforms: { label: { value: node.userData.label ?? 65535 } },
        side,
      });
    }
  });
  renderer.clear();
  renderer.render(scene, camera);
  const labelPixels = readPixels(target);
  target.dispose();

  const rgb = new Uint8Array(width * height * 3);
  const labels = new Uint16Array(width * height);
  for (let i = 0; i < width * height; i++) {
    for (let c = 0; c < 3; c++) {
      rgb[3 * i + c] = Math.round(255 * Math.sqrt(colours[4 * i + c]));
    }
    labels[i] = labelPixels[4 * i];
  }
  return { rgb: toBase64(rgb), labels: toBase64(new Uint8Array(labels.buffer)), whole: toBase64(whole) };
};
document.title = "ready";
