/**
 * The draft: the files of the program that a person writes on the page, and the command that runs
 * them. The functions of this module return a changed copy. They do not access the page or the
 * browser's storage.
 */

/** A text file. The path is relative, such as `main.py` or `lib/drive.py`. */
export interface DraftFile {
  readonly path: string;
  readonly text: string;
}

export interface Draft {
  readonly files: readonly DraftFile[];
  /** Path of the file that the editor shows; empty if there is no file. */
  readonly open: string;
  /** The command that a person has typed; empty for the default command. */
  readonly command: string;
}

/** The limits of the server for the files of a request. */
export const MAX_FILES = 32;
export const MAX_BYTES = 512 * 1024;
const MAX_PATH_BYTES = 200;
const MAX_DEPTH = 8;
export const MAX_COMMAND = 1000;
/** The file that the default command runs. */
export const MAIN = "main.py";

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).length;

/** Size of all files together, bytes. */
export function sizeOf(files: readonly DraftFile[]): number {
  return files.reduce((sum, { text }) => sum + bytesOf(text), 0);
}

/**
 * Why a path can't be used. `folder`: one of two paths would be a folder in the other path, such as
 * `a` and `a/b.py`.
 */
export type PathProblem = "invalid" | "taken" | "folder";

/** Why a path can't be used for a file beside `others`; null if it can be used. */
export function pathProblem(path: string, others: readonly string[]): PathProblem | null {
  const names = path.split("/");
  const isValid =
    bytesOf(path) <= MAX_PATH_BYTES &&
    names.length <= MAX_DEPTH &&
    names.every((name) => name !== "" && name !== "." && name !== "..") &&
    !/[\\\p{Cc}]/u.test(path);
  if (!isValid) return "invalid";
  if (others.includes(path)) return "taken";
  if (others.some((other) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`))) return "folder";
  return null;
}

/**
 * The path itself if it is free, otherwise with a number before its ending: `lib/a.py`,
 * `lib/a_2.py`.
 */
export function freePath(path: string, others: readonly string[]): string {
  const dot = path.lastIndexOf(".");
  const end = dot > path.lastIndexOf("/") + 1 ? dot : path.length;
  let free = path;
  for (let number = 2; pathProblem(free, others) !== null && number <= MAX_FILES + 2; number++)
    free = `${path.slice(0, end)}_${number}${path.slice(end)}`;
  return free;
}

export const pathsOf = (draft: Draft): string[] => draft.files.map((file) => file.path);

export const textOf = (draft: Draft, path: string): string | null =>
  draft.files.find((file) => file.path === path)?.text ?? null;

/** The draft with a new file at the end of the list. The new file is opened. */
export function withFile(draft: Draft, file: DraftFile): Draft {
  return { ...draft, files: [...draft.files, file], open: file.path };
}

/** The draft with another text of a file. */
export function withText(draft: Draft, path: string, text: string): Draft {
  return { ...draft, files: draft.files.map((file) => (file.path === path ? { path, text } : file)) };
}

/**
 * The draft with another name for a file. If the typed command only runs this file, such as
 * `python3 lap.py`, the command gets the new name too. A command with options is not changed.
 */
export function renamed(draft: Draft, from: string, to: string): Draft {
  return {
    files: draft.files.map((file) => (file.path === from ? { path: to, text: file.text } : file)),
    open: draft.open === from ? to : draft.open,
    command: draft.command === pythonCommand(from) ? pythonCommand(to) : draft.command,
  };
}

/** The draft without a file. If that file was open, the file beside it is opened. */
export function without(draft: Draft, path: string): Draft {
  const at = draft.files.findIndex((file) => file.path === path);
  const files = draft.files.filter((file) => file.path !== path);
  const beside = files[Math.min(at, files.length - 1)]?.path ?? "";
  return { ...draft, files, open: draft.open === path ? beside : draft.open };
}

/**
 * The draft with a deleted file at its old position. The file is opened. If another file has taken
 * the path in the meantime, that file is kept, and the restored file gets another name.
 */
export function restored(draft: Draft, file: DraftFile, at: number): Draft {
  const path = freePath(file.path, pathsOf(draft));
  const files = draft.files.toSpliced(at, 0, { path, text: file.text });
  return { ...draft, files, open: path };
}

/** Quotes a path for a shell if it needs quotes. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

const pythonCommand = (path: string): string => `python3 ${quoted(path)}`;

/** The default command of a draft: it runs `main.py`, or else the first Python file. */
export function defaultCommand(draft: Draft): string {
  const paths = pathsOf(draft);
  const main = paths.includes(MAIN) ? MAIN : (paths.find((path) => path.endsWith(".py")) ?? MAIN);
  return pythonCommand(main);
}

export const commandOf = (draft: Draft): string => draft.command || defaultCommand(draft);

/** Reads a stored draft; null if the text is not a draft. Invalid files are left out. */
export function parseDraft(json: string | null): Draft | null {
  let value: unknown;
  try {
    value = JSON.parse(json ?? "null");
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { files: stored, open, command } = value as Record<string, unknown>;
  if (!Array.isArray(stored)) return null;
  const files: DraftFile[] = [];
  for (const file of stored as unknown[]) {
    const { path, text } = (file ?? {}) as Record<string, unknown>;
    if (typeof path !== "string" || typeof text !== "string" || files.length === MAX_FILES) continue;
    if (pathProblem(path, files.map((one) => one.path)) === null) files.push({ path, text });
  }
  return {
    files,
    open: files.some((file) => file.path === open) ? (open as string) : (files[0]?.path ?? ""),
    command: typeof command === "string" ? command.slice(0, MAX_COMMAND) : "",
  };
}
