/**
 * The session that the program panel of this tab started, and the files of its program. Both are in
 * `sessionStorage`, so they survive a reload.
 */

export interface OwnSession {
  readonly id: string;
  /** Whether the judge of the world watches the run. */
  readonly isJudged: boolean;
  /** The files of the program, as they were sent. */
  readonly files: Readonly<Record<string, string>>;
}

const KEY = "chicane.program.session";
let own: OwnSession | null | undefined;

function isOwn(value: unknown): value is OwnSession {
  if (typeof value !== "object" || value === null) return false;
  const { id, isJudged, files } = value as Partial<OwnSession>;
  return typeof id === "string" && typeof isJudged === "boolean" && typeof files === "object" && files !== null;
}

export function ownSession(): OwnSession | null {
  if (own !== undefined) return own;
  own = null;
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    if (isOwn(kept)) own = kept;
  } catch {
    // Storage is disabled or holds invalid JSON.
  }
  return own;
}

export function keepOwnSession(session: OwnSession): void {
  own = session;
  try {
    sessionStorage.setItem(KEY, JSON.stringify(session));
  } catch {
    // Storage is disabled or full. The page then forgets the session when it is reloaded.
  }
}
