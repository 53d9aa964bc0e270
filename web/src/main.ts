/** Puts the page together. */
import "./style/base.css";
import "./style/layout.css";
import "./style/controls.css";
import "./style/panels.css";
import { App, isCalm } from "./app.ts";
import { keys } from "./keys.ts";
import { Hands } from "./manipulate/hands.ts";
import { tags } from "./manipulate/tags.ts";
import { connect } from "./net/connect.ts";
import { Speaker } from "./net/sound.ts";
import { dock } from "./panels/dock.ts";
import { drive } from "./panels/drive.ts";
import { evaluation } from "./panels/evaluation.ts";
import { help } from "./panels/help.ts";
import { instruments } from "./panels/instruments.ts";
import { onboard } from "./panels/onboard.ts";
import { overlay } from "./panels/overlay.ts";
import { selection } from "./panels/selection.ts";
import { signIn } from "./panels/sign-in.ts";
import { top } from "./panels/top.ts";
import { views } from "./panels/views.ts";
import { worlds } from "./panels/worlds.ts";
import { CAR } from "./scene/playback.ts";
import { Stage } from "./scene/stage.ts";
import { t } from "./strings.ts";
import { h } from "./ui/dom.ts";
import { Cameras } from "./view/cameras.ts";

/** For tests and benchmarks: whether the scene is there, and what was drawn. */
declare global {
  interface Window {
    __chicane: {
      /** The world and the car are drawn. */
      readonly ready: boolean;
      /** Frames drawn so far. */
      readonly frame: number;
      /** Simulated time of the frame that was drawn last. */
      readonly time: number;
      readonly fps: number;
      /** The view stands still. */
      readonly still: boolean;
      readonly world: string | null;
      readonly selected: string | null;
      /** Where a thing is on the page, in pixels; `car` is the car. */
      where(name: string): { x: number; y: number } | null;
      /** Where a thing is drawn. */
      pose(name: string): { x: number; y: number; z: number; yaw: number } | null;
      /** Sounds that play. */
      readonly sounds: number;
    };
  }
}

function main(): void {
  const app = new App();
  const canvas = h("canvas", { class: "canvas", tabindex: 0, role: "application", "aria-label": t.stage.canvas });
  const view = h("main", { class: "stage" }, canvas);
  document.body.append(view);
  let stage: Stage;
  try {
    stage = new Stage(canvas);
  } catch (error) {
    console.warn(error);
    view.replaceChildren(h("p", { class: "notice" }, t.stage.noWebgl));
    return;
  }
  const hands = new Hands(app, stage);
  const cameras = new Cameras(stage, app.camera.value, isCalm);
  hands.cameras = cameras;
  const speaker = new Speaker();

  const worldsDialog = worlds(app);
  const helpDialog = help();
  const bottom = dock(app);
  const driving = drive(app);
  const side = h(
    "aside",
    { class: "side" },
    selection(app, stage, hands),
    evaluation(app),
    driving.card,
    instruments(app, stage),
  );
  // A panel that opens is the one that people want to see.
  const opened = new MutationObserver((changes) => {
    const card = changes.map((change) => change.target as HTMLElement).find((target) => target.matches(".card:not([hidden])"));
    if (card) side.scrollTop = card.offsetTop - side.offsetTop;
  });
  for (const card of side.children) opened.observe(card, { attributes: true, attributeFilter: ["hidden"] });
  const live = h("p", { class: "unseen", role: "status" });
  view.append(views(app), ...overlay(app, canvas), onboard(app), driving.pad, live);
  tags(app, stage, hands, view);
  document.body.prepend(top(app, () => worldsDialog.open(), () => helpDialog.showModal()));
  document.body.append(side, bottom.element, worldsDialog.element, helpDialog, signIn(app));
  keys(app, hands, cameras, bottom, { worlds: () => worldsDialog.open(), help: () => helpDialog.showModal() });

  app.camera.watch((mode, before) => {
    if (before !== undefined) cameras.mode = mode;
  });
  app.selected.watch((name) => (live.textContent = name ? t.selection.selected(hands.label(name)) : ""));
  app.sound.watch((on, before) => before !== undefined && speaker.turn(on));
  app.state.watch((state) => state && speaker.pause(state.paused));

  const linked = new URLSearchParams(location.search).get("world");
  let first = true;
  connect(app, stage, (bounds) => {
    hands.setBounds(bounds);
    cameras.setBounds(bounds);
    if (first && linked) worldsDialog.follow(linked.toLowerCase());
    first = false;
  });

  const named = (name: string) => (name === "car" ? CAR : name);
  window.__chicane = {
    get ready() {
      return stage.ready && app.world.value !== null;
    },
    get frame() {
      return stage.frames;
    },
    get time() {
      return stage.time;
    },
    get still() {
      return cameras.isStill;
    },
    get fps() {
      return stage.fps;
    },
    get world() {
      return app.world.value?.world ?? null;
    },
    get selected() {
      return app.selected.value === CAR ? "car" : app.selected.value;
    },
    where(name) {
      const piece = stage.piece(named(name));
      if (!piece) return null;
      // A wall is drawn with the track and has no box of its own.
      const centre = piece.box.isEmpty() ? ([0, 0, 0] as const) : piece.box.min.clone().add(piece.box.max).multiplyScalar(0.5).toArray();
      const at = hands.onScreen({ name: named(name), centre, size: [0.1, 0.1, 0.1] });
      const box = canvas.getBoundingClientRect();
      return at && { x: box.x + at.x, y: box.y + at.y };
    },
    pose: (name) => hands.placeOf(named(name)),
    get sounds() {
      return speaker.playing;
    },
  };
}

main();
