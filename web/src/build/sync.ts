/**
 * Keeps the document of this page and the document on the server in sync.
 *
 * A local change is first stored in the browser and then saved on the server after a short delay.
 * The server accepts a save only if it is based on the server's current revision. If the save is
 * based on an older revision, or if another editor made a change, the documents are merged field by
 * field and the result is saved. While the server does not respond, saves are repeated with a
 * growing delay.
 */
import { ApiError } from "../net/api.ts";
import { messageOf } from "../ui/platform.ts";
import { Signal } from "../ui/signal.ts";
import { conflictOf, type ProjectEvents, type ProjectView, type Saved } from "./client.ts";
import { copyOf, isEqual, type ProjectDocument } from "./document.ts";
import { mergeDocuments } from "./merge.ts";
import type { PendingStore } from "./pending.ts";

/** The requests that this module uses. `BuilderClient` implements them; tests pass a fake. */
export interface ProjectServer {
  read(id: string): Promise<ProjectView>;
  save(id: string, revision: number, document: ProjectDocument, editor?: string, signal?: AbortSignal): Promise<Saved>;
  events(id: string, on: ProjectEvents): () => void;
}

/** The document of the page. */
export interface SyncTarget {
  /** The document without the changes of a drag in progress. */
  readonly committed: ProjectDocument;
  /** Whether the user is dragging. A merge then has to wait. */
  readonly isDragging: boolean;
  /** Shows a document that contains changes of other editors. */
  adopt(document: ProjectDocument): void;
}

export type SyncStatus = "saved" | "saving" | "offline" | "refused" | "signed-out" | "gone";

/** Delay between a change and its save, so that fast changes are saved together. */
const SAVE_DELAY_MS = 350;
/** A save without a response is aborted after this time, and then repeated. */
const SAVE_TIMEOUT_MS = 20_000;
/**
 * Delay before the first repetition of a failed save, and largest delay between two repetitions.
 */
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 8000;
/**
 * If a lost stream is still closed after this time, the page opens a new one, because the browser
 * does not reopen a stream after an HTTP error.
 */
const REOPEN_MS = 3000;

export class Sync {
  readonly status = new Signal<SyncStatus>("saved");
  /** Why the last request failed; empty after a success. */
  readonly problem = new Signal("");
  /** Whether the event stream is open. */
  readonly online = new Signal(true);
  /** Number of open editors of the project. */
  readonly editors = new Signal(1);
  /** The newest revision of the server whose changes the document of this page contains. */
  revision: number;
  #base: ProjectDocument;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #reopenTimer: ReturnType<typeof setTimeout> | null = null;
  #isSaving = false;
  #retryMs = FIRST_RETRY_MS;
  /** The newest revision that the event stream has announced. */
  #announced: number;
  #incoming: { revision: number; document: ProjectDocument } | null = null;
  #waiting: { done(): void; failed(error: Error): void }[] = [];
  #endStream: (() => void) | null = null;
  #isClosed = false;

  constructor(
    readonly server: ProjectServer,
    readonly id: string,
    readonly editor: string,
    readonly target: SyncTarget,
    readonly pending: PendingStore,
    opened: { revision: number; document: ProjectDocument },
  ) {
    this.revision = opened.revision;
    this.#announced = opened.revision;
    this.#base = copyOf(opened.document);
  }

  /**
   * Sends the changes that an earlier page could not send, and follows the changes of other
   * editors.
   */
  start(): void {
    for (const { base, document } of this.pending.take()) {
      this.target.adopt(mergeDocuments(base, document, this.target.committed));
    }
    this.#openStream();
    this.changed();
  }

  close(): void {
    this.#isClosed = true;
    this.#endStream?.();
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#reopenTimer) clearTimeout(this.#reopenTimer);
  }

  /** Must be called after every change of the document, and at the end of a drag. */
  changed(): void {
    this.#takeIncoming();
    if (!this.#isUnsaved) {
      this.#settle();
      return;
    }
    this.pending.keep({ base: this.#base, document: this.target.committed });
    if (this.status.value === "saved" || this.status.value === "refused") this.status.value = "saving";
    if (this.status.value !== "offline") this.#schedule(SAVE_DELAY_MS);
  }

  /**
   * Resolves when the server has acknowledged every change so far. Rejects if the server refuses
   * the save, for example because the document is invalid or the project was deleted.
   */
  saved(): Promise<void> {
    if (!this.#isUnsaved && !this.#isSaving) return Promise.resolve();
    return new Promise((done, failed) => {
      this.#waiting.push({ done, failed });
      this.retryNow();
    });
  }

  /** Saves immediately, for example because the network is back. */
  retryNow(): void {
    this.#retryMs = FIRST_RETRY_MS;
    this.#schedule(0);
  }

  get #isUnsaved(): boolean {
    return !isEqual(this.#base, this.target.committed);
  }

  #schedule(ms: number): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#save();
    }, ms);
  }

