/** The handles in the top view: rotate, scale, width of the road, start line, new node. */
import type { Preview, Road } from "../client.ts";
import { isClosed, type ProjectDocument } from "../document.ts";
import { cornersOf, modulo, type Frame, type Point } from "../geometry.ts";
import { extentOfItems, frameOf, isRound, itemsOf, START, type ItemKey } from "../items.ts";
import { pointAlong } from "../road-line.ts";
import { sampleNear } from "../road-shapes.ts";
import type { Viewport } from "./viewport.ts";

export type Handle = Point &
  (
    | { kind: "rotate" }
    /** `corner` is the index of the frame's corner. */
    | { kind: "scale"; corner: number }
    | { kind: "width"; node: number }
    | { kind: "start" }
    /** Inserts a node at `index`. `along` is the distance of the handle along the centre line. */
    | { kind: "insert"; index: number; along: number }
  );

/** Distance of the rotate handle from the frame. */
const ROTATE_PX = 30;
/** Distance between the frame and an item. */
const PAD_PX = 7;
/** Smallest half side of the frame, so that the handles do not cover a small object. */
const LEAST_HALF_PX = 22;
/**
 * The handle for a new node is between two nodes. It is hidden if these two nodes are closer
 * together than this on the screen.
 */
const INSERT_PX = 56;

/** The frame around the selected items; null for a single node and without items. */
export function selectionFrame(document: ProjectDocument, selection: Iterable<ItemKey>): Frame | null {
  const items = itemsOf(document, selection);
  if (items.length === 0 || (items.length === 1 && items[0].kind === "node")) return null;
  if (items.length === 1) return frameOf(items[0]);
  const extent = extentOfItems(items);
  if (!extent) return null;
  const { minX, minY, maxX, maxY } = extent;
  return {
    x: (minX + maxX) / 2,
    y: (minY + maxY) / 2,
    yaw: 0,
    halfWidth: (maxX - minX) / 2,
    halfHeight: (maxY - minY) / 2,
  };
}

/** The frame that is drawn around the selection. It is larger than the selection. */
export function drawnFrame(frame: Frame, viewport: Viewport): Frame {
  const half = (side: number) => Math.max(side + viewport.metres(PAD_PX), viewport.metres(LEAST_HALF_PX));
  return { ...frame, halfWidth: half(frame.halfWidth), halfHeight: half(frame.halfHeight) };
}

/** All handles, in pixels of the canvas. */
export function handlesOf(
  document: ProjectDocument,
  preview: Preview | null,
  selection: ReadonlySet<ItemKey>,
  viewport: Viewport,
): Handle[] {
  const road = preview?.road ?? null;
  return [
    ...frameHandles(document, selection, viewport),
    ...(road ? widthHandles(document, road, selection, viewport) : []),
    ...(road ? [{ kind: "start" as const, ...startHandle(road, viewport) }] : []),
    ...(road ? insertHandles(document, road, viewport) : []),
  ];
}

function frameHandles(document: ProjectDocument, selection: ReadonlySet<ItemKey>, viewport: Viewport): Handle[] {
  const frame = selectionFrame(document, selection);
  if (!frame) return [];
  const items = itemsOf(document, selection);
  const wide = drawnFrame(frame, viewport);
  const corners = cornersOf(wide).map((corner, i): Handle => {
    return { kind: "scale", corner: i, ...viewport.toScreen(corner) };
  });
  if (items.length === 1 && isRound(items[0])) return corners;
  const reach = wide.halfWidth + viewport.metres(ROTATE_PX);
  const at = { x: frame.x + reach * Math.cos(frame.yaw), y: frame.y + reach * Math.sin(frame.yaw) };
  return [{ kind: "rotate", ...viewport.toScreen(at) }, ...corners];
}

/**
 * The two handles on the borders of the road at the selected node. They exist only while exactly
 * one node and nothing else is selected.
 */
function widthHandles(
  document: ProjectDocument,
  road: Road,
  selection: ReadonlySet<ItemKey>,
  viewport: Viewport,
): Handle[] {
  const nodes = itemsOf(document, selection).filter((item) => item.kind === "node");
  if (nodes.length !== 1 || selection.size !== 1) return [];
  const [{ index, value }] = nodes;
  const sample = sampleNear(road, value.x, value.y);
  return [road.left[sample], road.right[sample]]
    .filter((point) => point !== undefined)
    .map(([x, y]) => ({ kind: "width", node: index, ...viewport.toScreen({ x, y }) }));
}

/** The handle of the start line. It is placed beside the road, so that it does not cover a node. */
export function startHandle(road: Road, viewport: Viewport): Point {
  const { x, y, yaw } = road.start;
  const width = road.centre[sampleNear(road, x, y)]?.[2] ?? 0.5;
  const off = width / 2 + viewport.metres(20);
  return viewport.toScreen({ x: x + off * Math.sin(yaw), y: y - off * Math.cos(yaw) });
}

function insertHandles(document: ProjectDocument, road: Road, viewport: Viewport): Handle[] {
  const { track } = document;
  const count = track.nodes.length;
  // If a node was added or deleted after the document of this preview, the preview has another
  // number of nodes. Then the handles would be at wrong places.
  if (road.nodes_s.length !== count || road.centre.length < 2) return [];
  const segments = isClosed(track) ? count : count - 1;
  const handles: Handle[] = [];
  for (let i = 0; i < segments; i++) {
    const [a, b] = [track.nodes[i], track.nodes[(i + 1) % count]];
    if (Math.hypot(a.x - b.x, a.y - b.y) * viewport.scale < INSERT_PX) continue;
    const along = middle(road, road.nodes_s[i], road.nodes_s[(i + 1) % count], track.direction === "backward");
    const at = pointAlong(road, along);
    handles.push({ kind: "insert", index: i + 1, along, ...viewport.toScreen(at) });
  }
  return handles;
}

/** The middle between two nodes, as a distance along the centre line. */
function middle(road: Road, own: number, next: number, backward: boolean): number {
  const [from, to] = backward ? [next, own] : [own, next];
  if (!road.closed) return (from + to) / 2;
  return modulo(from + modulo(to - from, road.length) / 2, road.length);
}

/** Whether the start line is selected. */
export function isStartSelected(selection: ReadonlySet<ItemKey>): boolean {
  return selection.has(START);
}
