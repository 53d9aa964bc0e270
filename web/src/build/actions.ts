/** The actions of buttons and keys. An action that changes the document is one undo step. */
import { t } from "../strings.ts";
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
  rotateItems,
  scaleItems,
  shiftDecals,
  type AlignEdge,
  type Clip,
} from "./commands.ts";
import { MAX_OBJECTS, objectsOf, widthAt, type ObjectKind } from "./document.ts";
import type { Point } from "./geometry.ts";
import { groupObjects, ungroupObjects } from "./groups.ts";
import { allKeys, itemOf, itemsOf, nodeKey, START, type Item, type ItemKey } from "./items.ts";
import type { KeyStore } from "./pending.ts";
import type { EditorSession } from "./session.ts";
import { insertNode, moveStart, placeAfter, reverseTrack, setClosed, setNodeWidth } from "./track-commands.ts";

/**
 * The storage key of the last copied items. Storing them lets a paste work in another project too.
 */
const CLIP_KEY = "chicane.build.clip";
/** A copy is placed at this distance from its original, in metres, so that both can be seen. */
const OFFSET: Point = { x: 0.2, y: -0.2 };

/**
 * The place for a new object counts as taken if an existing object is closer to it than this, in
 * metres.
 */
const NEAR_M = 0.2;
/** While its place is taken, a new object moves aside by this distance along x, in metres. */
const STEP_ASIDE_M = 0.4;

export class Actions {
  /** Copies the pictures of a pasted clip into this project. `openEditor` sets this function. */
  fetchPictures: (project: string, names: readonly string[]) => Promise<void> = () => Promise.resolve();

  constructor(
    readonly session: EditorSession,
    readonly store: KeyStore | null,
  ) {}

