/**
 * Merges two versions of a document that have a common base, field by field. If both versions
 * changed the same field, `mine` wins, because it is saved last. If one version deleted a part and
 * the other version changed it, the part is kept: a deletion can be repeated, but a lost change
 * can't be recovered. Undo uses the same merge: the base is the document after the step, `mine` is
 * the document before the step, and `theirs` is the current document.
 */
import { copyOf, isClosed, isEqual, leastNodes, objectsOf, type ProjectDocument } from "./document.ts";
import { freeName } from "./names.ts";

type Json = unknown;
type JsonObject = Record<string, Json>;
/** For every element of the base, its index in another version; −1 if it is not there. */
type Matches = number[];

/** The merged document. The arguments are not changed. */
export function mergeDocuments(base: ProjectDocument, mine: ProjectDocument, theirs: ProjectDocument): ProjectDocument {
  if (isEqual(base, theirs)) return copyOf(mine);
  if (isEqual(base, mine) || isEqual(mine, theirs)) return copyOf(theirs);
  const merged = copyOf(mergeValues(base, mine, theirs, "")) as ProjectDocument;
  if (merged.track.nodes.length < leastNodes(isClosed(merged.track))) merged.track.nodes = copyOf(mine.track.nodes);
  if (merged.track.nodes.length < leastNodes(isClosed(merged.track))) merged.track = copyOf(mine.track);
  makeNamesUnique(merged, base, mine, theirs);
  return merged;
}

/**
 * Two editors can give two new objects the same name. Then the object of `mine` gets another name.
 */
function makeNamesUnique(
  merged: ProjectDocument,
  base: ProjectDocument,
  mine: ProjectDocument,
  theirs: ProjectDocument,
): void {
  const objects = objectsOf(merged);
  const count = (document: ProjectDocument, name: string) =>
    (document.objects ?? []).filter((object) => object.name === name).length;
  const taken = new Set(objects.map(({ name }) => name));
  for (const name of [...taken]) {
    const same = objects.filter((object) => object.name === name);
    // If an author used a name twice, the check of the server reports it. Only duplicates that the
    // merge itself caused are renamed.
    if (same.length < 2 || [base, mine, theirs].some((document) => count(document, name) > 1)) continue;
    const kept = same.find((object) => (theirs.objects ?? []).some((other) => isEqual(other, object))) ?? same[0];
    for (const object of same) {
      if (object === kept) continue;
      object.name = freeName(taken, name);
      taken.add(object.name);
    }
  }
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function mergeValues(base: Json, mine: Json, theirs: Json, path: string): Json {
  if (isEqual(mine, theirs) || isEqual(base, theirs)) return mine;
  if (isEqual(base, mine)) return theirs;
  if (isObject(mine) && isObject(theirs)) return mergeFields(isObject(base) ? base : {}, mine, theirs, path);
  const matcher = MATCHERS[path];
  if (matcher && Array.isArray(mine) && Array.isArray(theirs)) {
    return mergeLists((base ?? []) as Json[], mine, theirs, matcher, path);
  }
  return mine;
}

function mergeFields(base: JsonObject, mine: JsonObject, theirs: JsonObject, path: string): JsonObject {
  const merged: JsonObject = {};
  for (const key of new Set([...Object.keys(theirs), ...Object.keys(mine)])) {
    const value = mergeField(base[key], mine[key], theirs[key], path ? `${path}.${key}` : key);
    if (value !== undefined) merged[key] = value;
  }
  return merged;
}

function mergeField(base: Json, mine: Json, theirs: Json, path: string): Json {
  // If one version deleted a part and the other version changed it, the part is kept.
  if (mine === undefined && base !== undefined) return isEqual(base, theirs) ? undefined : theirs;
  if (theirs === undefined && base !== undefined) return isEqual(base, mine) ? undefined : mine;
  return mergeValues(base, mine, theirs, path);
}

/**
 * How elements of these lists are recognized in another version. Other lists are treated as one
 * value.
 */
const MATCHERS: Readonly<Record<string, (base: Json[], other: Json[]) => Matches>> = {
  objects: matchByName,
  decals: matchByContent,
  "track.nodes": matchBySequence,
};

/** Matches objects by name. An object of which only the name differs counts as renamed. */
function matchByName(base: Json[], other: Json[]): Matches {
  const names = other.map((element) => (element as { name?: string }).name);
  const used = new Set<number>();
  const matches = base.map((element) => {
    const found = names.findIndex((name, i) => name === (element as { name?: string }).name && !used.has(i));
    if (found >= 0) used.add(found);
    return found;
  });
  const unnamed = (value: Json) => ({ ...(value as JsonObject), name: undefined });
  return matches.map((found, i) => {
    if (found >= 0) return found;
    const renamed = other.findIndex((element, k) => !used.has(k) && isEqual(unnamed(element), unnamed(base[i])));
    if (renamed >= 0) used.add(renamed);
    return renamed;
  });
}

/**
 * Matches equal elements first, in any order. The remaining elements are matched in their order.
 */
function matchByContent(base: Json[], other: Json[]): Matches {
  const used = new Set<number>();
  const matches = base.map((element) => {
    const found = other.findIndex((candidate, i) => !used.has(i) && isEqual(candidate, element));
    if (found >= 0) used.add(found);
    return found;
  });
  const rest = other.map((_, i) => i).filter((i) => !used.has(i));
  const unmatched = matches.map((_, i) => i).filter((i) => matches[i] < 0);
  const paired = matchBySequence(
    unmatched.map((i) => base[i]),
    rest.map((i) => other[i]),
  );
  unmatched.forEach((i, k) => paired[k] >= 0 && (matches[i] = rest[paired[k]]));
  return matches;
}

/**
 * Cost of an added or removed element. A changed element costs less than a removed element and an
 * added element together, so that a change is preferred to a replacement.
 */
const GAP_COST = 1;

/**
 * Matches elements that have a position: their order is kept, and the sum of the costs is minimal,
 * as in an edit distance.
 */
function matchBySequence(base: Json[], other: Json[]): Matches {
  const [rows, columns] = [base.length + 1, other.length + 1];
  const cost = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++) {
    for (let k = 0; k < columns; k++) {
      if (i === 0 || k === 0) {
        cost[i * columns + k] = (i + k) * GAP_COST;
        continue;
      }
      const change = cost[(i - 1) * columns + k - 1] + difference(base[i - 1], other[k - 1]);
      const gap = Math.min(cost[(i - 1) * columns + k], cost[i * columns + k - 1]) + GAP_COST;
      cost[i * columns + k] = Math.min(change, gap);
    }
  }
  const matches: Matches = base.map(() => -1);
  let [i, k] = [base.length, other.length];
  while (i > 0 && k > 0) {
    const here = cost[i * columns + k];
    if (here === cost[(i - 1) * columns + k - 1] + difference(base[i - 1], other[k - 1])) matches[--i] = --k;
    else if (here === cost[(i - 1) * columns + k] + GAP_COST) i--;
    else k--;
  }
  return matches;
}

