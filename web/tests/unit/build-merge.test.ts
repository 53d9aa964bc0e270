import { describe, expect, it } from "vitest";
import { addDecal, addObject, deleteItems, moveItems, renameObject, shiftDecals } from "../../src/build/commands.ts";
import { decalsOf, objectsOf, type ProjectDocument } from "../../src/build/document.ts";
import { History } from "../../src/build/history.ts";
import { mergeDocuments } from "../../src/build/merge.ts";
import { insertNode } from "../../src/build/track-commands.ts";
import { project, random } from "./build-fake.ts";

/** The document after a change. */
function changed(base: ProjectDocument, change: (draft: ProjectDocument) => void): ProjectDocument {
  const draft = structuredClone(base);
  change(draft);
  return draft;
}

describe("a merge", () => {
  const base = project();

  it("takes the only change of each field", () => {
    const mine = changed(base, (d) => {
      d.field.size = [10, 6];
      objectsOf(d)[0].x = 5;
    });
    const theirs = changed(base, (d) => {
      d.field.ground = "grass";
      objectsOf(d)[0].y = 1;
      delete d.fence;
    });
    const merged = mergeDocuments(base, mine, theirs);
    expect(merged.field).toEqual({ size: [10, 6], ground: "grass" });
    expect(objectsOf(merged)[0]).toMatchObject({ x: 5, y: 1 });
    expect(merged.fence).toBeUndefined();
  });

  it("takes mine if both changed one field, and keeps the rest", () => {
    const mine = changed(base, (d) => (objectsOf(d)[0].x = 5));
    const theirs = changed(base, (d) => (objectsOf(d)[0].x = 6));
    expect(objectsOf(mergeDocuments(base, mine, theirs))[0].x).toBe(5);
  });

  it("keeps new objects of both, and gives equal names to none", () => {
    const mine = changed(base, (d) => void addObject(d, "box", { x: 1, y: 4 }));
    const theirs = changed(base, (d) => void addObject(d, "box", { x: 6, y: 4 }));
    const merged = mergeDocuments(base, mine, theirs);
    expect(objectsOf(merged).map(({ name }) => name).toSorted()).toEqual(["box1", "box2", "box3", "cone1"]);
    expect(objectsOf(merged).find(({ x }) => x === 6)?.name).toBe("box2");
  });

  it("does not add the same new object twice", () => {
    const mine = changed(base, (d) => void addObject(d, "box", { x: 1, y: 4 }));
    expect(mergeDocuments(base, mine, structuredClone(mine))).toEqual(mine);
    const more = changed(mine, (d) => (d.field.ground = "grass"));
    expect(objectsOf(mergeDocuments(base, more, mine))).toHaveLength(3);
  });

  it("deletes what one side deleted, but not what the other side changed", () => {
    const without = changed(base, (d) => void deleteItems(d, ["object:box1"]));
    const moved = changed(base, (d) => moveItems(d, ["object:box1"], 1, 0));
    const other = changed(base, (d) => moveItems(d, ["object:cone1"], 1, 0));
    expect(objectsOf(mergeDocuments(base, without, other)).map(({ name }) => name)).toEqual(["cone1"]);
    expect(objectsOf(mergeDocuments(base, without, moved)).map(({ name }) => name)).toContain("box1");
    expect(objectsOf(mergeDocuments(base, moved, without)).map(({ name }) => name)).toContain("box1");
  });

  it("follows an object that one side renamed", () => {
    const renamed = changed(base, (d) => void renameObject(d, "object:box1", "gate"));
    const moved = changed(base, (d) => moveItems(d, ["object:box1"], 1, 0));
    for (const [mine, theirs] of [
      [renamed, moved],
      [moved, renamed],
    ]) {
      const merged = objectsOf(mergeDocuments(base, mine, theirs));
      expect(merged.map(({ name, x }) => [name, x])).toEqual([
        ["gate", 3],
        ["cone1", 4],
      ]);
    }
  });

  it("recognizes nodes by their order: inserted, moved and deleted ones", () => {
    const mine = changed(base, (d) => {
      insertNode(d, 1, { x: 4, y: 0.5 });
      d.track.nodes[3] = { x: 7.2, y: 5.2 };
    });
    const theirs = changed(base, (d) => {
      insertNode(d, 3, { x: 4, y: 5.5 });
      d.track.nodes[0].width = 0.9;
    });
    const expected = [
      { x: 1, y: 1, width: 0.9 },
      { x: 4, y: 0.5 },
      { x: 7, y: 1 },
      { x: 7.2, y: 5.2 },
      { x: 4, y: 5.5 },
      { x: 1, y: 5 },
    ];
    expect(mergeDocuments(base, mine, theirs).track.nodes).toEqual(expected);
    expect(mergeDocuments(base, theirs, mine).track.nodes).toEqual(expected);
    const without = changed(base, (d) => void deleteItems(d, ["node:3"]));
    expect(mergeDocuments(base, without, theirs).track.nodes).toHaveLength(4);
  });

  it("never leaves less nodes than the server accepts", () => {
    const open = changed(base, (d) => {
      d.track.closed = false;
      d.track.nodes = d.track.nodes.slice(0, 2);
    });
    const fewer = changed(base, (d) => void deleteItems(d, ["node:0"]));
    for (const merged of [mergeDocuments(base, open, fewer), mergeDocuments(base, fewer, open)]) {
      expect(merged.track.nodes.length).toBeGreaterThanOrEqual(merged.track.closed ? 3 : 2);
    }
  });

  it("keeps the layers of pictures that one side reordered", () => {
    const layered = changed(base, (d) => {
      for (const name of ["a.png", "b.png", "c.png"]) addDecal(d, name, { x: 1, y: 1 });
    });
    const reordered = changed(layered, (d) => void shiftDecals(d, ["decal:0"], 1));
    const grown = changed(layered, (d) => (decalsOf(d)[2].width = 3));
    for (const [mine, theirs] of [
      [reordered, grown],
      [grown, reordered],
    ]) {
      const merged = decalsOf(mergeDocuments(layered, mine, theirs));
      expect(merged.map(({ picture, width }) => [picture, width])).toEqual([
        ["b.png", 1],
        ["a.png", 1],
        ["c.png", 3],
      ]);
    }
  });

  it("of random changes has every change that only one side made", () => {
    const next = random(11);
    for (let round = 0; round < 200; round++) {
      const start = changed(base, (d) => {
        for (let i = 0; i < 6; i++) addObject(d, "box", { x: next(), y: next() });
      });
      const names = objectsOf(start).map(({ name }) => name);
      const [own, other] = [names.filter((_, i) => i % 2 === 0), names.filter((_, i) => i % 2 === 1)];
      const shift = (keys: string[], by: number) =>
        changed(start, (d) => moveItems(d, keys.map((name) => `object:${name}`), by, by));
      const merged = mergeDocuments(start, shift(own, 1), shift(other, 2));
      expect(objectsOf(merged)).toHaveLength(names.length);
      for (const { name, x } of objectsOf(merged)) {
        const before = objectsOf(start).find((object) => object.name === name)?.x ?? NaN;
        expect(x - before).toBeCloseTo(own.includes(name) ? 1 : 2);
      }
    }
  });
});

describe("undo", () => {
  it("keeps the changes that others have made since", () => {
    const history = new History();
    const before = project();
    const after = changed(before, (d) => moveItems(d, ["object:box1"], 1, 0));
    history.add({ label: "move", before, after });
    const current = changed(after, (d) => {
      moveItems(d, ["object:cone1"], 0, 1);
      void addObject(d, "light", { x: 1, y: 1 });
    });
    const undone = history.undo(current)?.document;
    expect(undone && objectsOf(undone).map(({ name, x, y }) => [name, x, y])).toEqual([
      ["box1", 2, 3],
      ["cone1", 4, 4],
      ["light1", 1, 1],
    ]);
    expect(undone && history.redo(undone)?.document).toEqual(current);
  });
});
