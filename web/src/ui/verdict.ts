/** Texts and colours of phases and outcomes, and the reason why a program failed. */
import { t } from "../strings.ts";
import type { Outcome, Phase, RunResult, RunState } from "../wire/sim.ts";

/** An outcome, or `failed` for a run that finished without a record. */
export type Verdict = Outcome | "failed";

/** The tone of a verdict determines its colour. The compiler reports a missing verdict. */
export const TONES: Record<Verdict, "good" | "bad" | "late" | "fault" | "neutral" | "blocked"> = {
  finished: "good",
  failed: "bad",
  timeout: "late",
  script_error: "fault",
  stopped: "neutral",
  unsupported: "blocked",
};

/** The verdict on a session or a record; null while the session is active. */
export function verdictOf(run: { outcome?: Outcome | null; record?: unknown }): Verdict | null {
  if (run.outcome === "finished" && (run.record ?? null) === null) return "failed";
  return run.outcome ?? null;
}

/** The displayed text of a verdict. The compiler reports a verdict that has no text. */
export function verdictText(verdict: Verdict | null): string {
  const outcomes: Record<Verdict, string> = t.evaluation.outcomes;
  return verdict ? outcomes[verdict] : t.units.none;
}

/** The displayed text of a phase. */
export function phaseText(phase: Phase): string {
  const phases: Record<Phase, string> = t.evaluation.phases;
  return phases[phase];
}

/** The end of a program, from a record or from the state of a session. */
export type ProgramEnd = Partial<Pick<RunResult, "signal" | "oom">> & Pick<RunState, "exit_code">;

/** Highest signal number of Linux. */
const MAX_SIGNAL = 64;

/** One sentence that says why a program failed; null if it has not failed. */
export function programFailure(end: ProgramEnd | null | undefined): string | null {
  if (!end) return null;
  const { failure } = t.evaluation;
  if (end.oom) return failure.outOfMemory;
  // In the state of a session, a signal is a negative exit code.
  const code = end.exit_code ?? 0;
  const signal = end.signal ?? (code < 0 ? -code : null);
  if (signal !== null) return failure.signal(signalName(signal));
  if (code === 126) return failure.notExecutable;
  if (code === 127) return failure.notFound;
  // A shell reports a signal of its last command as the status 128 plus the number of the signal.
  if (code > 128 && code <= 128 + MAX_SIGNAL) return failure.statusOfSignal(code, signalName(code - 128));
  return code === 0 ? null : failure.status(code);
}

/** The name of a signal with its number, such as `SIGSEGV (11)`. */
function signalName(signal: number): string {
  const name = (t.evaluation.signals as Readonly<Record<number, string>>)[signal];
  return name ? `${name} (${signal})` : String(signal);
}

/**
 * One sentence that says why a run failed. For a verdict other than `failed`, the sentence says
 * why the program failed. Null if there is nothing to say.
 */
export function failureText(verdict: Verdict | null, end: ProgramEnd | null | undefined): string | null {
  const program = programFailure(end);
  if (verdict !== "failed") return program;
  return program ?? (end ? t.evaluation.failure.noRecord : t.evaluation.failure.noProgramNoRecord);
}
