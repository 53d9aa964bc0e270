/** Requests of the builder page to the routes of `/sim/api/builder`. */
import { API, ApiError, failure } from "../net/api.ts";
import { t } from "../strings.ts";
import type {
  ChangedFile,
  DeletedFile,
  DeletedProject,
  FindingLocation,
  JudgeTemplate,
  Paper,
  PreviewAnswer,
  PreviewFinding,
  PreviewObject as WirePreviewObject,
  PreviewRoad,
  PrintSize,
  ProjectEntry,
  ProjectFile,
  ProjectList,
  ProjectPublished,
  ProjectRuns,
  ProjectSaved,
  ProjectView as WireProjectView,
  PublishedWorld,
  PublishedWorlds,
  RandomTrack,
  RejudgedRun,
  ScriptChecked,
  Switched,
  Templates,
  WorldAccess,
} from "../wire/sim.ts";
import type { ProjectDocument } from "./document.ts";

export type {
  FindingLocation,
  Paper,
  PreviewFinding as Finding,
  PrintSize,
  ProjectEntry as ProjectSummary,
  ProjectFile,
  ProjectList as ProjectLists,
  ProjectPublished as Published,
  ProjectSaved as Saved,
  PublishedWorld,
  RandomTrack as RandomOptions,
  ScriptChecked as ScriptCheck,
  JudgeTemplate as ScriptTemplate,
  WorldAccess as Access,
};

type Point = [number, number];

/** A project with its document and its files. */
export type ProjectView = Omit<WireProjectView, "document"> & { document: ProjectDocument };

/** The road as the simulator computes it. Lengths in metres. */
export type Road = Omit<PreviewRoad, "centre" | "left" | "right" | "overlaps" | "tightest"> & {
  /** x, y and width of the road along the centre line. */
  centre: [number, number, number][];
  left: Point[];
  right: Point[];
  /** Places where parts of the road overlap. */
  overlaps: Point[];
  tightest: NonNullable<PreviewRoad["tightest"]> | null;
};

/** An object with its outline on the floor (`footprint`). */
export type PreviewObject = Omit<WirePreviewObject, "footprint"> & { footprint: Point[] };

/** What the simulator computes for a document. */
export type Preview = Omit<PreviewAnswer, "road" | "objects"> & { road: Road | null; objects: PreviewObject[] };

/** The source of a new project. */
export type NewProject =
  | { from: "empty"; name?: string }
  | { from: "world"; world: string }
  | { from: "random"; seed: number; options: RandomTrack }
  | { from: "document"; document: unknown }
  | { from: "project"; project: string };

/** Callbacks for the event stream of a project. */
export interface ProjectEvents {
  /**
   * Called at the start and after each accepted change. `editor` is the name of the editor that
   * made the change; null if that editor gave no name, or if the server no longer knows the name.
   */
  revision(event: { revision: number; editor: string | null }): void;
  /** The number of open editors has changed. */
  editors?(count: number): void;
  /** The stream was opened (true) or lost (false). The browser opens a lost stream again. */
  connected?(isOpen: boolean): void;
}

/** A refused request of the builder, with the fields of the answer. */
export class BuilderError extends ApiError {
  /** All fields of the answer. A conflict has `revision` and `document`. */
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(cause: ApiError, fields: Readonly<Record<string, unknown>>) {
    super(cause.status, cause.message, cause.code);
    this.fields = fields;
  }
}

/** Whether a request was refused with this error code. */
export function hasCode(error: unknown, code: string): error is BuilderError {
  return error instanceof BuilderError && error.code === code;
}

/**
 * The errors of a project that can't be built, from the refusal of a request. Empty if the request
 * failed for another reason.
 */
export function findingsOf(error: unknown): PreviewFinding[] {
  if (!hasCode(error, "project_invalid") || !Array.isArray(error.fields["findings"])) return [];
  return (error.fields["findings"] as PreviewFinding[]).filter((finding) => finding?.severity === "error");
}

/**
 * The current revision and document of a project, if a save was refused because another editor has
 * saved in the meantime; otherwise null.
 */
export function conflictOf(error: unknown): { revision: number; document: ProjectDocument } | null {
  if (!hasCode(error, "revision_conflict")) return null;
  const { revision, document } = error.fields;
  if (typeof revision !== "number" || typeof document !== "object" || document === null) return null;
  return { revision, document: document as ProjectDocument };
}

const BUILDER = `${API}/builder`;

