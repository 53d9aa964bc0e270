/** Finds the item or handle at a position of the top view. */
import { decalsOf, objectsOf, type ProjectDocument } from "../document.ts";
import { isInside, type Extent, type Point } from "../geometry.ts";
import { allKeys, decalKey, frameOf, itemOf, nodeKey, objectKey, type ItemKey } from "../items.ts";
import type { Handle } from "./handles.ts";
import type { Viewport } from "./viewport.ts";

export type Hit = { kind: "handle"; handle: Handle } | { kind: "item"; key: ItemKey } | { kind: "none" };

/** Radius in which a handle or a node is hit, for a mouse and for a finger. */
const REACH_PX = { mouse: 9, touch: 20 };

export type PointerKind = keyof typeof REACH_PX;

/** The topmost thing at a position: a handle, a node, an object or a decal. */
export function hitTest(
  document: ProjectDocument,
  handles: readonly Handle[],
  viewport: Viewport,
  at: Point,
  pointer: PointerKind,
): Hit {
  const reach = REACH_PX[pointer];
  const near = (point: Point) => Math.hypot(point.x - at.x, point.y - at.y);
  const closest = (candidates: readonly Handle[]) =>
    candidates.filter((handle) => near(handle) <= reach).toSorted((a, b) => near(a) - near(b))[0];
  const own = closest(handles.filter(({ kind }) => kind !== "insert"));
  const node = nearestNode(document, viewport, at, reach);
  // A small object must remain clickable between the handles around it.
  const isCovered = own !== undefined && objectAt(document, viewport.toWorld(at), 0) !== null;
  if (own && !isCovered && !(node !== null && node.px < near(own))) return { kind: "handle", handle: own };
  if (node) return { kind: "item", key: nodeKey(node.index) };
  // A click close to an object also selects it, because small objects are hard to hit.
  const margin = viewport.metres(pointer === "touch" ? 14 : 4);
  const object = objectAt(document, viewport.toWorld(at), 0) ?? objectAt(document, viewport.toWorld(at), margin);
  if (object) return { kind: "item", key: object };
  const insert = closest(handles.filter(({ kind }) => kind === "insert"));
  if (insert) return { kind: "handle", handle: insert };
  const decal = decalAt(document, viewport.toWorld(at));
  return decal ? { kind: "item", key: decal } : { kind: "none" };
}

function nearestNode(
  document: ProjectDocument,
  viewport: Viewport,
  at: Point,
  reach: number,
): { index: number; px: number } | null {
  let best: { index: number; px: number } | null = null;
  document.track.nodes.forEach((node, index) => {
    const point = viewport.toScreen(node);
    const px = Math.hypot(point.x - at.x, point.y - at.y);
    if (px <= reach && (!best || px < best.px)) best = { index, px };
  });
  return best;
}

function objectAt(document: ProjectDocument, world: Point, margin: number): ItemKey | null {
  const objects = objectsOf(document);
  for (let index = objects.length - 1; index >= 0; index--) {
    const value = objects[index];
    if (isInside(frameOf({ kind: "object", index, value }), world, margin)) return objectKey(value.name);
  }
  return null;
}

function decalAt(document: ProjectDocument, world: Point): ItemKey | null {
  const decals = decalsOf(document);
  for (let i = decals.length - 1; i >= 0; i--) {
    const item = itemOf(document, decalKey(i));
    if (item && isInside(frameOf(item), world)) return decalKey(i);
  }
  return null;
}

/** The items whose centres are in an extent. */
export function itemsInside(document: ProjectDocument, { minX, minY, maxX, maxY }: Extent): ItemKey[] {
  return allKeys(document).filter((key) => {
    const item = itemOf(document, key);
    if (!item) return false;
    const { x, y } = item.value;
    return x >= minX && x <= maxX && y >= minY && y <= maxY;
  });
}
