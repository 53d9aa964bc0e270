/**
 * The changes that a user can make to objects, decals and several items at once. A function that
 * changes a draft keeps numbers and lists within the limits of the server. If the function returns
 * keys, they are the selection after the change.
 */
import {
  copyOf,
  decalsOf,
  FACES,
  isClosed,
  leastNodes,
  MAX_COORDINATE,
  MAX_DECALS,
  MAX_NODES,
  MAX_OBJECTS,
  NEW_OBJECT,
  OBJECT_KINDS,
  objectsOf,
  round,
  roundAngle,
  type Decal,
  type FieldObject,
  type ObjectKind,
  type ProjectDocument,
  type TrackNode,
} from "./document.ts";
import { centreOf, rotated, type Point } from "./geometry.ts";
import { regroup } from "./groups.ts";
import { decalKey, extentOfItems, itemsOf, nodeKey, objectKey, type Item, type ItemKey } from "./items.ts";
import { freeName, namesOf } from "./names.ts";

export type AlignEdge = "left" | "centre" | "right" | "bottom" | "middle" | "top";

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

function place(target: Point, { x, y }: Point): void {
  target.x = round(clamp(x, -MAX_COORDINATE, MAX_COORDINATE));
  target.y = round(clamp(y, -MAX_COORDINATE, MAX_COORDINATE));
}

/** Adds an object with a free name. */
export function addObject(draft: ProjectDocument, kind: ObjectKind, at: Point): ItemKey[] {
  const objects = objectsOf(draft);
  if (objects.length >= MAX_OBJECTS) return [];
  const object: FieldObject = { ...copyOf(NEW_OBJECT[kind]), name: freeName(namesOf(draft), `${kind}1`), x: 0, y: 0 };
  place(object, at);
  objects.push(object);
  return [objectKey(object.name)];
}

/** Adds a picture on the floor, above all others. */
export function addDecal(draft: ProjectDocument, picture: string, at: Point, size = { width: 1, height: 1 }): ItemKey[] {
  const decals = decalsOf(draft);
  if (decals.length >= MAX_DECALS) return [];
  const decal: Decal = { picture, x: 0, y: 0, yaw: 0, ...size };
  place(decal, at);
  decals.push(decal);
  return [decalKey(decals.length - 1)];
}

export function moveItems(draft: ProjectDocument, keys: Iterable<ItemKey>, dx: number, dy: number): void {
  for (const { value } of itemsOf(draft, keys)) place(value, { x: value.x + dx, y: value.y + dy });
}

/** Turns items around their common centre. A single item turns around itself. */
export function rotateItems(draft: ProjectDocument, keys: Iterable<ItemKey>, angle: number): void {
  const items = itemsOf(draft, keys);
  const extent = extentOfItems(items);
  if (!extent) return;
  const centre = items.length === 1 ? { x: items[0].value.x, y: items[0].value.y } : centreOf(extent);
  for (const item of items) {
    if (items.length > 1) place(item.value, rotated(item.value, centre, angle));
    if (item.kind !== "node") item.value.yaw = roundAngle((item.value.yaw ?? 0) + angle);
  }
}

/** Scales items around their common centre. */
export function scaleItems(draft: ProjectDocument, keys: Iterable<ItemKey>, factor: number): void {
  const items = itemsOf(draft, keys);
  const extent = extentOfItems(items);
  if (!extent || !(factor > 0)) return;
  const centre = items.length === 1 ? { x: items[0].value.x, y: items[0].value.y } : centreOf(extent);
  for (const item of items) {
    const { x, y } = item.value;
    place(item.value, { x: centre.x + factor * (x - centre.x), y: centre.y + factor * (y - centre.y) });
    scaleSize(item, factor, factor);
  }
}

/** Scales the size of one item along its own axes, within the limits of the server. */
export function scaleSize(item: Item, along: number, across: number): void {
  const scaled = (value: number | null | undefined, by: number, low: number, high: number) =>
    round(clamp((value ?? 0) * by, low, high));
  if (item.kind === "node") {
    if (item.value.width) item.value.width = scaled(item.value.width, across, 0.2, 5);
  } else if (item.kind === "decal") {
    item.value.width = scaled(item.value.width, along, 0.01, 100);
    item.value.height = scaled(item.value.height, across, 0.01, 100);
  } else {
    scaleObject(item.value, along, across, scaled);
  }
}

type Scaled = (value: number | null | undefined, by: number, low: number, high: number) => number;

