/** The part of the page's address that names a run: `?replay=<session>` or `?result=<session>`. */

/** What the page shows of a run. */
export interface RunAddress {
  /** The replay in the 3D view, or the result page. */
  view: "replay" | "result";
  /** Id of the session. */
  session: string;
  /**
   * Moment at which the replay opens, in simulated seconds; null opens it at the start, playing.
   */
  time: number | null;
}

const SESSION = /^[\w.-]{1,100}$/;
const OWN = ["replay", "result", "t"];

/** The run that an address names; null if it names none. `search` is `location.search`. */
export function readAddress(search: string): RunAddress | null {
  const parameters = new URLSearchParams(search);
  for (const view of ["replay", "result"] as const) {
    const session = parameters.get(view);
    if (session === null || !SESSION.test(session)) continue;
    const text = parameters.get("t") ?? "";
    const time = Number(text);
    const isTime = view === "replay" && text.trim() !== "" && Number.isFinite(time) && time >= 0;
    return { view, session, time: isTime ? time : null };
  }
  return null;
}

/**
 * The search part of the address of a run, or of the live view if `run` is null. Keeps other
 * parameters.
 */
export function writeAddress(search: string, run: RunAddress | null): string {
  const parameters = new URLSearchParams(search);
  for (const name of OWN) parameters.delete(name);
  if (run) {
    parameters.set(run.view, run.session);
    if (run.time !== null) parameters.set("t", run.time.toFixed(2));
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}
