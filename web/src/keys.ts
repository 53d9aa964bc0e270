/**
 * Keyboard shortcuts. Of the keys typed into a field, only Escape is handled. Of the keys with
 * Ctrl, Cmd or Alt, only those for undo and redo are handled: Ctrl+Z and Ctrl+Shift+Z, or Cmd on a
 * Mac.
 */
import type { App } from "./app.ts";
import type { Manipulator } from "./manipulate/manipulator.ts";
import type { Dock } from "./panels/dock.ts";
import { settings } from "./settings.ts";
import { type Shortcut, shortcutOf } from "./shortcuts.ts";
import { isTyping } from "./ui/dom.ts";
import { listen } from "./ui/scope.ts";
import { MODES, type Cameras } from "./view/cameras.ts";

const STEP_M = 0.05;
const FINE_M = 0.01;
const TURN_RAD = Math.PI / 36;
const FINE_RAD = Math.PI / 180;
/** Arrow keys move a replay by the first time, and with Shift by the second, smaller time. */
const REPLAY_STEP_S = 1;
const REPLAY_FINE_S = 0.1;

/** Shortcuts that repeat while their key is held. */
const REPEATING: ReadonlySet<Shortcut> = new Set<Shortcut>(["turnLeft", "turnRight", "zoomIn", "zoomOut"]);
/** Shortcuts that do the same during a replay: those of the view, and the help. */
const VIEW_SHORTCUTS: ReadonlySet<Shortcut> = new Set<Shortcut>(["orbit", "chase", "top", "onboard", "resetView", "zoomIn", "zoomOut", "help"]);

export function keys(
  app: App,
  manipulator: Manipulator,
  cameras: Cameras,
  dock: Dock,
  open: { worlds(): void; help(): void; settings(): void },
): void {
  type Action = (event: KeyboardEvent) => void;
  const actions: Readonly<Record<Shortcut, Action>> = {
    orbit: () => (app.camera.value = MODES[0]),
    chase: () => (app.camera.value = MODES[1]),
    top: () => (app.camera.value = MODES[2]),
    onboard: () => (app.onboard.value = !app.onboard.value),
    resetView: () => cameras.resetView(),
    pause: () => dock.pause(),
    step: () => dock.step(),
    reset: () => dock.reset(),
    drive: () => (app.driving.value = !app.driving.value),
    instruments: () => (app.instruments.value = !app.instruments.value),
    lidar: () => (app.lidar.value = !app.lidar.value),
    trail: () => (app.trail.value = !app.trail.value),
    sound: () => (app.sound.value = !app.sound.value),
    worlds: () => open.worlds(),
    evaluation: () => app.judged && (app.evaluating.value = !app.evaluating.value),
    program: () => (app.programming.value = !app.programming.value),
    settings: () => open.settings(),
    help: () => open.help(),
    next: () => next(1),
    previous: () => next(-1),
    turnLeft: (event) => turn(event.shiftKey ? FINE_RAD : TURN_RAD),
    turnRight: (event) => turn(event.shiftKey ? -FINE_RAD : -TURN_RAD),
    zoomIn: () => cameras.orbitBy(0, 0, 0.85),
    zoomOut: () => cameras.orbitBy(0, 0, 1.18),
  };
  /** Keys that the user can't change. */
  const fixedActions: Readonly<Record<string, Action>> = {
    ArrowLeft: (event) => arrow(event, -1, 0),
    ArrowRight: (event) => arrow(event, 1, 0),
    ArrowUp: (event) => arrow(event, 0, 1),
    ArrowDown: (event) => arrow(event, 0, -1),
  };
  const shortcutOfEvent = (event: KeyboardEvent) => (settings.shortcuts.value ? shortcutOf(event.key) : null);

  listen(window, "keydown", (event) => {
    // While a popover or dialog is open, the shortcuts are off, and Escape only closes it.
    if (document.querySelector("dialog[open], [popover]:popover-open")) return;
    if (event.key === "Escape") {
      if (app.run.value) {
        app.run.value = null;
        return;
      }
      if (manipulator.cancel()) return;
      if (app.driving.value) app.driving.value = false;
      else app.selected.value = null;
      return;
    }
    if (isTyping(event)) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
      event.preventDefault();
      void (event.shiftKey ? manipulator.redo() : manipulator.undo());
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    if (app.run.value) return replayKey(event, target);
    // A focused button handles Space itself, and a focused slider handles the arrow keys.
    if (event.key === " " && target.closest("button, a, summary, input")) return;
    if (event.key.startsWith("Arrow") && target.closest("input, [role=slider], pre")) return;
    const shortcut = shortcutOfEvent(event);
    const action = shortcut ? actions[shortcut] : fixedActions[event.key];
    if (!action || (event.repeat && shortcut && !REPEATING.has(shortcut))) return;
    event.preventDefault();
    action(event);
  });

  /** Keys of a replay. They also work while the slider of the timeline is focused. */
  function replayKey(event: KeyboardEvent, target: HTMLElement): void {
    const player = app.replay.value?.player;
    if (!player) return;
    if (event.key === " " && target.closest("button, a, summary")) return;
    const seconds = event.shiftKey ? REPLAY_FINE_S : REPLAY_STEP_S;
    const replayActions: Readonly<Record<string, Action>> = {
      ArrowLeft: () => player.seek(player.time.value - seconds),
      ArrowRight: () => player.seek(player.time.value + seconds),
      ArrowDown: () => player.seek(player.time.value - seconds),
      ArrowUp: () => player.seek(player.time.value + seconds),
      Home: () => player.seek(0),
      End: () => player.seek(player.duration),
      ",": () => player.step(-1),
    };
    const shortcut = shortcutOfEvent(event);
    const own = shortcut === "pause" ? () => player.toggle() : shortcut === "step" ? () => player.step(1) : undefined;
    const view = shortcut && VIEW_SHORTCUTS.has(shortcut) ? actions[shortcut] : undefined;
    const action = replayActions[event.key] ?? own ?? view;
    if (!action || (event.repeat && (shortcut === "pause" || view))) return;
    event.preventDefault();
    action(event);
  }

  // Remove the focus after a mouse click. Otherwise Space would press the button again instead of
  // pausing the simulation.
  listen(window, "click", ({ target, detail }) => {
    if (detail > 0 && target instanceof Element)
      target.closest<HTMLElement>(".dock button, .views button, .replay-bar button")?.blur();
  });

  /** Selects the next object (`by` is 1) or the previous one (−1). */
  function next(by: number): void {
    const { names } = manipulator;
    if (names.length === 0) return;
    const at = names.indexOf(app.selected.value ?? "");
    app.selected.value =
      names[(at < 0 ? (by > 0 ? 0 : -1) : at + by + names.length) % names.length] ?? names[names.length - 1];
  }

  function turn(by: number): void {
    const name = app.selected.value;
    const pose = name ? manipulator.poseOf(name) : null;
    if (name && pose) void manipulator.moveTo(name, { yaw: pose.yaw + by });
  }

  /** Moves the selected object relative to the view. Without a selection, rotates the view. */
  function arrow(event: KeyboardEvent, right: number, ahead: number): void {
    const name = app.selected.value;
    const pose = name ? manipulator.poseOf(name) : null;
    if (!name || !pose) return cameras.orbitBy(-0.08 * right, 0.06 * ahead, 1);
    const step = event.shiftKey ? FINE_M : STEP_M;
    const [x, y] = cameras.ahead();
    void manipulator.moveTo(name, { x: pose.x + step * (ahead * x + right * y), y: pose.y + step * (ahead * y - right * x) });
  }
}
