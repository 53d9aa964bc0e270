/**
 * Facts in the record of a run besides the result: its identity, and badges for unexpected
 * commands.
 */
import type { StoredRecord } from "../net/session.ts";
import { t } from "../strings.ts";
import { commandsBadge } from "../ui/commands-badge.ts";
import { h } from "../ui/dom.ts";
import { icon } from "../ui/icons.ts";
import type { BoxKind, Pace, ProgramVersion, RecordIdentity } from "../wire/sim.ts";

/**
 * Programs that run another file. The name of that file is then the name of the student's program.
 */
const INTERPRETERS = /^(python[\d.]*|pypy[\d.]*|node|deno|bun|ruby|perl|sh|bash|dash|zsh|env|uv|run)$/;

/**
 * The name of a program, from its command: the file that an interpreter runs, such as `run.py` in
 * `python3 run.py --fast`. Null if there is no command.
 */
export function programName(command: string | null | undefined): string | null {
  const words = (command ?? "").match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  const names = words.map((word) => word.replace(/^["']|["']$/g, ""));
  const first = names.find((name) => !/^\w+=/.test(name));
  if (first === undefined) return null;
  const rest = names.slice(names.indexOf(first) + 1);
  if (!INTERPRETERS.test(fileOf(first))) return fileOf(first);
  for (const [i, name] of rest.entries()) {
    if (name === "-m") return rest[i + 1] ?? fileOf(first);
    // The option contains the source code of the program, so the program has no name.
    if (/^-\w*[ce]$/.test(name)) return fileOf(first);
    if (!name.startsWith("-") && !/^\w+=/.test(name) && !INTERPRETERS.test(name)) return fileOf(name);
  }
  return fileOf(first);
}

function fileOf(path: string): string {
  return path.split("/").at(-1) || path;
}

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

/**
 * The pace that was requested for a run. If the record has a `pace_reason`, virtual time was
 * requested but not possible.
 */
export function requestedPace({ pace, pace_reason }: RecordIdentity): Pace | null {
  return pace_reason ? "virtual" : (pace ?? null);
}

/** The badge of the best record of a world. */
export function bestBadge(): HTMLElement {
  return h("span", { class: "badge badge-best", title: t.evaluation.bestTitle, "data-testid": "best" }, icon("trophy"), t.evaluation.best);
}

/** Badges for commands of other senders and for refused requests of the program. */
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
