/**
 * Groups of objects that are selected together. Each object in the document contains the name of
 * its group, so renaming, deleting, merging and undo need no extra code. A group that has only one
 * object left has no effect.
 */
import { objectsOf, type FieldObject, type ProjectDocument } from "./document.ts";
import { objectKey, type ItemKey } from "./items.ts";
import type { KeyStore } from "./pending.ts";

/** The objects of each group. */
function members(objects: readonly FieldObject[]): Map<string, FieldObject[]> {
  const groups = new Map<string, FieldObject[]>();
  for (const object of objects) {
    if (!object.group) continue;
    const known = groups.get(object.group);
    if (known) known.push(object);
    else groups.set(object.group, [object]);
  }
  return groups;
}

/** A name for a new group. It is random, because two editors can make a group at the same time. */
function freshGroup(): string {
  return `g${[...crypto.getRandomValues(new Uint32Array(2))].map((part) => part.toString(36)).join("")}`;
}

/** The keys, extended by all other members of their groups. */
export function withGroups(document: ProjectDocument, keys: Iterable<ItemKey>): Set<ItemKey> {
  const expanded = new Set(keys);
  for (const group of members(document.objects ?? []).values()) {
    const all = group.map(({ name }) => objectKey(name));
    if (all.some((key) => expanded.has(key))) for (const key of all) expanded.add(key);
  }
  return expanded;
}

/** Puts objects into one new group. An old group with only one remaining object is dissolved. */
export function groupObjects(draft: ProjectDocument, names: Iterable<string>): void {
  const wanted = new Set(names);
  const group = freshGroup();
  for (const object of objectsOf(draft)) if (wanted.has(object.name)) object.group = group;
  for (const rest of members(objectsOf(draft)).values()) if (rest.length < 2) delete rest[0].group;
}

/** Dissolves the groups of objects. */
export function ungroupObjects(draft: ProjectDocument, names: Iterable<string>): void {
  const wanted = new Set(names);
  for (const group of members(objectsOf(draft)).values()) {
    if (group.some(({ name }) => wanted.has(name))) for (const object of group) delete object.group;
  }
}

/** Gives copied objects new groups. Otherwise the copies would join the groups of the originals. */
export function regroup(objects: readonly FieldObject[]): void {
  for (const group of members(objects).values()) {
    const name = freshGroup();
    for (const object of group) {
      if (group.length > 1) object.group = name;
      else delete object.group;
    }
  }
}

const KEPT = "chicane.build.groups.";

/**
 * An older version of the page stored the groups of a project in the browser. This function removes
 * these groups from the storage and returns them. Objects that no longer exist, or that have a
 * group in the document, are left out.
 */
export function takeKeptGroups(store: KeyStore | null, project: string, document: ProjectDocument): string[][] {
  try {
    const kept: unknown = JSON.parse(store?.getItem(KEPT + project) ?? "[]");
    store?.removeItem(KEPT + project);
    if (!Array.isArray(kept)) return [];
    const free = new Set((document.objects ?? []).filter(({ group }) => !group).map(({ name }) => name));
    const groups = kept.filter(Array.isArray).map((group) => group.filter((name) => free.delete(name)) as string[]);
    return groups.filter((group) => group.length > 1);
  } catch {
    // Storage is disabled or holds invalid JSON, so there are no groups.
    return [];
  }
}
