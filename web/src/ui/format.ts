/** Formats numbers and times for display. */
import { t } from "../strings.ts";

/** Formats seconds as minutes, seconds and tenths, such as `1:02.3`. */
export function clock(seconds: number): string {
  const tenths = Math.floor(Math.max(0, seconds) * 10 + 1e-6);
  const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
  return `${Math.floor(tenths / 600)}:${rest}`;
}

/** Formats a record: a number with up to three decimals, other values as JSON. */
export function record(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : value.toFixed(3).replace(/0+$/, "");
  if (typeof value === "string") return value;
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

export function degrees(radians: number): number {
  return (radians * 180) / Math.PI;
}

/** Formats a number with a fixed number of decimals, and never as `-0`. */
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? (0).toFixed(decimals) : text;
}

/** Formats a time in the locale of the browser. */
export function localTime(iso: string | null | undefined): string {
  const date = new Date(iso ?? "");
  if (Number.isNaN(date.getTime())) return t.units.none;
  return date.toLocaleString(undefined, {
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
}
