/**
 * The part of the page's URL that names a run: `?replay=<session>` or `?result=<session>`. A replay
 * can also name its ghost: `&ghost=<session>`.
 */

/** The run that the page shows, and how. */
export interface RunAddress {
  /** The replay in the 3D view, or the result page. */
  view: "replay" | "result";
  /** Id of the session. */
  session: string;
  /**
   * Moment at which the replay opens, in simulated seconds since the start of the run. With null
   * the replay opens at the start and plays.
   */
  time: number | null;
  /** Id of the session that is shown as the ghost; the best other run if omitted. */
  ghost?: string;
}

const SESSION = /^[\w.-]{1,100}$/;
const OWN = ["replay", "result", "t", "ghost"];

/** The run that a URL names; null if it names none. `search` is `location.search`. */
export function readAddress(search: string): RunAddress | null {
  const parameters = new URLSearchParams(search);
  for (const view of ["replay", "result"] as const) {
    const session = parameters.get(view);
    if (session === null || !SESSION.test(session)) continue;
    const text = parameters.get("t") ?? "";
    const time = Number(text);
    const isTime = view === "replay" && text.trim() !== "" && Number.isFinite(time) && time >= 0;
    const ghost = parameters.get("ghost") ?? "";
    const hasGhost = view === "replay" && SESSION.test(ghost);
    return { view, session, time: isTime ? time : null, ...(hasGhost && { ghost }) };
  }
  return null;
}

/**
 * The search part of the URL of a run, or of the live view if `run` is null. Other parameters are
 * kept.
 */
export function writeAddress(search: string, run: RunAddress | null): string {
  const parameters = new URLSearchParams(search);
  for (const name of OWN) parameters.delete(name);
  if (run) {
    parameters.set(run.view, run.session);
    if (run.time !== null) parameters.set("t", run.time.toFixed(2));
    if (run.ghost) parameters.set("ghost", run.ghost);
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}
