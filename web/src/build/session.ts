/**
 * The state of the open project on this page: the document with its history, the selection, the
 * tool and the settings of the views. The parts of the page watch the signals of the session and
 * change the document through it.
 */
import { t } from "../strings.ts";
import { persistedSignal, Signal } from "../ui/signal.ts";
import type { Preview } from "./client.ts";
import { copyOf, isClosed, type ProjectDocument } from "./document.ts";
import type { Editor } from "./editor.ts";
import type { Point } from "./geometry.ts";
import { withGroups } from "./groups.ts";
import { History } from "./history.ts";
import { itemOf, START, type ItemKey } from "./items.ts";
import type { Previewer } from "./previewer.ts";
import type { SnapSettings } from "./snapping.ts";
import type { SyncTarget } from "./sync.ts";

export type Tool = "select" | "pen" | "pan";
export type ViewMode = "plan" | "split" | "solid";
export const VIEW_MODES: readonly ViewMode[] = ["plan", "split", "solid"];
/** Distances of the grid that the user can choose, in metres. */
export const GRID_STEPS: readonly number[] = [0.05, 0.1, 0.25, 0.5, 1];

const isSnap = (value: unknown): value is SnapSettings => {
  const snap = value as Partial<SnapSettings> | null;
  return (
    typeof snap?.grid === "boolean" &&
    typeof snap.road === "boolean" &&
    typeof snap.items === "boolean" &&
    GRID_STEPS.includes(snap.step ?? 0)
  );
};
const isViewMode = (value: unknown): value is ViewMode => VIEW_MODES.includes(value as ViewMode);

export class EditorSession implements Editor, SyncTarget {
  readonly document: Signal<ProjectDocument>;
  readonly selection = new Signal<ReadonlySet<ItemKey>>(new Set());
  readonly tool = new Signal<Tool>("select");
  /** Nodes of the line that is being drawn; null if no line is being drawn. */
  readonly pen = new Signal<readonly Point[] | null>(null);
  /** Whether a tap adds to the selection, like a click with Shift. Used on touch screens. */
  readonly adding = new Signal(false);
  /** Whether undo and redo are possible. */
  readonly steps = new Signal({ undo: false, redo: false });
  readonly snap = persistedSignal<SnapSettings>("build.snap", { grid: true, step: 0.1, road: true, items: true }, isSnap);
  readonly view = persistedSignal<ViewMode>("build.view", "plan", isViewMode);
  readonly #history = new History();
  #drag: { label: string; before: ProjectDocument } | null = null;

  /** Shows a message for a few seconds. `openEditor` sets this function. */
  say: (text: string) => void = () => {};
  /** Called after every change that has to be saved. `openEditor` sets this function. */
  onCommit: () => void = () => {};
  /** Resolves when the server has saved every change so far. `openEditor` sets this function. */
  saved: () => Promise<void> = () => Promise.resolve();

  constructor(
    readonly id: string,
    document: ProjectDocument,
    readonly previewer: Previewer,
  ) {
    this.document = new Signal(copyOf(document));
    this.document.watch(() => this.#showPreview());
    this.pen.watch(() => this.#showPreview());
  }

  get preview(): Signal<Preview | null> {
    return this.previewer.preview;
  }

  get committed(): ProjectDocument {
    return this.#drag?.before ?? this.document.value;
  }

  get isDragging(): boolean {
    return this.#drag !== null;
  }

  apply(label: string, change: (draft: ProjectDocument) => void): void {
    this.commit();
    this.begin(label);
    this.drag(change);
    this.commit();
  }

  /** Like `apply`. `change` returns the new selection. */
  applyAndSelect(label: string, change: (draft: ProjectDocument) => Iterable<ItemKey>): void {
    let keys: Iterable<ItemKey> = [];
    this.apply(label, (draft) => (keys = change(draft)));
    this.select(keys);
  }

  /** Starts a drag. All its changes are one undo step. */
  begin(label: string): void {
    this.#drag ??= { label, before: this.document.value };
  }

  /** Shows the document of a drag: `change` applied to the document from before the drag. */
  drag(change: (draft: ProjectDocument) => void): void {
    if (!this.#drag) return;
    const draft = copyOf(this.#drag.before);
    change(draft);
    this.#show(draft);
  }

  /** Ends a drag as one undo step. The result is then saved. */
  commit(): void {
    const drag = this.#drag;
    if (!drag) return;
    this.#drag = null;
    this.#history.add({ label: drag.label, before: drag.before, after: this.document.value });
    this.#changed();
  }

  /** Ends a drag and restores the document from before it. Returns false if there was no drag. */
  cancel(): boolean {
    const drag = this.#drag;
    if (!drag) return false;
    this.#drag = null;
    this.#show(drag.before);
    this.#changed();
    return true;
  }

  undo(): void {
    this.commit();
    const step = this.#history.undo(this.document.value);
    this.say(step ? t.build.undone(step.label) : t.build.nothingToUndo);
    if (step) this.#show(step.document);
    this.#changed();
  }

  redo(): void {
    this.commit();
    const step = this.#history.redo(this.document.value);
    this.say(step ? t.build.redone(step.label) : t.build.nothingToRedo);
    if (step) this.#show(step.document);
    this.#changed();
  }

  adopt(document: ProjectDocument): void {
    this.#show(document);
  }

  /** Selects items. Objects of a group are selected together. */
  select(keys: Iterable<ItemKey>, how: "replace" | "toggle" = "replace"): void {
    const document = this.document.value;
    const wanted = withGroups(document, keys);
    if (how === "replace") {
      this.selection.value = wanted;
      return;
    }
    const next = new Set(this.selection.value);
    const all = [...wanted].every((key) => next.has(key));
    for (const key of wanted) {
      if (all) next.delete(key);
      else next.add(key);
    }
    this.selection.value = next;
  }

  #changed(): void {
    this.steps.value = { undo: this.#history.canUndo, redo: this.#history.canRedo };
    this.onCommit();
  }

  #show(document: ProjectDocument): void {
    this.document.value = document;
    const kept = [...this.selection.value].filter((key) => key === START || itemOf(document, key));
    if (kept.length !== this.selection.value.size) this.selection.value = new Set(kept);
  }

  /**
   * Requests the preview of the document. While a line with at least two points is being drawn,
   * requests the road of that line instead of the road of the document.
   */
  #showPreview(): void {
    const points = this.pen.value;
    const document = this.document.value;
    if (!points || points.length < 2) {
      this.previewer.want(document);
      return;
    }
    const track = { ...document.track, nodes: points.map(({ x, y }) => ({ x, y })), closed: false, start: 0 };
    this.previewer.want({ ...document, track: { ...track, direction: "forward" } });
  }

  get isTrackClosed(): boolean {
    return isClosed(this.document.value.track);
  }
}
