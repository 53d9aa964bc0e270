/**
 * Groups of objects that are selected together. A project document has no groups, so they are kept
 * in this browser.
 */
import { objectsOf, type ProjectDocument } from "./document.ts";
import { objectKey, type ItemKey } from "./items.ts";
import type { KeyStore } from "./pending.ts";

const MAX_GROUPS = 200;

export class Groups {
  #groups: string[][] = [];

  constructor(
    readonly store: KeyStore | null,
    readonly project: string,
  ) {
    try {
      const kept: unknown = JSON.parse(store?.getItem(this.#key) ?? "[]");
      if (Array.isArray(kept)) {
        this.#groups = kept.filter((group): group is string[] => Array.isArray(group)).slice(0, MAX_GROUPS);
      }
    } catch {
      // Storage is disabled or holds invalid JSON, so there are no groups.
    }
  }

  get #key(): string {
    return `chicane.build.groups.${this.project}`;
  }

  /** The keys with all members of their groups. */
  expand(document: ProjectDocument, keys: Iterable<ItemKey>): Set<ItemKey> {
    const expanded = new Set(keys);
    const present = new Set(objectsOf(document).map(({ name }) => name));
    for (const group of this.#groups) {
      const members = group.filter((name) => present.has(name)).map(objectKey);
      if (members.some((key) => expanded.has(key))) for (const key of members) expanded.add(key);
    }
    return expanded;
  }

  /** Whether one of the keys belongs to a group. */
  has(keys: Iterable<ItemKey>): boolean {
    const wanted = new Set(keys);
    return this.#groups.some((group) => group.some((name) => wanted.has(objectKey(name))));
  }

  group(names: readonly string[]): void {
    this.#remove(names);
    if (names.length > 1) this.#groups = [...this.#groups.slice(-(MAX_GROUPS - 1)), [...names]];
    this.#keep();
  }

  ungroup(names: readonly string[]): void {
    const wanted = new Set(names);
    this.#groups = this.#groups.filter((group) => !group.some((name) => wanted.has(name)));
    this.#keep();
  }

  renamed(before: string, after: string): void {
    this.#groups = this.#groups.map((group) => group.map((name) => (name === before ? after : name)));
    this.#keep();
  }

  #remove(names: readonly string[]): void {
    const gone = new Set(names);
    this.#groups = this.#groups.map((group) => group.filter((name) => !gone.has(name))).filter((g) => g.length > 1);
  }

  #keep(): void {
    try {
      this.store?.setItem(this.#key, JSON.stringify(this.#groups));
    } catch {
      // Storage is disabled or full. The groups then last until the page is closed.
    }
  }
}
