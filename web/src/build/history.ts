/**
 * Undo and redo. A step contains the documents before and after it. If nobody else has changed the
 * document since, undo restores exactly the document before the step. Otherwise the changes of
 * others are kept (see `merge.ts`).
 */
import { isEqual, type ProjectDocument } from "./document.ts";
import { mergeDocuments } from "./merge.ts";

export interface Step {
  /** Name of the step, for the message after an undo. */
  label: string;
  before: ProjectDocument;
  after: ProjectDocument;
}

/** Largest number of steps that can be undone. Older steps are dropped. */
const MAX_STEPS = 300;

export class History {
  #done: Step[] = [];
  #undone: Step[] = [];

  get canUndo(): boolean {
    return this.#done.length > 0;
  }

  get canRedo(): boolean {
    return this.#undone.length > 0;
  }

  /** Adds a step. A step without a change is ignored. */
  add(step: Step): void {
    if (isEqual(step.before, step.after)) return;
    this.#done.push(step);
    if (this.#done.length > MAX_STEPS) this.#done.shift();
    this.#undone = [];
  }

  /**
   * The document without the last step, and the label of that step; null if there is no step to
   * undo.
   */
  undo(current: ProjectDocument): { document: ProjectDocument; label: string } | null {
    const step = this.#done.pop();
    if (!step) return null;
    this.#undone.push(step);
    return { document: mergeDocuments(step.after, step.before, current), label: step.label };
  }

  /** The document with the last undone step applied again; null if there is no step to redo. */
  redo(current: ProjectDocument): { document: ProjectDocument; label: string } | null {
    const step = this.#undone.pop();
    if (!step) return null;
    this.#done.push(step);
    return { document: mergeDocuments(step.before, step.after, current), label: step.label };
  }
}