  async #save(): Promise<void> {
    if (this.#isSaving || this.#isClosed) return;
    // A newer document of the server has to be merged first. If a drag prevents the merge, the end
    // of the drag starts the save.
    this.#takeIncoming();
    if (this.#incoming) return;
    if (!this.#isUnsaved) {
      await this.#pull();
      return;
    }
    this.#isSaving = true;
    const sent = copyOf(this.target.committed);
    try {
      const { revision } = await this.server.save(
        this.id,
        this.revision,
        sent,
        this.editor,
        AbortSignal.timeout(SAVE_TIMEOUT_MS),
      );
      this.#isSaving = false;
      this.#acknowledged(revision, sent);
    } catch (error) {
      this.#isSaving = false;
      this.#failed(error);
    }
  }

  #acknowledged(revision: number, document: ProjectDocument): void {
    this.revision = revision;
    this.#base = document;
    this.#retryMs = FIRST_RETRY_MS;
    this.problem.value = "";
    if (this.#announced > revision) void this.#pull();
    if (this.#isUnsaved) {
      this.pending.keep({ base: this.#base, document: this.target.committed });
      this.status.value = "saving";
      this.#schedule(this.#waiting.length > 0 ? 0 : SAVE_DELAY_MS);
    } else {
      this.#settle();
    }
  }

  #failed(error: unknown): void {
    const conflict = conflictOf(error);
    if (conflict) {
      this.#take(conflict);
      this.#schedule(0);
      return;
    }
    const status = error instanceof ApiError ? error.status : 0;
    if (status === 401) this.status.value = "signed-out";
    else if (status === 404) this.status.value = "gone";
    else if (status >= 400 && status < 500 && status !== 408 && status !== 429) this.status.value = "refused";
    else this.status.value = "offline";
    this.problem.value = messageOf(error);
    if (this.status.value === "offline") {
      this.#schedule(this.#retryMs);
      this.#retryMs = Math.min(LAST_RETRY_MS, 2 * this.#retryMs);
      return;
    }
    const failed = new Error(messageOf(error));
    for (const waiter of this.#waiting.splice(0)) waiter.failed(failed);
  }

  #settle(): void {
    if (this.#isUnsaved || this.#isSaving) return;
    this.pending.forget();
    this.status.value = "saved";
    this.problem.value = "";
    for (const waiter of this.#waiting.splice(0)) waiter.done();
  }

  /** Fetches the document if another editor has saved it. */
  async #pull(): Promise<void> {
    if (this.#announced <= this.revision) {
      this.#settle();
      return;
    }
    try {
      const { revision, document } = await this.server.read(this.id);
      // A save may have been acknowledged in the meantime, so the fetched revision can be older.
      if (revision > this.revision) this.#take({ revision, document });
      this.#announced = Math.min(this.#announced, Math.max(revision, this.revision));
      this.changed();
    } catch (error) {
      this.#failed(error);
    }
  }

  #take(incoming: { revision: number; document: ProjectDocument }): void {
    this.#incoming = incoming;
    this.#takeIncoming();
  }

  /** Merges a document of the server. During a drag or a save, the document waits. */
  #takeIncoming(): void {
    const incoming = this.#incoming;
    if (!incoming || this.target.isDragging || this.#isSaving) return;
    this.#incoming = null;
    if (incoming.revision <= this.revision) return;
    const merged = mergeDocuments(this.#base, this.target.committed, incoming.document);
    this.revision = incoming.revision;
    this.#base = copyOf(incoming.document);
    if (this.#isUnsaved) this.pending.keep({ base: this.#base, document: merged });
    this.target.adopt(merged);
  }

  #openStream(): void {
    this.#endStream?.();
    if (this.#isClosed) return;
    this.#endStream = this.server.events(this.id, {
      revision: ({ revision, editor }) => {
        if (editor === this.editor) return;
        this.#announced = Math.max(this.#announced, revision);
        if (this.#announced > this.revision && !this.#isSaving) void this.#pull();
      },
      editors: (count) => (this.editors.value = count),
      connected: (isOpen) => this.#streamChanged(isOpen),
    });
  }

  #streamChanged(isOpen: boolean): void {
    if (this.#reopenTimer) clearTimeout(this.#reopenTimer);
    this.#reopenTimer = null;
    this.online.value = isOpen;
    if (isOpen) {
      if (this.status.value === "offline") this.retryNow();
      return;
    }
    if (!this.#isClosed) this.#reopenTimer = setTimeout(() => this.#openStream(), REOPEN_MS);
  }
}
