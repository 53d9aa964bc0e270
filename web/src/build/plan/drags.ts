/** The drags of the top view. A drag that changes the document is one undo step. */
import { t } from "../../strings.ts";
import { moveItems, rotateItems, scaleItems, scaleSize } from "../commands.ts";
import { copyOf, type ProjectDocument } from "../document.ts";
import { distance, extentOf, rotated, type Extent, type Frame, type Point } from "../geometry.ts";
import { extentOfItems, itemOf, itemsOf, nodeKey, START, type ItemKey } from "../items.ts";
import type { EditorSession } from "../session.ts";
import { snap, type Guide, type SnapTargets } from "../snapping.ts";
import { alongOf } from "../road-line.ts";
import { insertNode, moveStart, placeOnRoad, setNodeWidth } from "../track-commands.ts";
import { selectionFrame, type Handle } from "./handles.ts";
import { itemsInside } from "./hit.ts";
import type { Viewport } from "./viewport.ts";

/** Keys that are held during a drag. */
export interface Held {
  /**
   * Restricts a move to one axis, or a rotation to steps of 15°. Scales a single item equally along
   * both axes.
   */
  shift: boolean;
  /** Turns snapping off. */
  alt: boolean;
}

export interface Drag {
  /** `at` is a point of the field. */
  move(at: Point, held: Held): void;
  end(): void;
  cancel(): void;
  /** Lines that the top view draws during the drag. */
  guides?: readonly Guide[];
  /** The rectangle that selects items, while it is being dragged. */
  band?: Extent;
}

/** A dragged point snaps to the road or to another item at most this far away on the screen. */
const SNAP_PX = 10;
/** The angle steps of a rotation while Shift is held. */
const TURN_STEP = Math.PI / 12;

export function snapTargets(session: EditorSession, without: ReadonlySet<ItemKey>): SnapTargets {
  const document = session.document.value;
  const road = without.size > 0 && [...without].some((key) => key.startsWith("node:")) ? null : session.preview.value?.road;
  const lines = road ? [road.centre, road.left, road.right].map((points) => ({ points, closed: road.closed })) : [];
  const others = (document.objects ?? []).map(({ name }) => `object:${name}`);
  const nodes = document.track.nodes.map((_, i) => nodeKey(i));
  const keys = [...others, ...nodes].filter((key) => !without.has(key));
  const extents = itemsOf(document, keys).map((item) => extentOfItems([item]));
  return { lines, extents: extents.filter((extent) => extent !== null) };
}

/**
 * A drag that changes the document. It begins an undo step now, and commits or cancels the step at
 * its end.
 */
function changing(session: EditorSession, label: string, move: Drag["move"]): Drag {
  session.begin(label);
  return { move, end: () => session.commit(), cancel: () => void session.cancel() };
}

/** Moves the selected items. */
export function moveDrag(session: EditorSession, viewport: Viewport, from: Point, grabbed: ItemKey): Drag {
  const keys = new Set([...session.selection.value].filter((key) => key !== START));
  const before = session.document.value;
  const anchor = itemOf(before, grabbed)?.value ?? from;
  const start = { x: anchor.x, y: anchor.y };
  const extent = extentOfItems(itemsOf(before, keys));
  const targets = snapTargets(session, keys);
  const drag = changing(session, t.build.steps.move, (at, held) => {
    let by = { x: at.x - from.x, y: at.y - from.y };
    if (held.shift) by = Math.abs(by.x) > Math.abs(by.y) ? { x: by.x, y: 0 } : { x: 0, y: by.y };
    const wanted = { x: start.x + by.x, y: start.y + by.y };
    const moved = extent && {
      minX: extent.minX + by.x,
      maxX: extent.maxX + by.x,
      minY: extent.minY + by.y,
      maxY: extent.maxY + by.y,
    };
    const settings = held.alt ? { ...session.snap.value, grid: false, road: false, items: false } : session.snap.value;
    const to = snap(wanted, moved, targets, settings, viewport.metres(SNAP_PX));
    if (held.shift && by.x === 0) to.x = start.x;
    if (held.shift && by.y === 0) to.y = start.y;
    drag.guides = to.guides;
    session.drag((draft) => moveItems(draft, keys, to.x - start.x, to.y - start.y));
  });
  return drag;
}

