/** Facts about a run for the replay and the result page. */
import type { App } from "../app.ts";
import { fetchRecord } from "../net/runs.ts";
import type { EvaluationRecord } from "../net/session.ts";
import type { RunTracks } from "../net/tracks.ts";
import { lapRoute, type LapRoute } from "../replay/laps.ts";
import { isClock } from "../replay/marks.ts";

/** A loaded run. */
export interface LoadedRun {
  record: EvaluationRecord;
  /** Null if the tracks could not be loaded, for example because the run has no journal. */
  tracks: RunTracks | null;
  /** Why there are no tracks. */
  problem: string;
}

/** The route of the loaded world; null if it has none. */
export function routeOf(app: App): LapRoute | null {
  const body = app.profile.value?.body;
  const front = body ? body.centre[0] + body.size.x / 2 : 0;
  return lapRoute(app.world.value?.track.route, front);
}

/**
 * The unit of a record; empty if it is unknown. The config of the evaluation can name it. A record
 * that increases like the clock is in seconds.
 */
export function unitOf(app: App, record: EvaluationRecord): string {
  const named = app.world.value?.world === record.world ? app.evaluation.value?.config.unit : undefined;
  if (typeof named === "string" && named.length <= 20) return named;
  return isClock(record.events ?? []) ? "s" : "";
}

/** Cache of units by session. The unit of an ended run never changes. */
const units = new Map<string, Promise<string>>();
/** Number of units that the page keeps. */
const MAX_UNITS = 200;

/**
 * The unit of a record from a list. A list contains no events, so the whole record is fetched if
 * necessary.
 */
export function fetchUnit(app: App, record: EvaluationRecord): Promise<string> {
  const known = unitOf(app, record);
  if (known !== "") return Promise.resolve(known);
  const { session } = record;
  let unit = units.get(session);
  if (!unit) {
    unit = fetchRecord(session).then((whole) => unitOf(app, whole), () => "");
    if (units.size >= MAX_UNITS) units.clear();
    units.set(session, unit);
  }
  return unit;
}

/** A record with its unit. */
export function withUnit(record: string, unit: string): string {
  return unit === "" ? record : `${record} ${unit}`;
}
