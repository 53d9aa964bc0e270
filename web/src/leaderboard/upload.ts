/**
 * What a student hands in: a zip file, a Python file, or a folder that the page packs as a zip
 * file.
 */
import { t } from "../strings.ts";
import { sizeText } from "./format.ts";
import { zip, type ZipEntry } from "./zip.ts";

/** Largest submission, in bytes. The simulator has the same limit. */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_FILES = 10_000;
/** Folders that are not part of a program. */
const LEFT_OUT = /(^|\/)(\.git|\.hg|\.svn|__pycache__|\.venv|venv|\.tox|\.(mypy|pytest|ruff)_cache|node_modules|\.idea)\//;
const LEFT_OUT_FILES = /(^|\/)(\.DS_Store|Thumbs\.db|desktop\.ini)$|\.pyc$/;

/** The body of a submission. */
export interface Upload {
  bytes: Blob;
  /** Content type. */
  type: string;
  /** Text that the page shows to the student. */
  label: string;
}

/** A file with its path below the chosen folder. */
interface PathFile {
  path: string;
  file: File;
}

/**
 * The upload of one chosen file. If the file has another type or is too large, throws an error with
 * a text for the student.
 */
export function ofFile(file: File): Upload {
  const name = file.name.toLowerCase();
  const type = name.endsWith(".zip") ? "application/zip" : name.endsWith(".py") ? "text/x-python" : null;
  if (!type) throw new Error(t.leaderboard.wrongKind);
  if (file.size > MAX_BYTES) throw new Error(t.leaderboard.tooLarge);
  return { bytes: file, type, label: t.leaderboard.chosen(file.name, sizeText(file.size)) };
}

/**
 * Packs the files of a chosen folder as a zip file. Their paths begin with the name of the folder.
 */
export function ofFolder(files: readonly File[]): Promise<Upload> {
  return packed(files.map((file) => ({ path: file.webkitRelativePath || file.name, file })));
}

/**
 * The upload of the dropped items. A single file is not changed. Several files or a folder are
 * packed as a zip file.
 */
export async function ofDrop(transfer: DataTransfer): Promise<Upload> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null).filter((entry) => entry !== null);
  const [only] = entries;
  if (entries.length === 1 && only.isFile) return ofFile(transfer.files[0]);
  if (entries.length === 0) throw new Error(t.leaderboard.wrongKind);
  const files: PathFile[] = [];
  for (const entry of entries) await collect(entry, files);
  return packed(files);
}

async function collect(entry: FileSystemEntry, files: PathFile[]): Promise<void> {
  const path = entry.fullPath.replace(/^\//, "");
  if (LEFT_OUT.test(`${path}/`)) return;
  if (files.length > MAX_FILES) throw new Error(t.leaderboard.tooMany);
  if (entry.isFile) {
    const file = await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed));
    files.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A browser returns at most 100 entries per call.
    const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    if (some.length === 0) return;
    for (const inner of some) await collect(inner, files);
  }
}

async function packed(all: readonly PathFile[]): Promise<Upload> {
  const files = all.filter(({ path }) => !LEFT_OUT.test(path) && !LEFT_OUT_FILES.test(path));
  if (files.length === 0) throw new Error(t.leaderboard.noFile);
  if (files.length > MAX_FILES) throw new Error(t.leaderboard.tooMany);
  // All files are read into memory before they are packed. This limit keeps the page responsive.
  if (files.reduce((sum, { file }) => sum + file.size, 0) > 8 * MAX_BYTES) throw new Error(t.leaderboard.tooLarge);
  const entries: ZipEntry[] = [];
  for (const { path, file } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    entries.push({ name: path, bytes: new Uint8Array(await file.arrayBuffer()) });
  }
  const bytes = await zip(entries);
  if (bytes.size > MAX_BYTES) throw new Error(t.leaderboard.tooLarge);
  const folder = files[0].path.split("/")[0];
  const label = t.leaderboard.chosenFolder(folder, String(files.length), sizeText(bytes.size));
  return { bytes, type: "application/zip", label };
}
