/** Texts and colours of phases and outcomes. */
import { t } from "../strings.ts";
import type { Outcome, Phase } from "../wire/sim.ts";

/** The tone of an outcome sets the result card's colour. The compiler reports a missing outcome. */
export const TONES: Record<Outcome, "good" | "bad" | "neutral"> = {
  finished: "good",
  timeout: "bad",
  script_error: "bad",
  stopped: "neutral",
  unsupported: "bad",
};

/** The displayed text of an outcome. The compiler reports an outcome that has no text. */
export function outcomeText(outcome: Outcome | null | undefined): string {
  const outcomes: Record<Outcome, string> = t.evaluation.outcomes;
  return outcome ? outcomes[outcome] : t.units.none;
}

/** The displayed text of a phase. */
export function phaseText(phase: Phase): string {
  const phases: Record<Phase, string> = t.evaluation.phases;
  return phases[phase];
}
