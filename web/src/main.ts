/** Entry point: creates all parts of the page and connects them. */
import "./style/base.css";
import "./style/layout.css";
import "./style/controls.css";
import "./style/panels.css";
import "./style/replay.css";
import "./style/sim.css";
import "./style/settings.css";
import { App, prefersReducedMotion } from "./app.ts";
import { Manipulator } from "./manipulate/manipulator.ts";
import { pointAtHeight } from "./manipulate/pick.ts";
import { connect } from "./net/connect.ts";
import { Speaker } from "./net/sound.ts";
import { Page } from "./page.ts";
import { CAR } from "./scene/playback.ts";
import { SceneView } from "./scene/scene-view.ts";
import { applyTheme, settings } from "./settings.ts";
import { t } from "./strings.ts";
import { h } from "./ui/dom.ts";
import { Cameras } from "./view/cameras.ts";

/** State of the 3D view for tests and benchmarks. */
declare global {
  interface Window {
    __chicane: {
      /** Whether the world and the car have been drawn. */
      readonly ready: boolean;
      /** Number of frames drawn so far. */
      readonly frame: number;
      /** Simulated time of the last drawn frame, in seconds. */
      readonly time: number;
      readonly fps: number;
      /** Whether the camera is at rest. */
      readonly still: boolean;
      readonly world: string | null;
      readonly selected: string | null;
      /** Position of an object on the page, in pixels. The name `car` means the car. */
      where(name: string): { x: number; y: number } | null;
      /** Pose at which an object is drawn. The name `car` means the car. */
      pose(name: string): { x: number; y: number; z: number; yaw: number } | null;
      /** The point at this height above the ground that is drawn at this position on the page. */
      pointAt(x: number, y: number, height: number): { x: number; y: number } | null;
      /** Whether the surroundings of the field are in the 3D view. */
      readonly staged: boolean;
      /** Level of the image quality. */
      readonly quality: string;
      /** Number of sounds that are playing. */
      readonly sounds: number;
    };
  }
}

function main(): void {
  applyTheme();
  const app = new App();
  // The HTML of the page contains a placeholder picture of an empty track. It covers the canvas
  // until the world has been drawn for the first time.
  const skeleton = document.querySelector(".skeleton");
  const canvas = h("canvas", { class: "canvas", tabindex: 0, role: "application", "aria-label": t.scene.canvas });
  const view = h("div", { class: "scene" }, canvas, skeleton);
  // Buttons and texts over the 3D view are placed in the area that no panel covers.
  const freeArea = h("div", { class: "free-area" });
  const stage = h("div", { class: "stage" }, freeArea);
  document.body.append(h("main", {}, view, stage));
  let sceneView: SceneView;
  try {
    sceneView = new SceneView(canvas, settings.quality.value);
  } catch (error) {
    console.warn(error);
    view.replaceChildren(h("p", { class: "notice" }, t.scene.noWebgl));
    return;
  }
  sceneView.beforeDraw.push(() => {
    if (sceneView.ready) skeleton?.remove();
  });
  const manipulator = new Manipulator(app, sceneView);
  const cameras = new Cameras(sceneView, freeArea, app.camera.value, prefersReducedMotion);
  manipulator.cameras = cameras;
  const speaker = new Speaker();
  const page = new Page({ app, sceneView, manipulator, cameras, view, stage });

  app.camera.watch((mode, before) => {
    if (before !== undefined) cameras.mode = mode;
  });
  app.sound.watch((on, before) => before !== undefined && speaker.setOn(on));
  // The sounds belong to the live simulation, so a replay is silent.
  const updateSound = () => speaker.pause(app.run.value !== null || (app.state.value?.paused ?? false));
  app.state.watch(updateSound);
  app.run.watch(updateSound);

  const linked = new URLSearchParams(location.search).get("world");
  let first = true;
  connect(app, sceneView, (bounds) => {
    manipulator.setBounds(bounds);
    cameras.setBounds(bounds);
    if (first && linked) page.worlds.openLink(linked);
    first = false;
  });

  const internalName = (name: string) => (name === "car" ? CAR : name);
  window.__chicane = {
    get ready() {
      return sceneView.ready && app.world.value !== null;
    },
    get frame() {
      return sceneView.frames;
    },
    get time() {
      return sceneView.time;
    },
    get still() {
      return cameras.isStill;
    },
    get fps() {
      return sceneView.fps;
    },
    get world() {
      return app.world.value?.world ?? null;
    },
    get selected() {
      return app.selected.value === CAR ? "car" : app.selected.value;
    },
    where(name) {
      const item = sceneView.item(internalName(name));
      if (!item) return null;
      // A wall is part of the track mesh and therefore has an empty bounding box.
      const centre = item.box.isEmpty()
        ? ([0, 0, 0] as const)
        : item.box.min.clone().add(item.box.max).multiplyScalar(0.5).toArray();
      const at = manipulator.onScreen({ name: internalName(name), centre, size: [0.1, 0.1, 0.1] });
      const box = canvas.getBoundingClientRect();
      return at && { x: box.x + at.x, y: box.y + at.y };
    },
    pose: (name) => manipulator.poseOf(internalName(name)),
    pointAt(x, y, height) {
      const point = pointAtHeight(manipulator.ray(x, y), height);
      return point && { x: point[0], y: point[1] };
    },
    get staged() {
      return sceneView.staged;
    },
    get quality() {
      return sceneView.quality.level;
    },
    get sounds() {
      return speaker.playing;
    },
  };
}

main();
