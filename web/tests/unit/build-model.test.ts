import { describe, expect, it } from "vitest";
import {
  addDecal,
  addObject,
  alignItems,
  copyItems,
  deleteItems,
  distributeItems,
  moveItems,
  parseClip,
  pasteItems,
  renameObject,
  rotateItems,
  scaleItems,
  shiftDecals,
} from "../../src/build/commands.ts";
import type { Road } from "../../src/build/client.ts";
import { isEqual, objectsOf, OBJECT_KINDS, type ProjectDocument } from "../../src/build/document.ts";
import { History } from "../../src/build/history.ts";
import { allKeys, extentOfItems, itemsOf } from "../../src/build/items.ts";
import { freeName, isValidName, namesOf } from "../../src/build/names.ts";
import {
  drawTrack,
  insertIndex,
  insertNode,
  moveStart,
  placeAfter,
  reverseTrack,
  setClosed,
  setNodeWidth,
} from "../../src/build/track-commands.ts";
import { project, random } from "./build-fake.ts";

/** A square road with a sample at every corner, which is enough for the commands. */
function road(closed: boolean): Road {
  const centre: [number, number, number][] = [
    [0, 0, 1],
    [4, 0, 1],
    [4, 4, 1],
    [0, 4, 1],
  ];
  const border = centre.map(([x, y]): [number, number] => [x, y]);
  return {
    centre,
    left: border,
    right: border,
    closed,
    length: closed ? 16 : 12,
    start: { x: 0, y: 0, yaw: 0 },
    tightest: null,
    overlaps: [],
    nodes_s: [0, 4, 8, 12],
  };
}

/** One random edit, as a user would make it. */
function edit(draft: ProjectDocument, next: () => number): void {
  const keys = allKeys(draft);
  const some = keys.filter(() => next() < 0.4);
  const at = { x: 8 * next(), y: 6 * next() };
  const edits = [
    () => addObject(draft, OBJECT_KINDS[Math.floor(next() * OBJECT_KINDS.length)], at),
    () => addDecal(draft, "a.png", at),
    () => moveItems(draft, some, next() - 0.5, next() - 0.5),
    () => rotateItems(draft, some, 6 * next() - 3),
    () => scaleItems(draft, some, 0.5 + next()),
    () => deleteItems(draft, some.slice(0, 2)),
    () => pasteItems(draft, copyItems(draft, some.slice(0, 3)), at),
    () => alignItems(draft, some, (["left", "centre", "right", "bottom", "middle", "top"] as const)[Math.floor(6 * next())]),
    () => distributeItems(draft, some, next() < 0.5 ? "x" : "y"),
    () => shiftDecals(draft, some, next() < 0.5 ? 1 : -1),
    () => insertNode(draft, Math.floor(next() * draft.track.nodes.length), at),
    () => setNodeWidth(draft, Math.floor(next() * draft.track.nodes.length), next() < 0.3 ? null : 3 * next()),
    () => setClosed(draft, next() < 0.5),
    () => reverseTrack(draft, road(true)),
    () => moveStart(draft, road(true), 16 * next()),
    () => (draft.field.size[0] = 4 + 6 * next()),
    () => (next() < 0.5 ? delete draft.fence : (draft.fence = { height: 0.3, colour: "#112233" })),
  ];
  edits[Math.floor(next() * edits.length)]();
}