/** Turns the selected items. */
function rotateDrag(session: EditorSession, frame: Frame, from: Point): Drag {
  const keys = session.selection.value;
  const angleOf = (point: Point) => Math.atan2(point.y - frame.y, point.x - frame.x);
  const first = angleOf(from);
  return changing(session, t.build.steps.rotate, (at, held) => {
    let angle = angleOf(at) - first;
    if (held.shift) {
      angle = Math.round((frame.yaw + angle) / TURN_STEP) * TURN_STEP - frame.yaw;
    }
    session.drag((draft) => rotateItems(draft, keys, angle));
  });
}

/** Scales the selected items. A single item is scaled along its own axes, unless Shift is held. */
function scaleDrag(session: EditorSession, frame: Frame, from: Point): Drag {
  const keys = session.selection.value;
  const own = (point: Point) => {
    const turned = rotated(point, frame, -frame.yaw);
    return { x: Math.abs(turned.x - frame.x), y: Math.abs(turned.y - frame.y) };
  };
  const first = own(from);
  const items = itemsOf(session.document.value, keys);
  return changing(session, t.build.steps.scale, (at, held) => {
    const now = own(at);
    const factor = Math.max(0.01, distance(at, frame) / Math.max(1e-6, distance(from, frame)));
    session.drag((draft) => {
      const [item] = itemsOf(draft, keys);
      if (items.length > 1 || held.shift || !item) {
        scaleItems(draft, keys, factor);
        return;
      }
      const part = (a: number, b: number) => (b < 1e-6 ? 1 : Math.max(0.01, a / b));
      scaleSize(item, part(now.x, first.x), part(now.y, first.y));
    });
  });
}

/** Changes the width of the road at a node. */
function widthDrag(session: EditorSession, node: number): Drag {
  const centre = copyOf(session.document.value.track.nodes[node]);
  return changing(session, t.build.steps.width, (at, held) => {
    const step = held.alt || !session.snap.value.grid ? 0.01 : 0.05;
    const width = Math.round((2 * distance(at, centre)) / step) * step;
    session.drag((draft) => setNodeWidth(draft, node, width));
  });
}

/** Moves the start line along the road. */
function startDrag(session: EditorSession): Drag {
  session.select([START]);
  return changing(session, t.build.steps.start, (at) => {
    const road = session.preview.value?.road;
    const place = road && placeOnRoad(road, at);
    if (road && place) session.drag((draft) => moveStart(draft, road, alongOf(road, place)));
  });
}

/** Inserts a node and moves it. If the pointer does not move, the node stays on the line. */
function insertDrag(session: EditorSession, viewport: Viewport, index: number, on: Point): Drag {
  let isMoved = false;
  const insert = (draft: ProjectDocument, at: Point) => void insertNode(draft, index, at);
  const targets = snapTargets(session, new Set());
  const drag = changing(session, t.build.steps.insert, (at, held) => {
    isMoved = true;
    const settings = { ...session.snap.value, road: false, ...(held.alt ? { grid: false, items: false } : {}) };
    const to = snap(at, null, targets, settings, viewport.metres(SNAP_PX));
    drag.guides = to.guides;
    session.drag((draft) => insert(draft, to));
    session.select([nodeKey(index)]);
  });
  drag.end = () => {
    if (!isMoved) session.drag((draft) => insert(draft, on));
    session.commit();
    session.select([nodeKey(index)]);
  };
  return drag;
}

/** Selects the items in a rectangle. */
export function bandDrag(session: EditorSession, from: Point, add: boolean): Drag {
  const before = session.selection.value;
  const drag: Drag = {
    move(at) {
      drag.band = extentOf([from, at]) ?? undefined;
      const inside = drag.band ? itemsInside(session.document.value, drag.band) : [];
      session.select(add ? [...before, ...inside] : inside);
    },
    end() {},
    cancel: () => session.select(before),
  };
  return drag;
}

/** The drag that a handle starts; null if the handle starts none. */
export function handleDrag(session: EditorSession, viewport: Viewport, handle: Handle, from: Point): Drag | null {
  const document = session.document.value;
  switch (handle.kind) {
    case "rotate":
    case "scale": {
      const frame = selectionFrame(document, session.selection.value);
      if (!frame) return null;
      return handle.kind === "rotate" ? rotateDrag(session, frame, from) : scaleDrag(session, frame, from);
    }
    case "width":
      return widthDrag(session, handle.node);
    case "start":
      return startDrag(session);
    case "insert":
      return insertDrag(session, viewport, handle.index, viewport.toWorld(handle));
  }
}

