/** Finds the places in files of the draft that Python names in a traceback. */

/** A place in a line of the output. */
export interface PlaceInLine {
  /** Path of a file of the draft. */
  path: string;
  /** Line of the file, which counts from 1. */
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
/** The folder of the program's files: in a closed box it has a fixed path, in a host box a fixed prefix. */
const PROGRAM_FOLDER = /^\/workspace\/|\/chicane-program-[^/]+\/program\//;
/** The last line of a traceback, such as `ValueError: …` or `chicane.errors.NotReady: …`. */
const EXCEPTION = /^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning|[A-Z]\w*)(?::.*)?$/;

/** The path of a file of the draft that a path of the program's machine names; null if there is none. */
function draftPath(file: string, paths: readonly string[]): string | null {
  const folder = PROGRAM_FOLDER.exec(file);
  // A library can have a file with the same name, so other absolute paths are not of the draft.
  const relative = folder ? file.slice(folder.index + folder[0].length) : file.replace(/^\.\//, "");
  return paths.includes(relative) ? relative : null;
}

/** The place that a line of the output names; null if it names none of the draft. */
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
    // Between the exception and the frame above it are the source line and its marks, and frames of
    // libraries. All of them are indented.
    for (let at = end - 1; at >= 0 && /^\s/.test(lines[at]); at--) {
      const place = placeInLine(lines[at], paths);
      if (place) return { path: place.path, line: place.line, text: lines[end] };
    }
  }
  return null;
}