describe("commands", () => {
  it("undone in reverse order give the first document again, and redone the last one", () => {
    for (const seed of [1, 2, 3]) {
      const next = random(seed);
      const history = new History();
      const documents = [project()];
      for (let i = 0; i < 200; i++) {
        const before = documents[documents.length - 1];
        const after = structuredClone(before);
        edit(after, next);
        history.add({ label: String(i), before, after });
        if (!isEqual(before, after)) documents.push(after);
      }
      expect(documents.length).toBeGreaterThan(150);
      let current = documents[documents.length - 1];
      for (const expected of documents.slice(0, -1).toReversed()) {
        current = history.undo(current)?.document ?? current;
        expect(current).toEqual(expected);
      }
      expect(history.canUndo).toBe(false);
      for (const expected of documents.slice(1)) {
        current = history.redo(current)?.document ?? current;
        expect(current).toEqual(expected);
      }
      expect(history.redo(current)).toBe(null);
    }
  });

  it("keep names unique and coordinates within the limits", () => {
    const next = random(7);
    const document = project();
    for (let i = 0; i < 300; i++) edit(document, next);
    const names = objectsOf(document).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.every(isValidName)).toBe(true);
    expect(document.track.nodes.length).toBeGreaterThanOrEqual(2);
    for (const { value } of itemsOf(document, allKeys(document))) {
      expect(Math.abs(value.x)).toBeLessThanOrEqual(200);
      expect(Math.abs(value.y)).toBeLessThanOrEqual(200);
    }
  });

  it("rotate and scale several items around their common centre", () => {
    const document = project();
    const keys = ["object:box1", "object:cone1"];
    rotateItems(document, keys, Math.PI / 2);
    const [box, cone] = objectsOf(document);
    expect(Math.abs(box.x - cone.x)).toBeLessThan(0.1);
    expect(Math.abs(box.y - cone.y)).toBeCloseTo(2, 1);
    expect(box.yaw).toBeCloseTo(Math.PI / 2);
    const before = extentOfItems(itemsOf(document, keys));
    scaleItems(document, keys, 2);
    const after = extentOfItems(itemsOf(document, keys));
    expect((after?.maxY ?? 0) - (after?.minY ?? 0)).toBeCloseTo(2 * ((before?.maxY ?? 0) - (before?.minY ?? 0)), 1);
    expect(box.size).toEqual([0.6, 0.4, 0.2]);
  });

  it("align at an edge, and distribute at equal distances", () => {
    const document = project();
    addObject(document, "sphere", { x: 7, y: 4 });
    const keys = ["object:box1", "object:cone1", "object:sphere1"];
    alignItems(document, keys, "bottom");
    const lows = keys.map((key) => extentOfItems(itemsOf(document, [key]))?.minY ?? NaN);
    for (const low of lows) expect(low).toBeCloseTo(lows[0], 3);
    distributeItems(document, keys, "x");
    expect(objectsOf(document).map(({ x }) => x)).toEqual([2, 4.5, 7]);
  });

  it("leave the smallest number of nodes, and say what was deleted", () => {
    const document = project();
    const nodes = ["node:0", "node:1", "node:2", "node:3"];
    expect(deleteItems(document, nodes)).toBe(1);
    expect(document.track.nodes).toHaveLength(3);
    setClosed(document, false);
    expect(deleteItems(document, nodes)).toBe(1);
    expect(document.track.nodes).toHaveLength(2);
    setClosed(document, true);
    expect(document.track.nodes).toHaveLength(3);
  });

  it("move pictures between layers", () => {
    const document = project();
    for (const name of ["a", "b", "c"]) addDecal(document, `${name}.png`, { x: 1, y: 1 });
    const order = () => (document.decals ?? []).map(({ picture }) => picture[0]).join("");
    expect(shiftDecals(document, ["decal:0"], 1)).toEqual(["decal:1"]);
    expect(order()).toBe("bac");
    expect(shiftDecals(document, ["decal:1", "decal:2"], 1).toSorted()).toEqual(["decal:1", "decal:2"]);
    expect(order()).toBe("bac");
    expect(shiftDecals(document, ["decal:1", "decal:2"], -1).toSorted()).toEqual(["decal:0", "decal:1"]);
    expect(order()).toBe("acb");
  });

  it("paste only what a clipboard of this page has", () => {
    const clip = copyItems(project(), ["object:box1", "node:1"]);
    expect(parseClip(JSON.stringify(clip))).toEqual(clip);
    for (const text of ["", "[]", "null", "{}", '{"chicane":"other"}', "<script>", '{"chicane":"items","objects":7}']) {
      const parsed = parseClip(text);
      expect(parsed === null || parsed.objects.length === 0, text).toBe(true);
    }
    const bad = { chicane: "items", objects: [{ kind: "bomb", name: "x", x: 1, y: 1 }, null, { kind: "box", x: 1, y: 1 }] };
    expect(parseClip(JSON.stringify(bad))?.objects).toEqual([]);
    // The server refuses unknown fields, so they must not get into the document.
    const extra = { kind: "light", name: "a", x: 1, y: 2, mass: 3, evil: 1, textures: { front: "a.png" } };
    expect(parseClip(JSON.stringify({ chicane: "items", objects: [extra] }))?.objects).toEqual([
      { kind: "light", name: "a", x: 1, y: 2 },
    ]);
  });
});

