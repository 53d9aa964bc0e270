/** Compares a run with the other runs of its world. */
import type { EvaluationRecord } from "../net/session.ts";
import type { Better } from "../wire/sim.ts";

/** The place of a run among all runs of its world that have a numeric record. */
export interface Standing {
  /** Rank, from 1. Runs with the same record have the same rank. */
  rank: number;
  /** Number of runs with a record. */
  of: number;
  best: EvaluationRecord;
}

type Scored = EvaluationRecord & { record: number };

/** Whether a run has a record that counts: it finished with a number. */
export function isScored(run: EvaluationRecord): run is Scored {
  return run.outcome === "finished" && typeof run.record === "number" && Number.isFinite(run.record);
}

/** Runs with a record, best first. Among equal runs, the oldest is first. */
export function ranked(runs: readonly EvaluationRecord[], better: Better): Scored[] {
  const sign = better === "higher" ? -1 : 1;
  return runs
    .filter(isScored)
    .toSorted((a, b) => sign * (a.record - b.record) || a.started_at.localeCompare(b.started_at));
}

/** The place of a run; null if the run has no record. `runs` may or may not contain the run. */
export function standingOf(run: EvaluationRecord, runs: readonly EvaluationRecord[]): Standing | null {
  if (!isScored(run)) return null;
  const others = runs.filter((one) => one.session !== run.session);
  const order = ranked([...others, run], run.better);
  const rank = 1 + order.findIndex((one) => one.record === run.record);
  return { rank, of: order.length, best: order[0] };
}

/**
 * Runs that can be shown as a ghost of this run, best first. Only runs with a journal can be shown.
 */
export function ghostsFor(run: EvaluationRecord, runs: readonly EvaluationRecord[]): Scored[] {
  return ranked(runs, run.better).filter((one) => one.session !== run.session && Boolean(one.journal));
}