function scaleObject(object: FieldObject, along: number, across: number, scaled: Scaled): void {
  const usual = NEW_OBJECT[object.kind];
  const even = Math.sqrt(along * across);
  switch (object.kind) {
    case "box": {
      const [x, y, z] = object.size ?? usual.size ?? [0.3, 0.2, 0.2];
      object.size = [scaled(x, along, 0.01, 10), scaled(y, across, 0.01, 10), z];
      break;
    }
    case "cylinder":
    case "sphere":
      object.radius = scaled(object.radius ?? usual.radius, even, 0.005, 5);
      break;
    case "cone":
      object.base = scaled(object.base ?? usual.base, even, 0.01, 5);
      break;
    case "light":
      object.width = scaled(object.width ?? usual.width, across, 0.05, 2);
      break;
  }
}

/**
 * Deletes items and returns the number of deleted items. The track keeps at least as many nodes as
 * the server requires.
 */
export function deleteItems(draft: ProjectDocument, keys: Iterable<ItemKey>): number {
  const items = itemsOf(draft, keys);
  const indices = (kind: Item["kind"]) => new Set(items.filter((item) => item.kind === kind).map(({ index }) => index));
  const [objects, decals, nodes] = [indices("object"), indices("decal"), indices("node")];
  const before = draft.track.nodes.length + objectsOf(draft).length + decalsOf(draft).length;
  draft.objects = objectsOf(draft).filter((_, i) => !objects.has(i));
  draft.decals = decalsOf(draft).filter((_, i) => !decals.has(i));
  const spare = draft.track.nodes.length - leastNodes(isClosed(draft.track));
  const removed = new Set([...nodes].slice(0, Math.max(0, spare)));
  draft.track.nodes = draft.track.nodes.filter((_, i) => !removed.has(i));
  return before - draft.track.nodes.length - draft.objects.length - draft.decals.length;
}

/** Parts of a document on the clipboard. */
export interface Clip {
  chicane: "items";
  objects: FieldObject[];
  decals: Decal[];
  nodes: TrackNode[];
}

export function copyItems(document: ProjectDocument, keys: Iterable<ItemKey>): Clip {
  const clip: Clip = { chicane: "items", objects: [], decals: [], nodes: [] };
  for (const item of itemsOf(document, keys)) {
    if (item.kind === "object") clip.objects.push(copyOf(item.value));
    else if (item.kind === "decal") clip.decals.push(copyOf(item.value));
    else clip.nodes.push(copyOf(item.value));
  }
  return clip;
}

/** The fields of each kind, in addition to `kind`, `name`, `textures` and `group`. */
const OWN_FIELDS: Readonly<Record<ObjectKind, readonly (keyof FieldObject)[]>> = {
  box: ["x", "y", "yaw", "size", "mass", "static", "colour"],
  cylinder: ["x", "y", "yaw", "radius", "height", "mass", "static", "colour"],
  sphere: ["x", "y", "yaw", "radius", "mass", "static", "colour"],
  cone: ["x", "y", "yaw", "base", "height", "mass", "static", "colour"],
  light: ["x", "y", "yaw", "width", "tilt"],
};

/**
 * A copy of `value` with only the fields in `keys`, which are the fields that the server knows. The
 * server refuses a document with unknown fields.
 */
function known<T extends object>(value: T, keys: readonly (keyof T)[]): Partial<T> {
  return Object.fromEntries(keys.filter((key) => value[key] !== undefined).map((key) => [key, value[key]])) as Partial<T>;
}

function knownObject(object: FieldObject): FieldObject {
  const { kind, name, textures, group } = object;
  const faces = FACES[kind].filter((face) => typeof textures?.[face] === "string");
  const pictures = Object.fromEntries(faces.map((face) => [face, textures?.[face] ?? ""]));
  const cleaned = { ...known(object, OWN_FIELDS[kind]), kind, name } as FieldObject;
  if (typeof group === "string" && group !== "") cleaned.group = group;
  return faces.length > 0 ? { ...cleaned, textures: pictures } : cleaned;
}