const project = (id: string, rest = ""): string => `${BUILDER}/projects/${encodeURIComponent(id)}${rest}`;

/** A file name can contain folders, so its slashes are not encoded. */
const filePath = (name: string): string => `/files/${name.split("/").map(encodeURIComponent).join("/")}`;

const editorQuery = (editor?: string): string => (editor === undefined ? "" : `?editor=${encodeURIComponent(editor)}`);

const json = (method: string, body: object): RequestInit => ({
  method,
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

export class BuilderClient {
  readonly #fetch: typeof fetch;
  /** Functions that save the unsaved changes of an open editor. */
  readonly unsaved = new Set<() => Promise<void>>();

  /** A test passes a `fetcher` that replaces the `fetch` of the browser. */
  constructor(fetcher: typeof fetch = (input, init) => fetch(input, init)) {
    this.#fetch = fetcher;
  }

  list(): Promise<ProjectList> {
    return this.#json(`${BUILDER}/projects`);
  }

  create(source: NewProject): Promise<ProjectView> {
    return this.#json(`${BUILDER}/projects`, json("POST", source));
  }

  read(id: string): Promise<ProjectView> {
    return this.#json(project(id));
  }

  /** Stores a document. `editor` names the writer in the events of the project. */
  save(
    id: string,
    revision: number,
    document: ProjectDocument,
    editor?: string,
    signal?: AbortSignal,
  ): Promise<ProjectSaved> {
    return this.#json(project(id), { ...json("PUT", { revision, document, editor }), signal });
  }

  remove(id: string): Promise<DeletedProject> {
    return this.#json(project(id), { method: "DELETE" });
  }

  restore(id: string): Promise<ProjectView> {
    return this.#json(project(id, "/restore"), json("POST", {}));
  }

  /** Adds or replaces a file. `editor` names the writer in the events of the project. */
  putFile(id: string, name: string, bytes: Blob, editor?: string): Promise<ChangedFile> {
    const type = bytes.type || "application/octet-stream";
    const init = { method: "PUT", headers: { "Content-Type": type }, body: bytes };
    return this.#json(project(id, filePath(name) + editorQuery(editor)), init);
  }

  deleteFile(id: string, name: string, editor?: string): Promise<DeletedFile> {
    return this.#json(project(id, filePath(name) + editorQuery(editor)), { method: "DELETE" });
  }

  /** The text of a script of the project. */
  async readText(id: string, name: string): Promise<string> {
    return (await this.#response(project(id, filePath(name)))).text();
  }

  fileUrl(id: string, name: string): string {
    return project(id, filePath(name));
  }

  exportUrl(id: string): string {
    return project(id, "/export");
  }

  /** Imports an exported JSON or zip file. */
  async importFile(file: Blob): Promise<ProjectView> {
    // The type that a browser reports for a file depends on the operating system. So the first
    // bytes decide: a zip file starts with `PK`.
    const start = await file.slice(0, 2).text();
    const type = start === "PK" ? "application/zip" : "application/json";
    return this.#json(`${BUILDER}/projects/import`, { method: "POST", headers: { "Content-Type": type }, body: file });
  }

  /** Requests the preview of a document, which may be unsaved: road, objects and findings. */
  preview(document: ProjectDocument, id?: string, signal?: AbortSignal): Promise<Preview> {
    return this.#json(`${BUILDER}/preview`, { ...json("POST", { document, project: id }), signal });
  }

  /** The revision is part of the URL, so that the browser does not show a cached old picture. */
  thumbnailUrl(id: string, revision?: number): string {
    return project(id, "/thumbnail") + (revision === undefined ? "" : `?revision=${revision}`);
  }

  sceneUrl(id: string): string {
    return project(id, "/scene");
  }

  /** Follows the changes of a project. The returned function ends the stream. */
  events(id: string, on: ProjectEvents): () => void {
    const source = new EventSource(project(id, "/events"));
    const listen = (name: string, take: (data: Record<string, unknown>) => void) =>
      source.addEventListener(name, (event) => {
        const data: unknown = JSON.parse((event as MessageEvent<string>).data);
        if (typeof data === "object" && data !== null) take(data as Record<string, unknown>);
      });
    listen("revision", ({ revision, editor }) => {
      if (typeof revision === "number") on.revision({ revision, editor: typeof editor === "string" ? editor : null });
    });
    listen("editors", ({ count }) => typeof count === "number" && on.editors?.(count));
    source.addEventListener("open", () => on.connected?.(true));
    source.addEventListener("error", () => on.connected?.(false));
    return () => source.close();
  }

  /** Builds the project and switches the running simulator to it. */
  async drive(id: string): Promise<Switched> {
    await this.#saveAll();
    return this.#json(project(id, "/drive"), json("POST", {}));
  }

  async templates(): Promise<JudgeTemplate[]> {
    return (await this.#json<Templates>(`${BUILDER}/templates`)).templates;
  }

  checkScript(script: string, signal?: AbortSignal): Promise<ScriptChecked> {
    return this.#json(`${BUILDER}/script/check`, { ...json("POST", { script }), signal });
  }

  /** The recorded runs that the rules of the project can judge. */
  runs(id: string): Promise<ProjectRuns> {
    return this.#json(project(id, "/runs"));
  }

  /** Judges the drive of a recorded run by the rules of the project. */
  async rejudge(id: string, session: string, signal?: AbortSignal): Promise<RejudgedRun> {
    await this.#saveAll();
    return this.#json(project(id, "/rejudge"), { ...json("POST", { session }), signal });
  }

  /** Judges the drive of a run file by the rules of the project. */
  async rejudgeFile(id: string, file: Blob, signal?: AbortSignal): Promise<RejudgedRun> {
    await this.#saveAll();
    const headers = { "Content-Type": "application/octet-stream" };
    return this.#json(project(id, "/rejudge/file"), { method: "POST", headers, body: file, signal });
  }

  async publish(id: string, access: WorldAccess, name: string): Promise<ProjectPublished> {
    await this.#saveAll();
    return this.#json(project(id, "/publish"), json("POST", { access, name }));
  }

  async published(): Promise<PublishedWorld[]> {
    return (await this.#json<PublishedWorlds>(`${BUILDER}/published`)).worlds;
  }

  changePublished(worldId: string, change: { name?: string; access?: WorldAccess }): Promise<PublishedWorld> {
    return this.#json(`${BUILDER}/published/${encodeURIComponent(worldId)}`, json("POST", change));
  }

  printSize(id: string, options: { dpi: number; paper?: Paper }, signal?: AbortSignal): Promise<PrintSize> {
    return this.#json(project(id, "/print/size"), { ...json("POST", options), signal });
  }

  printUrl(id: string, options: { dpi: number; format: "jpg" | "pdf"; paper?: Paper }): string {
    const query = new URLSearchParams({ dpi: String(options.dpi), format: options.format });
    if (options.paper) query.set("paper", options.paper);
    return project(id, `/print?${query}`);
  }

  waypointsUrl(id: string): string {
    return project(id, "/waypoints.npy");
  }

  /** Downloads a file. Calls `onProgress` with the number of bytes received so far. */
  async download(address: string, onProgress: (bytes: number) => void, signal?: AbortSignal): Promise<Blob> {
    const response = await this.#response(address, { signal });
    const reader = response.body?.getReader();
    const parts: BlobPart[] = [];
    let size = 0;
    try {
      for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
        parts.push(next.value as Uint8Array<ArrayBuffer>);
        size += next.value.length;
        onProgress(size);
      }
    } catch (error) {
      throw signal?.aborted ? error : new ApiError(0, t.link.noResponse);
    }
    return new Blob(parts, { type: response.headers.get("Content-Type") ?? "" });
  }

  /** The server uses the project as it is stored, so the last changes must be saved first. */
  async #saveAll(): Promise<void> {
    await Promise.all([...this.unsaved].map((save) => save()));
  }

  async #json<T>(address: string, init?: RequestInit): Promise<T> {
    const response = await this.#response(address, init);
    const data: unknown = await response.json().catch(() => null);
    if (data === null) throw new ApiError(response.status, t.buildTabs.badAnswer);
    return data as T;
  }

  /**
   * Returns the response if its status means success, otherwise throws an `ApiError`. If the caller
   * aborted the request, throws the `AbortError` of `fetch`.
   */
  async #response(address: string, init?: RequestInit): Promise<Response> {
    const response = await this.#fetch(address, init).catch((error: unknown) => {
      if (init?.signal?.aborted) throw error;
      return null;
    });
    if (!response) throw new ApiError(0, t.link.noResponse);
    if (response.ok) return response;
    const data: unknown = await response.json().catch(() => null);
    const fields = typeof data === "object" && data !== null ? (data as Record<string, unknown>) : {};
    throw new BuilderError(failure(response, fields), fields);
  }
}