  get #keys(): ItemKey[] {
    return [...this.session.selection.value].filter((key) => key !== START);
  }

  add(kind: ObjectKind, at: Point): void {
    if (objectsOf(this.session.document.value).length >= MAX_OBJECTS) {
      this.session.say(t.build.full);
      return;
    }
    const place = this.#freePlace(at);
    this.session.applyAndSelect(t.build.steps.add(t.build.palette[kind]), (draft) => addObject(draft, kind, place));
  }

  /**
   * Returns the place for a new object: `at`, or a place beside it if an object is already there.
   * If all new objects were placed at `at`, they would hide each other.
   */
  #freePlace({ x, y }: Point): Point {
    const objects = objectsOf(this.session.document.value);
    const isTaken = (at: number) => objects.some((object) => Math.hypot(object.x - at, object.y - y) < NEAR_M);
    let free = x;
    while (isTaken(free)) free += STEP_ASIDE_M;
    return { x: free, y };
  }

  addPicture(picture: string, at: Point, size?: { width: number; height: number }): void {
    this.session.applyAndSelect(t.build.steps.add(t.build.palette.picture), (draft) => addDecal(draft, picture, at, size));
  }

  remove(label: string = t.build.steps.remove): void {
    const keys = this.#keys;
    if (keys.length === 0) return;
    let removed = 0;
    this.session.apply(label, (draft) => (removed = deleteItems(draft, keys)));
    if (removed < keys.length) this.session.say(t.build.lastNodes);
    this.session.select([]);
  }

  duplicate(): void {
    const clip = copyItems(this.session.document.value, this.#keys);
    // Nodes are not copied, because pasted nodes are added at the end of the road.
    clip.nodes = [];
    if (clip.objects.length + clip.decals.length === 0) return;
    this.session.applyAndSelect(t.build.steps.duplicate, (draft) => pasteItems(draft, clip, OFFSET));
  }

  /** Copies the selected items. Returns the text for the clipboard; null if nothing is selected. */
  copy(): string | null {
    const keys = this.#keys;
    if (keys.length === 0) return null;
    const clip: Clip & { project: string } = {
      ...copyItems(this.session.document.value, keys),
      project: this.session.id,
    };
    const text = JSON.stringify(clip);
    try {
      this.store?.setItem(CLIP_KEY, text);
    } catch {
      // Storage is disabled or full. The system clipboard still has the text.
    }
    this.session.say(t.build.copied(keys.length));
    return text;
  }

  /** Pastes a text from the clipboard. If it contains no items, pastes the last copied items. */
  paste(text: string): void {
    const source = parseClip(text) ? text : (this.store?.getItem(CLIP_KEY) ?? "");
    const clip = parseClip(source);
    if (!clip) {
      this.session.say(t.build.nothingCopied);
      return;
    }
    const project = String((JSON.parse(source) as { project?: unknown }).project ?? "");
    const isOwn = project === this.session.id;
    this.session.applyAndSelect(t.build.steps.paste, (draft) => pasteItems(draft, clip, isOwn ? OFFSET : { x: 0, y: 0 }));
    const pictures = [
      ...clip.decals.map(({ picture }) => picture),
      ...clip.objects.flatMap(({ textures }) => Object.values(textures ?? {})),
    ];
    if (!isOwn && pictures.length > 0) void this.fetchPictures(project, [...new Set(pictures)]);
  }

  move(dx: number, dy: number): void {
    const keys = this.#keys;
    if (keys.length > 0) this.session.apply(t.build.steps.move, (draft) => moveItems(draft, keys, dx, dy));
  }

  rotate(angle: number): void {
    const keys = this.#keys;
    if (keys.length > 0) this.session.apply(t.build.steps.rotate, (draft) => rotateItems(draft, keys, angle));
  }

  scale(factor: number): void {
    const keys = this.#keys;
    if (keys.length > 0) this.session.apply(t.build.steps.scale, (draft) => scaleItems(draft, keys, factor));
  }

  align(edge: AlignEdge): void {
    const keys = this.#keys;
    if (keys.length > 1) this.session.apply(t.build.steps.align, (draft) => alignItems(draft, keys, edge));
  }

  distribute(axis: "x" | "y"): void {
    const keys = this.#keys;
    if (keys.length > 2) this.session.apply(t.build.steps.distribute, (draft) => distributeItems(draft, keys, axis));
  }

  shiftLayer(by: 1 | -1): void {
    const keys = this.#keys.filter((key) => key.startsWith("decal:"));
    if (keys.length > 0) this.session.applyAndSelect(t.build.steps.layer, (draft) => shiftDecals(draft, keys, by));
  }

  group(): void {
    const names = this.#objectNames();
    if (names.length < 2) return;
    this.session.apply(t.build.steps.group, (draft) => groupObjects(draft, names));
    this.session.say(t.build.grouped);
  }

  ungroup(): void {
    const names = this.#objectNames();
    this.session.apply(t.build.steps.ungroup, (draft) => ungroupObjects(draft, names));
    this.session.say(t.build.ungrouped);
  }

  #objectNames(): string[] {
    return this.#items().flatMap((item) => (item.kind === "object" ? [item.value.name] : []));
  }

  #items(): Item[] {
    return itemsOf(this.session.document.value, this.#keys);
  }

  selectAll(): void {
    const document = this.session.document.value;
    this.session.select(allKeys(document));
  }

  /** Selects the next item (`by` is 1) or the previous one (−1). */
  selectNext(by: 1 | -1): void {
    const keys = [...allKeys(this.session.document.value), START];
    const current = [...this.session.selection.value].at(-1);
    const at = current === undefined ? (by > 0 ? -1 : 0) : keys.indexOf(current);
    const next = keys[(at + by + keys.length) % keys.length];
    this.session.selection.value = new Set([next]);
  }

  /** Adds a node after the selected one; after the last node if none is selected. */
  addNode(): void {
    const node = this.#items().find((item) => item.kind === "node");
    const document = this.session.document.value;
    const index = node?.index ?? document.track.nodes.length - 1;
    const place = placeAfter(document, index);
    this.session.applyAndSelect(t.build.steps.insert, (draft) => {
      const at = insertNode(draft, index + 1, place);
      return at === null ? [] : [nodeKey(at)];
    });
  }

  /**
   * Changes the width of the road at the selected nodes by `by` metres. If no node is selected,
   * changes the width of the track, which applies to all nodes that have no width of their own.
   */
  widen(by: number): void {
    const nodes = this.#items().filter((item) => item.kind === "node");
    this.session.apply(t.build.steps.width, (draft) => {
      for (const { index, value } of nodes) setNodeWidth(draft, index, widthAt(draft.track, value) + by);
      if (nodes.length === 0) {
        draft.track.width = Math.round(Math.min(5, Math.max(0.2, (draft.track.width ?? 0.7) + by)) * 1e4) / 1e4;
      }
    });
  }

  /** Moves the start line along the road by `by` metres, in the direction of travel. */
  moveStart(by: number): void {
    const road = this.session.preview.value?.road;
    if (!road) return;
    const { track } = this.session.document.value;
    const first = !road.closed && track.direction === "backward" ? road.nodes_s.length - 1 : 0;
    const along = (track.start ?? 0) + by + (road.nodes_s[first] ?? 0);
    this.session.apply(t.build.steps.start, (draft) => moveStart(draft, road, along));
    this.session.selection.value = new Set([START]);
  }

  reverse(): void {
    const road = this.session.preview.value?.road ?? null;
    this.session.apply(t.build.steps.reverse, (draft) => reverseTrack(draft, road));
  }

  toggleClosed(): void {
    const { isTrackClosed } = this.session;
    this.session.apply(t.build.steps.close, (draft) => setClosed(draft, !isTrackClosed));
  }

  /** The name of an item for messages. */
  nameOf(key: ItemKey): string {
    if (key === START) return t.build.startLine;
    const item = itemOf(this.session.document.value, key);
    if (item?.kind === "object") return item.value.name;
    if (!item) return "";
    return item.kind === "node" ? t.build.node(item.index) : t.build.decal(item.index);
  }
}
