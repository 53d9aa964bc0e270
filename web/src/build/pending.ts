/**
 * Stores in `localStorage` the changes that the server has not acknowledged yet. They survive a
 * reload, a closed tab and a stopped server. Every editor has its own entry, so that two tabs of
 * one browser do not overwrite each other's changes.
 */
import type { ProjectDocument } from "./document.ts";

export interface PendingChange {
  /** The last document that the server acknowledged. */
  base: ProjectDocument;
  /** The document of this page. */
  document: ProjectDocument;
}

/** The part of `Storage` that this module uses. Tests pass a fake. */
export type KeyStore = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

const PREFIX = "chicane.build.pending.";

export class PendingStore {
  constructor(
    readonly store: KeyStore | null,
    readonly project: string,
    readonly editor: string,
  ) {}

  get #key(): string {
    return `${PREFIX}${this.project}.${this.editor}`;
  }

  /** Stores a change. Returns false if the browser's storage is full or disabled. */
  keep(change: PendingChange): boolean {
    try {
      this.store?.setItem(this.#key, JSON.stringify(change));
      return this.store !== null;
    } catch {
      return false;
    }
  }

  forget(): void {
    try {
      this.store?.removeItem(this.#key);
    } catch {
      // Storage is disabled, so there is no entry either.
    }
  }

  /**
   * Removes and returns all stored changes of the project, including those of other tabs, because a
   * closed tab can no longer send its changes.
   */
  take(): PendingChange[] {
    const found: PendingChange[] = [];
    for (const key of this.#keys()) {
      try {
        const text = this.store?.getItem(key) ?? "null";
        // The entry is removed before it is parsed. Otherwise an unreadable one would stay forever.
        this.store?.removeItem(key);
        const change = JSON.parse(text) as PendingChange | null;
        if (change?.base?.track?.nodes && change.document?.track?.nodes) found.push(change);
      } catch {
        // The entry is not readable, so it cannot be sent.
      }
    }
    return found;
  }

  #keys(): string[] {
    const keys: string[] = [];
    try {
      for (let i = 0; i < (this.store?.length ?? 0); i++) {
        const key = this.store?.key(i);
        if (key?.startsWith(`${PREFIX}${this.project}.`)) keys.push(key);
      }
    } catch {
      // Storage is disabled.
    }
    return keys.toSorted();
  }
}

/** `localStorage`; null if the browser has it disabled. */
export function browserStore(): KeyStore | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}
