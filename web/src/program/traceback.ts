/** Finds the places in files of the draft that Python names in a traceback. */

/** A place in a line of the output. */
export interface PlaceInLine {
  /** Path of a file of the draft. */
  path: string;
  /** Line number in the file, counted from 1. */
  line: number;
  /** Range of the characters that name the place. */
  from: number;
  to: number;
}

/** An error at a place of the draft. */
export interface DraftError {
  path: string;
  line: number;
  text: string;
}

/** A frame of a traceback, or the place of a syntax error. */
const FRAME = /^\s*(?:\|\s*)*File "([^"]+)", line (\d+)/;
/**
 * The folder of the program's files: `/workspace` in a closed box, and a temporary folder with a
 * random name in a host box.
 */
const PROGRAM_FOLDER = /^\/workspace\/|\/chicane-program-[^/]+\/program\//;
/** The last line of a traceback, such as `ValueError: …` or `chicane.errors.NotReady: …`. */
const EXCEPTION = /^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning|[A-Z]\w*)(?::.*)?$/;

/** The path in the draft for a path from a traceback; null if it is not a file of the draft. */
function draftPath(file: string, paths: readonly string[]): string | null {
  const folder = PROGRAM_FOLDER.exec(file);
  // Other absolute paths do not belong to the draft, because a library can have a file with the
  // same name.
  const relative = folder ? file.slice(folder.index + folder[0].length) : file.replace(/^\.\//, "");
  return paths.includes(relative) ? relative : null;
}

/** The place that a line of the output names; null if it names no place in the draft. */
export function placeInLine(text: string, paths: readonly string[]): PlaceInLine | null {
  const found = FRAME.exec(text);
  if (!found) return null;
  const path = draftPath(found[1], paths);
  if (path === null) return null;
  return { path, line: Number(found[2]), from: found[0].search(/\S+ "/), to: found[0].length };
}

/** The error of the last traceback, at its innermost place in the draft; null if there is none. */
export function lastError(lines: readonly string[], paths: readonly string[]): DraftError | null {
  for (let end = lines.length - 1; end >= 0; end--) {
    if (!EXCEPTION.test(lines[end])) continue;
    // Between the exception and the frame above it are the source line with its marks, and frames
    // of libraries. All of these lines are indented.
    for (let at = end - 1; at >= 0 && /^\s/.test(lines[at]); at--) {
      const place = placeInLine(lines[at], paths);
      if (place) return { path: place.path, line: place.line, text: lines[end] };
    }
  }
  return null;
}