/** Reads a clip from the text of a clipboard; null if the text is something else. */
export function parseClip(text: string): Clip | null {
  try {
    const value = JSON.parse(text) as Partial<Clip> | null;
    if (value?.chicane !== "items") return null;
    const list = <T extends Point>(items: T[] | undefined, most: number): T[] => {
      const isPlaced = (item: T) => Number.isFinite(item?.x) && Number.isFinite(item?.y);
      return Array.isArray(items) ? items.slice(0, most).filter(isPlaced) : [];
    };
    return {
      chicane: "items",
      objects: list(value.objects, MAX_OBJECTS)
        .filter(({ kind, name }) => OBJECT_KINDS.includes(kind) && typeof name === "string")
        .map(knownObject),
      decals: list(value.decals, MAX_DECALS)
        .filter(({ picture }) => typeof picture === "string")
        .map((decal) => known(decal, ["picture", "x", "y", "yaw", "width", "height"]) as Decal),
      nodes: list(value.nodes, MAX_NODES).map((node) => known(node, ["x", "y", "width"]) as TrackNode),
    };
  } catch {
    return null;
  }
}

/** Adds the items of a clip, moved by an offset. Objects get free names. */
export function pasteItems(draft: ProjectDocument, clip: Clip, offset: Point): ItemKey[] {
  const keys: ItemKey[] = [];
  const taken = namesOf(draft);
  const move = <T extends Point>(item: T): T => {
    const moved = copyOf(item);
    place(moved, { x: item.x + offset.x, y: item.y + offset.y });
    return moved;
  };
  const objects = clip.objects.slice(0, MAX_OBJECTS - objectsOf(draft).length).map((source) => {
    const object = { ...move(source), name: freeName(taken, source.name) };
    taken.add(object.name);
    keys.push(objectKey(object.name));
    return object;
  });
  regroup(objects);
  objectsOf(draft).push(...objects);
  for (const source of clip.decals.slice(0, MAX_DECALS - decalsOf(draft).length)) {
    decalsOf(draft).push(move(source));
    keys.push(decalKey(decalsOf(draft).length - 1));
  }
  for (const source of clip.nodes.slice(0, MAX_NODES - draft.track.nodes.length)) {
    draft.track.nodes.push(move(source));
    keys.push(nodeKey(draft.track.nodes.length - 1));
  }
  return keys;
}

/** Aligns items at an edge or at the centre of their common extent. */
export function alignItems(draft: ProjectDocument, keys: Iterable<ItemKey>, edge: AlignEdge): void {
  const items = itemsOf(draft, keys);
  const all = extentOfItems(items);
  if (!all) return;
  const middle = centreOf(all);
  for (const item of items) {
    const own = extentOfItems([item]);
    if (!own) continue;
    const { x, y } = item.value;
    const to = {
      left: { x: x + all.minX - own.minX, y },
      centre: { x: x + middle.x - (own.minX + own.maxX) / 2, y },
      right: { x: x + all.maxX - own.maxX, y },
      bottom: { x, y: y + all.minY - own.minY },
      middle: { x, y: y + middle.y - (own.minY + own.maxY) / 2 },
      top: { x, y: y + all.maxY - own.maxY },
    }[edge];
    place(item.value, to);
  }
}

/** Gives items equal distances between their centres along an axis. */
export function distributeItems(draft: ProjectDocument, keys: Iterable<ItemKey>, axis: "x" | "y"): void {
  const items = itemsOf(draft, keys).toSorted((a, b) => a.value[axis] - b.value[axis]);
  if (items.length < 3) return;
  const first = items[0].value[axis];
  const step = (items[items.length - 1].value[axis] - first) / (items.length - 1);
  items.forEach(({ value }, i) => place(value, { x: value.x, y: value.y, [axis]: first + i * step }));
}

/** Moves decals one layer up (`by` is 1) or down (−1). Returns the keys after the move. */
export function shiftDecals(draft: ProjectDocument, keys: Iterable<ItemKey>, by: 1 | -1): ItemKey[] {
  const decals = decalsOf(draft);
  const chosen = itemsOf(draft, keys).filter((item) => item.kind === "decal");
  const order = chosen.map(({ index }) => index).toSorted((a, b) => by * (b - a));
  const moved = new Set<number>();
  for (const index of order) {
    const to = index + by;
    if (to < 0 || to >= decals.length || moved.has(to)) {
      moved.add(index);
      continue;
    }
    [decals[index], decals[to]] = [decals[to], decals[index]];
    moved.add(to);
  }
  return [...moved].map(decalKey);
}

/** Renames an object. Returns its new key; null if the name is taken or `key` is not an object. */
export function renameObject(draft: ProjectDocument, key: ItemKey, name: string): ItemKey | null {
  const [item] = itemsOf(draft, [key]);
  if (item?.kind !== "object") return null;
  if (item.value.name !== name && namesOf(draft).has(name)) return null;
  item.value.name = name;
  return objectKey(name);
}