/** Cost of changing one element to another: 0 if they are equal, always less than two gaps. */
function difference(a: Json, b: Json): number {
  if (isEqual(a, b)) return 0;
  const [p, q] = [a as { x: number; y: number }, b as { x: number; y: number }];
  const far = Math.hypot(p.x - q.x, p.y - q.y);
  return 0.5 + (1.4 * far) / (far + 1);
}

function mergeLists(
  base: Json[],
  mine: Json[],
  theirs: Json[],
  match: (base: Json[], other: Json[]) => Matches,
  path: string,
): Json[] {
  const [inMine, inTheirs] = [match(base, mine), match(base, theirs)];
  // The leading version determines the order of the result. `theirs` leads, unless only `mine` has
  // changed the order.
  const mineLeads = !isAscending(inMine) && isAscending(inTheirs);
  const [lead, other] = mineLeads ? [mine, theirs] : [theirs, mine];
  const [inLead, inOther] = mineLeads ? [inMine, inTheirs] : [inTheirs, inMine];
  const merged: { value: Json; other: number }[] = [];
  const baseOfLead = inverse(inLead, lead.length);
  lead.forEach((element, i) => {
    const from = baseOfLead[i];
    if (from < 0) {
      const same = other.findIndex((candidate, k) => isEqual(candidate, element) && !inOther.includes(k));
      merged.push({ value: element, other: same });
    } else if (inOther[from] < 0) {
      if (!isEqual(element, base[from])) merged.push({ value: element, other: -1 });
    } else {
      const [m, t] = [mine[inMine[from]], theirs[inTheirs[from]]];
      merged.push({ value: mergeValues(base[from], m, t, `${path}[]`), other: inOther[from] });
    }
  });
  insertRest(merged, base, other, inOther);
  return merged.map(({ value }) => value);
}

/**
 * Inserts the elements of `other` that are not in `merged` yet, each after its predecessor in
 * `other`.
 */
function insertRest(merged: { value: Json; other: number }[], base: Json[], other: Json[], inOther: Matches): void {
  const baseOfOther = inverse(inOther, other.length);
  other.forEach((element, k) => {
    if (merged.some((entry) => entry.other === k)) return;
    const from = baseOfOther[k];
    // The leading version has deleted this element, and `other` has not changed it.
    if (from >= 0 && isEqual(element, base[from])) return;
    let at = 0;
    for (let before = k - 1; before >= 0 && at === 0; before--) {
      at = merged.findIndex((entry) => entry.other === before) + 1;
    }
    merged.splice(at, 0, { value: element, other: k });
  });
}

function inverse(matches: Matches, length: number): number[] {
  const back = Array.from({ length }, () => -1);
  matches.forEach((found, i) => found >= 0 && (back[found] = i));
  return back;
}

function isAscending(matches: Matches): boolean {
  const present = matches.filter((found) => found >= 0);
  return present.every((found, i) => i === 0 || found > present[i - 1]);
}
