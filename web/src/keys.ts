/** One key each. Keys that are typed into a field, or meant for the browser, are left alone. */
import type { App } from "./app.ts";
import type { Hands } from "./manipulate/hands.ts";
import type { Dock } from "./panels/dock.ts";
import { isTyping } from "./ui/dom.ts";
import { MODES, type Cameras } from "./view/cameras.ts";

const STEP_M = 0.05;
const FINE_M = 0.01;
const TURN_RAD = Math.PI / 36;
const FINE_RAD = Math.PI / 180;

export function keys(app: App, hands: Hands, cameras: Cameras, dock: Dock, open: { worlds(): void; help(): void }): void {
  const act: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
    "1": () => (app.camera.value = MODES[0]),
    "2": () => (app.camera.value = MODES[1]),
    "3": () => (app.camera.value = MODES[2]),
    "4": () => (app.onboard.value = !app.onboard.value),
    "0": () => cameras.home(),
    " ": () => dock.pause(),
    ".": () => dock.step(),
    r: () => dock.reset(),
    d: () => (app.driving.value = !app.driving.value),
    i: () => (app.instruments.value = !app.instruments.value),
    l: () => (app.lidar.value = !app.lidar.value),
    t: () => (app.trail.value = !app.trail.value),
    m: () => (app.sound.value = !app.sound.value),
    w: () => open.worlds(),
    f: () => app.judged && (app.evaluating.value = !app.evaluating.value),
    "?": () => open.help(),
    n: () => next(1),
    p: () => next(-1),
    q: (event) => turn(event.shiftKey ? FINE_RAD : TURN_RAD),
    e: (event) => turn(event.shiftKey ? -FINE_RAD : -TURN_RAD),
    ArrowLeft: (event) => arrow(event, -1, 0),
    ArrowRight: (event) => arrow(event, 1, 0),
    ArrowUp: (event) => arrow(event, 0, 1),
    ArrowDown: (event) => arrow(event, 0, -1),
    "+": () => cameras.nudge(0, 0, 0.85),
    "-": () => cameras.nudge(0, 0, 1.18),
  };

  addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") {
      if (hands.cancel()) return;
      if (app.driving.value) app.driving.value = false;
      else app.selected.value = null;
      return;
    }
    if (isTyping(event)) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") {
      event.preventDefault();
      void (event.shiftKey ? hands.redo() : hands.undo());
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.target as HTMLElement;
    // Buttons take Space, sliders take arrows.
    if (event.key === " " && target.closest("button, a, summary, input")) return;
    if (event.key.startsWith("Arrow") && target.closest("input, [role=slider], pre")) return;
    const action = act[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || (event.repeat && !event.key.startsWith("Arrow") && !"qe".includes(event.key.toLowerCase()))) return;
    event.preventDefault();
    action(event);
  });

  // Who clicks a button and then presses Space wants to pause, not to click again.
  addEventListener("click", ({ target, detail }) => {
    if (detail > 0 && target instanceof Element) target.closest<HTMLElement>(".dock button, .views button")?.blur();
  });

  function next(by: number): void {
    const { names } = hands;
    if (names.length === 0) return;
    const at = names.indexOf(app.selected.value ?? "");
    app.selected.value = names[(at < 0 ? (by > 0 ? 0 : -1) : at + by + names.length) % names.length] ?? names[names.length - 1];
  }

  function turn(by: number): void {
    const name = app.selected.value;
    const place = name ? hands.placeOf(name) : null;
    if (name && place) void hands.put(name, { yaw: place.yaw + by });
  }

  /** Moves what is selected along the view, or turns the view. */
  function arrow(event: KeyboardEvent, right: number, ahead: number): void {
    const name = app.selected.value;
    const place = name ? hands.placeOf(name) : null;
    if (!name || !place) return cameras.nudge(-0.08 * right, 0.06 * ahead, 1);
    const step = event.shiftKey ? FINE_M : STEP_M;
    const [x, y] = cameras.ahead();
    void hands.put(name, { x: place.x + step * (ahead * x + right * y), y: place.y + step * (ahead * y - right * x) });
  }
}
