/**
 * Items: the parts of a document that can be selected. A key identifies an item: `node:3`,
 * `object:box1`, `decal:0` or `start`.
 */
import { decalsOf, objectsOf, sizeOf, type Decal, type FieldObject, type ProjectDocument, type TrackNode } from "./document.ts";
import { cornersOf, extentOf, type Extent, type Frame, type Point } from "./geometry.ts";

export type ItemKey = string;

export type Item =
  | { kind: "node"; index: number; value: TrackNode }
  | { kind: "object"; index: number; value: FieldObject }
  | { kind: "decal"; index: number; value: Decal };

/** The key of the start line. The document has no item for it, so `itemOf` returns null. */
export const START: ItemKey = "start";

export const nodeKey = (index: number): ItemKey => `node:${index}`;
export const objectKey = (name: string): ItemKey => `object:${name}`;
export const decalKey = (index: number): ItemKey => `decal:${index}`;

/** The item with a key; null if the document does not have it. */
export function itemOf(document: ProjectDocument, key: ItemKey): Item | null {
  const at = key.indexOf(":");
  const [kind, rest] = [key.slice(0, at), key.slice(at + 1)];
  if (kind === "object") {
    const index = objectsOf(document).findIndex(({ name }) => name === rest);
    return index < 0 ? null : { kind, index, value: objectsOf(document)[index] };
  }
  const index = Number(rest);
  const node = kind === "node" ? document.track.nodes[index] : undefined;
  if (node) return { kind: "node", index, value: node };
  const decal = kind === "decal" ? decalsOf(document)[index] : undefined;
  return decal ? { kind: "decal", index, value: decal } : null;
}

export function itemsOf(document: ProjectDocument, keys: Iterable<ItemKey>): Item[] {
  return [...keys].map((key) => itemOf(document, key)).filter((item) => item !== null);
}

export function keyOf(item: Item): ItemKey {
  if (item.kind === "object") return objectKey(item.value.name);
  return item.kind === "node" ? nodeKey(item.index) : decalKey(item.index);
}

/** The keys of all nodes, objects and decals, in this order. */
export function allKeys(document: ProjectDocument): ItemKey[] {
  return [
    ...document.track.nodes.map((_, i) => nodeKey(i)),
    ...objectsOf(document).map(({ name }) => objectKey(name)),
    ...decalsOf(document).map((_, i) => decalKey(i)),
  ];
}

/** The area of an item on the field. A node is a point. */
export function frameOf(item: Item): Frame {
  const { x, y } = item.value;
  if (item.kind === "node") return { x, y, yaw: 0, halfWidth: 0, halfHeight: 0 };
  if (item.kind === "decal") {
    const { width, height, yaw } = item.value;
    return { x, y, yaw: yaw ?? 0, halfWidth: width / 2, halfHeight: height / 2 };
  }
  const [sizeX, sizeY] = sizeOf(item.value);
  return { x, y, yaw: item.value.yaw ?? 0, halfWidth: sizeX / 2, halfHeight: sizeY / 2 };
}

/** The extent of items; null without items. */
export function extentOfItems(items: readonly Item[]): Extent | null {
  return extentOf(items.flatMap((item): Point[] => cornersOf(frameOf(item))));
}

/** Whether an item is round, so that its heading does not change its area. */
export function isRound(item: Item): boolean {
  return item.kind === "object" && (item.value.kind === "cylinder" || item.value.kind === "sphere");
}
