/** What a record says about its run besides the result: identity, and commands that do not belong. */
import type { StoredRecord } from "../net/session.ts";
import { t } from "../strings.ts";
import { commandsBadge } from "../ui/commands-badge.ts";
import type { BoxKind, Pace, ProgramVersion, RecordIdentity } from "../wire/sim.ts";

/** The displayed name of a kind of box; null if no program ran. */
export function boxText(box: BoxKind | null | undefined): string | null {
  const boxes: Record<BoxKind, string> = t.evaluation.boxes;
  return box ? boxes[box] : null;
}

/** The displayed version of the simulator, with the first digits of its commit. */
export function versionText(version: ProgramVersion | null | undefined): string | null {
  if (!version) return null;
  return version.commit ? `${version.version} (${version.commit.slice(0, 7)})` : version.version;
}

/** The displayed pace of a program; null if no program ran. */
export function paceText({ box, pace }: RecordIdentity): string | null {
  const paces: Record<Pace, string> = t.evaluation.paces;
  return box && pace ? paces[pace] : null;
}

/** The pace that was requested for a run. A run with a reason did not get the requested pace. */
export function requestedPace({ pace, pace_reason }: RecordIdentity): Pace | null {
  return pace_reason ? "virtual" : (pace ?? null);
}

/** Badges for commands of others and for refused requests of the program. */
export function recordBadges(record: Partial<Pick<StoredRecord, "interference" | "refused">>): HTMLElement[] {
  const { interference, interferenceTitle, refused, refusedTitle } = t.evaluation;
  return [
    commandsBadge({
      label: interference,
      title: interferenceTitle,
      commands: record.interference,
      testid: "interference",
    }),
    commandsBadge({ label: refused, title: refusedTitle, commands: record.refused, testid: "refused" }),
  ].filter((badge) => badge !== null);
}
