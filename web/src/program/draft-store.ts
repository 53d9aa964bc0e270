/**
 * Stores the draft in the browser's storage. All tabs of an origin share one draft: each tab adopts
 * the changes of the other tabs, so that a tab does not store an outdated draft.
 */
import { Signal } from "../ui/signal.ts";
import { type Draft, parseDraft } from "./draft.ts";

const KEY = "chicane.program.draft";
/**
 * A change is stored this long after the person has stopped typing, because storing writes all
 * files.
 */
const SAVE_AFTER_MS = 300;

export type DraftStorage = Pick<Storage, "getItem" | "setItem">;

export class DraftStore {
  readonly draft: Signal<Draft>;
  /** Whether the last change could not be stored. */
  readonly failed = new Signal(false);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSaved = true;

  /** `storage` is null if the browser has none. */
  constructor(
    readonly storage: DraftStorage | null,
    first: Draft,
  ) {
    this.draft = new Signal(this.#read() ?? first);
    if (storage === null) this.failed.value = true;
  }

  #read(): Draft | null {
    try {
      return parseDraft(this.storage?.getItem(KEY) ?? null);
    } catch {
      return null;
    }
  }

  /** Changes the draft, and stores it after a delay. */
  change(draft: Draft): void {
    this.draft.value = draft;
    this.#isSaved = false;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), SAVE_AFTER_MS);
  }

  /** Stores a change immediately, for example before the page is closed. */
  flush(): void {
    clearTimeout(this.#timer);
    if (this.#isSaved) return;
    try {
      if (this.storage === null) throw new Error();
      this.storage.setItem(KEY, JSON.stringify(this.draft.value));
      this.#isSaved = true;
      this.failed.value = false;
    } catch {
      // The storage is full or disabled. The page says so, and the next change tries again.
      this.failed.value = true;
    }
  }

  /** Adopts the change of another tab, unless this tab has a change that is not stored yet. */
  adopt(event: { key: string | null; newValue: string | null }): void {
    if (event.key !== KEY || !this.#isSaved) return;
    const draft = parseDraft(event.newValue);
    if (draft) this.draft.value = draft;
  }
}

/** The storage of the browser; null if it is disabled. */
export function browserStorage(): DraftStorage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}
