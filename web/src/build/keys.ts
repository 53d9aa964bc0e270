/** Keyboard shortcuts of the builder. Of the keys typed into a field, only Escape is handled. */
import { isTyping } from "../ui/dom.ts";
import type { Actions } from "./actions.ts";
import type { AlignEdge } from "./commands.ts";
import type { ObjectKind } from "./document.ts";
import type { Gestures } from "./plan/gestures.ts";
import type { PlanView } from "./plan/plan-view.ts";
import { VIEW_MODES, type EditorSession } from "./session.ts";

const TURN_RAD = Math.PI / 12;
const FINE_RAD = Math.PI / 180;
const FINE_M = 0.01;
const WIDTH_M = 0.05;
const START_M = 0.1;
const SCALE = 1.1;

/** Actions of keys. Other parts of the editor implement these actions. */
export interface KeyActions {
  add(kind: ObjectKind | "picture"): void;
  fit(): void;
  help(): void;
  drive(): void;
  nextFinding(): void;
}

type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => void>>;

export function keys(
  session: EditorSession,
  actions: Actions,
  plan: PlanView,
  gestures: Gestures,
  other: KeyActions,
): void {
  const plain = plainKeys(session, actions, plan, gestures, other);
  const withControl = controlKeys(session, actions, other);
  addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open], [popover]:popover-open")) return;
    if (event.key === "Escape") {
      escape(session, gestures);
      return;
    }
    const target = event.target as HTMLElement;
    if (isTyping(event) || target.closest(".rules-tab")) return;
    if (event.key === "Tab" || (event.altKey && !event.key.startsWith("Arrow"))) return;
    const map = event.ctrlKey || event.metaKey ? withControl : plain;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = map[key];
    // A focused button handles Enter and Space itself.
    if (!action || (["Enter", " "].includes(key) && !event.ctrlKey && target.closest("button, a, summary"))) return;
    event.preventDefault();
    action(event);
  });
  watchClipboard(actions);
}

function escape(session: EditorSession, gestures: Gestures): void {
  if (gestures.cancel() || session.cancel()) return;
  if (session.pen.value || session.tool.value !== "select") {
    session.pen.value = null;
    session.tool.value = "select";
    return;
  }
  session.select([]);
}

function plainKeys(
  session: EditorSession,
  actions: Actions,
  plan: PlanView,
  gestures: Gestures,
  other: KeyActions,
): KeyMap {
  const sign = (event: KeyboardEvent) => (event.shiftKey ? -1 : 1);
  const turn = (event: KeyboardEvent, by: 1 | -1) => actions.rotate(by * (event.shiftKey ? FINE_RAD : TURN_RAD));
  return {
    v: () => (session.tool.value = "select"),
    p: () => (session.tool.value = "pen"),
    h: () => (session.tool.value = "pan"),
    b: () => other.add("box"),
    c: () => other.add("cylinder"),
    s: () => other.add("sphere"),
    k: () => other.add("cone"),
    l: () => other.add("light"),
    i: () => other.add("picture"),
    n: (event) => actions.selectNext(event.shiftKey ? -1 : 1),
    a: () => actions.addNode(),
    w: (event) => actions.widen(sign(event) * WIDTH_M),
    t: (event) => actions.moveStart(sign(event) * START_M),
    r: () => actions.reverse(),
    o: () => actions.toggleClosed(),
    q: (event) => turn(event, 1),
    e: (event) => turn(event, -1),
    ",": () => actions.scale(1 / SCALE),
    ".": () => actions.scale(SCALE),
    "[": () => actions.shiftLayer(-1),
    "]": () => actions.shiftLayer(1),
    g: () => (session.snap.value = { ...session.snap.value, grid: !session.snap.value.grid }),
    f: () => other.nextFinding(),
    "1": () => (session.view.value = VIEW_MODES[0]),
    "2": () => (session.view.value = VIEW_MODES[1]),
    "3": () => (session.view.value = VIEW_MODES[2]),
    "0": () => other.fit(),
    "+": () => plan.zoom(1.25),
    "=": () => plan.zoom(1.25),
    "-": () => plan.zoom(0.8),
    "?": () => other.help(),
    " ": () => {},
    Enter: () => session.pen.value && gestures.finishLine(true),
    Delete: () => actions.remove(),
    Backspace: () => actions.remove(),
    ArrowLeft: (event) => arrow(session, actions, plan, event, -1, 0, "left"),
    ArrowRight: (event) => arrow(session, actions, plan, event, 1, 0, "right"),
    ArrowUp: (event) => arrow(session, actions, plan, event, 0, 1, "top"),
    ArrowDown: (event) => arrow(session, actions, plan, event, 0, -1, "bottom"),
  };
}

/**
 * With Alt, an arrow key aligns the selected items. Otherwise it moves them, or moves the view if
 * nothing is selected.
 */
function arrow(
  session: EditorSession,
  actions: Actions,
  plan: PlanView,
  event: KeyboardEvent,
  x: number,
  y: number,
  edge: AlignEdge,
): void {
  if (event.altKey) {
    actions.align(edge);
  } else if (session.selection.value.size === 0) {
    plan.panBy(-60 * x, 60 * y);
  } else {
    const step = event.shiftKey ? FINE_M : session.snap.value.step;
    actions.move(step * x, step * y);
  }
}

function controlKeys(session: EditorSession, actions: Actions, other: KeyActions): KeyMap {
  return {
    z: (event) => (event.shiftKey ? session.redo() : session.undo()),
    y: () => session.redo(),
    a: () => actions.selectAll(),
    d: () => actions.duplicate(),
    g: (event) => (event.shiftKey ? actions.ungroup() : actions.group()),
    // The page saves every change by itself. This key only saves immediately.
    s: () => void session.saved().catch(() => {}),
    Enter: () => other.drive(),
  };
}

/**
 * Handles the events `copy`, `cut` and `paste`. The browser sends them for Ctrl+C, Ctrl+X and
 * Ctrl+V, and for the entries of its menus.
 */
function watchClipboard(actions: Actions): void {
  const isOurs = (event: ClipboardEvent) =>
    !isTyping(event) && !document.querySelector("dialog[open]") && !(event.target as Element).closest?.(".rules-tab");
  const copy = (event: ClipboardEvent): boolean => {
    const text = isOurs(event) && !getSelection()?.toString() ? actions.copy() : null;
    if (text === null) return false;
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    return true;
  };
  document.addEventListener("copy", copy);
  document.addEventListener("cut", (event) => copy(event) && actions.remove());
  document.addEventListener("paste", (event) => {
    if (!isOurs(event)) return;
    event.preventDefault();
    actions.paste(event.clipboardData?.getData("text/plain") ?? "");
  });
}
