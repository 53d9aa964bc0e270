import { describe, expect, it } from "vitest";
import { parseClip, pasteItems, copyItems } from "../../src/build/commands.ts";
import type { ProjectDocument } from "../../src/build/document.ts";
import { groupObjects, takeKeptGroups, ungroupObjects, withGroups } from "../../src/build/groups.ts";
import { mergeDocuments } from "../../src/build/merge.ts";
import { MemoryStore } from "./build-fake.ts";

/** A project with these cones. */
function cones(...names: string[]): ProjectDocument {
  return {
    version: 1,
    name: "yard",
    field: { size: [8, 6] },
    track: { nodes: [{ x: 1, y: 1 }, { x: 5, y: 1 }, { x: 3, y: 4 }] },
    objects: names.map((name, i) => ({ kind: "cone", name, x: i, y: 0 })),
  };
}

const groupOf = (document: ProjectDocument, name: string) => document.objects?.find((one) => one.name === name)?.group;

describe("groups of objects", () => {
  it("are selected together", () => {
    const document = cones("a", "b", "c");
    groupObjects(document, ["a", "b"]);
    expect([...withGroups(document, ["object:b"])].sort()).toEqual(["object:a", "object:b"]);
    expect([...withGroups(document, ["object:c", "node:1"])]).toEqual(["object:c", "node:1"]);
    expect(groupOf(document, "a")).toMatch(/^[A-Za-z0-9_]{1,32}$/);
  });

  it("end when one object is left, and when they are dissolved", () => {
    const document = cones("a", "b", "c", "d");
    groupObjects(document, ["a", "b"]);
    groupObjects(document, ["b", "c", "d"]);
    expect(document.objects?.[0]).toEqual({ kind: "cone", name: "a", x: 0, y: 0 });
    ungroupObjects(document, ["c"]);
    expect(document.objects?.every((object) => !("group" in object))).toBe(true);
  });

  it("of two editors are both kept", () => {
    const base = cones("a", "b", "c", "d");
    const [mine, theirs] = [structuredClone(base), structuredClone(base)];
    groupObjects(mine, ["a", "b"]);
    groupObjects(theirs, ["c", "d"]);
    const merged = mergeDocuments(base, mine, theirs);
    expect(["a", "b", "c", "d"].map((name) => groupOf(merged, name))).toEqual([
      groupOf(mine, "a"),
      groupOf(mine, "a"),
      groupOf(theirs, "c"),
      groupOf(theirs, "c"),
    ]);
    const dissolved = structuredClone(mine);
    ungroupObjects(dissolved, ["a"]);
    const moved = structuredClone(mine);
    if (moved.objects) moved.objects[2].x = 7;
    const both = mergeDocuments(mine, dissolved, moved);
    expect([groupOf(both, "a"), both.objects?.[2].x]).toEqual([undefined, 7]);
  });

  it("of copies are new ones", () => {
    const document = cones("a", "b", "c");
    groupObjects(document, ["a", "b"]);
    const clip = parseClip(JSON.stringify(copyItems(document, ["object:a", "object:b", "object:c"])));
    if (clip) pasteItems(document, clip, { x: 1, y: 0 });
    const groups = document.objects?.map(({ group }) => group) ?? [];
    expect(groups[3]).toBe(groups[4]);
    expect(groups[3]).not.toBe(groups[0]);
    expect([groups[2], groups[5]]).toEqual([undefined, undefined]);
    const single = copyItems(document, ["object:a"]);
    pasteItems(document, single, { x: 2, y: 0 });
    expect(document.objects?.at(-1)?.group).toBeUndefined();
  });

  it("of an older version are taken from the browser once", () => {
    const store = new MemoryStore();
    const document = cones("a", "b", "c", "d", "e");
    groupObjects(document, ["c", "d"]);
    const kept = [["a", "gone", "b"], ["c", "a"], ["e", "gone"], "x", [3]];
    store.setItem("chicane.build.groups.p", JSON.stringify(kept));
    expect(takeKeptGroups(store, "p", document)).toEqual([["a", "b"]]);
    expect(takeKeptGroups(store, "p", document)).toEqual([]);
    store.setItem("chicane.build.groups.p", "not JSON");
    expect(takeKeptGroups(store, "p", document)).toEqual([]);
    expect(takeKeptGroups(null, "p", document)).toEqual([]);
  });
});