describe("names", () => {
  it("are free, valid and count up", () => {
    expect(freeName(new Set(), "box1")).toBe("box1");
    expect(freeName(new Set(["box1", "box2"]), "box1")).toBe("box3");
    expect(freeName(new Set(["box9"]), "box9")).toBe("box10");
    expect(freeName(new Set(["gate"]), "gate")).toBe("gate2");
    const long = "a".repeat(64);
    expect(freeName(new Set([long]), long).length).toBeLessThanOrEqual(64);
    for (const name of ["a", "box_1", "Start"]) expect(isValidName(name), name).toBe(true);
    for (const name of ["", "a b", "<b>", "world", "wall_3", "__x", "é", "a".repeat(65)]) {
      expect(isValidName(name), name).toBe(false);
    }
  });

  it("are not given twice by a rename or a paste", () => {
    const document = project();
    expect(renameObject(document, "object:box1", "cone1")).toBe(null);
    expect(renameObject(document, "object:box1", "gate")).toBe("object:gate");
    pasteItems(document, copyItems(document, ["object:gate", "object:cone1"]), { x: 1, y: 0 });
    expect([...namesOf(document)].toSorted()).toEqual(["cone1", "cone2", "gate", "gate2"]);
  });
});

describe("the track", () => {
  it("gets a new node between its neighbours, in both directions", () => {
    const { track } = project();
    expect([1, 5, 9, 13].map((s) => insertIndex(track, road(true), s))).toEqual([1, 2, 3, 4]);
    expect([1, 5, 9].map((s) => insertIndex({ ...track, closed: false }, road(false), s))).toEqual([1, 2, 3]);
    // Backward, the line passes the nodes in the order 0, 3, 2, 1.
    const backward = { ...road(true), nodes_s: [0, 12, 8, 4] };
    expect([1, 5, 9, 13].map((s) => insertIndex({ ...track, direction: "backward" }, backward, s))).toEqual([4, 3, 2, 1]);
  });

  it("goes on at its open end, where a new node was placed halfway back to the first one", () => {
    const closed = project();
    expect(placeAfter(closed, 3)).toEqual({ x: 1, y: 3 });
    const open = { ...closed, track: { ...closed.track, closed: false } };
    expect(placeAfter(open, 0)).toEqual({ x: 4, y: 1 });
    const after = (...points: [number, number][]) =>
      placeAfter({ ...open, track: { ...open.track, nodes: points.map(([x, y]) => ({ x, y })) } }, points.length - 1);
    expect(after([1, 1], [3, 1], [4, 2])).toEqual({ x: 5, y: 3 });
    // The road ends at the edge of the field, which is 8 m wide. The node is half the width of the
    // road away from the edge.
    expect(after([1, 1], [6, 1]).x).toBeCloseTo(7.65);
    expect(after([7, 1], [2, 1]).x).toBeCloseTo(0.35);
    // There is no room left, but two nodes must not be at the same place.
    expect(after([1, 1], [7.9, 1]).x).toBeCloseTo(8.1);
  });

  it("keeps its start line at the same place when it is reversed", () => {
    const document = project();
    moveStart(document, road(true), 6);
    expect(document.track.start).toBe(6);
    reverseTrack(document, road(true));
    expect([document.track.direction, document.track.start]).toEqual(["backward", 10]);
    reverseTrack(document, road(true));
    expect([document.track.direction, document.track.start]).toEqual(["forward", 6]);
    // A closed line begins at the start line, so the first node can be at any distance.
    moveStart(document, { ...road(true), nodes_s: [10, 14, 2, 6] }, 3);
    expect(document.track.start).toBe(9);
  });

  it("is replaced only by a line with enough points", () => {
    const document = project();
    const points = [
      { x: 1, y: 1 },
      { x: 2.00001, y: 1 },
    ];
    expect(drawTrack(document, points, true)).toBe(false);
    expect(document.track.nodes).toHaveLength(4);
    expect(drawTrack(document, points, false)).toBe(true);
    expect(document.track.nodes).toEqual([
      { x: 1, y: 1 },
      { x: 2, y: 1 },
    ]);
  });
});
