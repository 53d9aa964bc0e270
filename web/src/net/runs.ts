/** Requests for the records and the tracks of runs. */
import { t } from "../strings.ts";
import type { RecordList } from "../wire/sim.ts";
import { API, ApiError, get, getBytes } from "./api.ts";
import type { EvaluationRecord } from "./session.ts";
import { MAX_BYTES, parseTracks, type RunTracks } from "./tracks.ts";

/** Largest page of `GET /evaluation/records`. */
const PAGE = 500;
/** Largest number of records of a world that the page fetches and compares. */
const MAX_RECORDS = 5000;
/**
 * Number of runs whose tracks the page caches: the shown run, its ghost, and runs that were loaded
 * before.
 */
const MAX_CACHED = 4;

const query = (session: string) => `session=${encodeURIComponent(session)}`;

/** The record of a run. For an unknown session, the error message says that it is unknown. */
export async function fetchRecord(session: string): Promise<EvaluationRecord> {
  try {
    return await get<EvaluationRecord>(`/evaluation/record?${query(session)}`);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404)
      throw new ApiError(404, t.replay.noRun(session), error.code);
    throw error;
  }
}

/** Tracks by session. A run that has ended never changes. */
const tracksCache = new Map<string, Promise<RunTracks>>();

/** The tracks of a run. Calls `onProgress` with the number of bytes received so far. */
export function fetchTracks(session: string, onProgress?: (bytes: number) => void): Promise<RunTracks> {
  const cached = tracksCache.get(session);
  if (cached) return cached;
  const tracks = getBytes(`/evaluation/replay?${query(session)}`, MAX_BYTES, onProgress).then(parseTracks);
  tracksCache.set(session, tracks);
  for (const oldest of tracksCache.keys()) {
    if (tracksCache.size <= MAX_CACHED) break;
    tracksCache.delete(oldest);
  }
  tracks.catch(() => tracksCache.delete(session));
  return tracks;
}

/** The runs of a world, newest first. `complete` is false if there are more than `MAX_RECORDS`. */
export async function fetchRecords(world: string): Promise<{ records: EvaluationRecord[]; complete: boolean }> {
  const records: EvaluationRecord[] = [];
  let cursor: string | null = null;
  do {
    const page: RecordList = await get<RecordList>(
      `/evaluation/records?world=${encodeURIComponent(world)}&limit=${PAGE}` +
        (cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""),
    );
    records.push(...page.records);
    // A page without records ends the loop, even if a faulty proxy repeats the same cursor.
    cursor = page.records.length > 0 ? (page.next ?? null) : null;
  } while (cursor !== null && records.length < MAX_RECORDS);
  return { records, complete: cursor === null };
}

/**
 * Address of the on-board image at a moment of a run. `time` is in simulated seconds since the
 * start of the run.
 */
export function cameraAddress(session: string, time: number): string {
  return `${API}/evaluation/replay/camera?${query(session)}&time=${time.toFixed(3)}`;
}

/** Address of the file with the whole run. */
export function runFileAddress(session: string): string {
  return `${API}/evaluation/run?${query(session)}`;
}
