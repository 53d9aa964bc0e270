/** A project and an in-memory server for the unit tests of the builder. */
import { ApiError } from "../../src/net/api.ts";
import { BuilderError, type ProjectEvents, type ProjectView, type Saved } from "../../src/build/client.ts";
import type { ProjectDocument } from "../../src/build/document.ts";
import type { KeyStore } from "../../src/build/pending.ts";
import type { ProjectServer } from "../../src/build/sync.ts";

export const ID = "0123456789abcdef";

export function project(): ProjectDocument {
  return {
    version: 1,
    name: "loop",
    display_name: "Loop",
    field: { size: [8, 6], ground: "carpet" },
    fence: { height: 0.25, colour: "#29548c" },
    track: {
      closed: true,
      width: 0.7,
      nodes: [
        { x: 1, y: 1 },
        { x: 7, y: 1 },
        { x: 7, y: 5 },
        { x: 1, y: 5 },
      ],
      direction: "forward",
      start: 0,
      outer_line: { width: 0.03 },
      start_line: true,
    },
    decals: [],
    objects: [
      { kind: "box", name: "box1", x: 2, y: 3, yaw: 0, size: [0.3, 0.2, 0.2], mass: 0.5, static: false },
      { kind: "cone", name: "cone1", x: 4, y: 3, yaw: 0, base: 0.135, height: 0.23, mass: 0.25, static: false },
    ],
  };
}

/** Random numbers from 0 to 1, made from a seed by a linear congruential generator. */
export function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

export class MemoryStore implements KeyStore {
  readonly #map = new Map<string, string>();
  get length(): number {
    return this.#map.size;
  }
  getItem = (key: string): string | null => this.#map.get(key) ?? null;
  setItem = (key: string, value: string): void => void this.#map.set(key, value);
  removeItem = (key: string): void => void this.#map.delete(key);
  key = (index: number): string | null => [...this.#map.keys()][index] ?? null;
}

/**
 * The server's side of a project. It stores each accepted save, and announces it to all streams.
 */
export class FakeServer implements ProjectServer {
  revision = 1;
  /** Whether requests fail, as if the server were down. */
  isDown = false;
  /** The error with which the next save is answered; null accepts it. */
  refusal: ApiError | null = null;
  saves = 0;
  readonly streams = new Set<ProjectEvents>();

  constructor(public document: ProjectDocument) {}

  async read(): Promise<ProjectView> {
    await Promise.resolve();
    if (this.isDown) throw new ApiError(0, "down");
    return { id: ID, revision: this.revision, updated: "", document: structuredClone(this.document), files: [] };
  }

  async save(_id: string, revision: number, document: ProjectDocument, editor?: string): Promise<Saved> {
    const sent = structuredClone(document);
    await Promise.resolve();
    if (this.isDown) throw new ApiError(0, "down");
    if (this.refusal) {
      const refusal = this.refusal;
      this.refusal = null;
      throw refusal;
    }
    if (revision !== this.revision) {
      const fields = { revision: this.revision, document: structuredClone(this.document) };
      throw new BuilderError(new ApiError(409, "conflict", "revision_conflict" as never), fields);
    }
    this.saves++;
    this.#accept(sent, editor ?? null);
    return { revision: this.revision, updated: "", errors: 0, warnings: 0 };
  }

  /** A change of another editor. */
  change(change: (document: ProjectDocument) => void): void {
    const next = structuredClone(this.document);
    change(next);
    this.#accept(next, "other");
  }

  #accept(document: ProjectDocument, editor: string | null): void {
    this.document = document;
    this.revision++;
    for (const stream of this.streams) stream.revision({ revision: this.revision, editor });
  }

  events(_id: string, on: ProjectEvents): () => void {
    this.streams.add(on);
    on.connected?.(!this.isDown);
    on.revision({ revision: this.revision, editor: null });
    return () => this.streams.delete(on);
  }
}
