/** Formats the results of a table. */
import { t } from "../strings.ts";
import { fixed } from "../ui/format.ts";

/** Largest number of decimals of a result. */
const MAX_DECIMALS = 3;

/**
 * The number of decimals for all results of a table: the largest number that one of them needs.
 * With the same number, their decimal points are aligned.
 */
export function decimalsOf(values: readonly number[]): number {
  const needed = values.map((value) => (String(Number(value.toFixed(MAX_DECIMALS))).split(".")[1] ?? "").length);
  return Math.max(0, ...needed);
}

/** How far a result is behind the leader's result, such as `+1.230`. Never negative. */
export function gapText(value: number, leader: number, decimals: number): string {
  return `+${fixed(Math.abs(value - leader), decimals)}`;
}

/** The time of day in the locale of the browser. */
export function timeOfDay(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return t.units.none;
  return date.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit" });
}

/** The size of a file. */
export function sizeText(bytes: number): string {
  const { kilobytes, megabytes } = t.leaderboard;
  return bytes < 1e6 ? kilobytes(String(Math.max(1, Math.round(bytes / 1e3)))) : megabytes((bytes / 1e6).toFixed(1));
}
