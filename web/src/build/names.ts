/** Names of objects. A name is unique in its world, and some names belong to the simulator. */
import { objectsOf, type ProjectDocument } from "./document.ts";

const RESERVED = ["racetrack", "vehicle", "sun", "sky", "ground", "ground_plane", "world", "default", "camera"];
/** Longest name that the server accepts. */
const MAX_LENGTH = 64;

/** Whether the server accepts a name. Does not check whether another object has the name. */
export function isValidName(name: string): boolean {
  return (
    /^[A-Za-z0-9_]+$/.test(name) &&
    name.length <= MAX_LENGTH &&
    !RESERVED.includes(name) &&
    !name.startsWith("__") &&
    !/^wall_\d*$/.test(name)
  );
}

export function namesOf(document: ProjectDocument): Set<string> {
  return new Set(objectsOf(document).map(({ name }) => name));
}

/**
 * A name that is not taken: `wanted` itself, or `wanted` with the next free number. A number at the
 * end of `wanted` is replaced, so that a copy of `box7` is `box8` and not `box71`.
 */
export function freeName(taken: ReadonlySet<string>, wanted: string): string {
  if (!taken.has(wanted)) return wanted;
  const digits = /\d{0,9}$/.exec(wanted)?.[0] ?? "";
  const stem = wanted.slice(0, wanted.length - digits.length).slice(0, MAX_LENGTH - 10);
  for (let number = Number(digits || 1) + 1; ; number++) {
    const name = `${stem}${number}`;
    if (!taken.has(name)) return name;
  }
}
