/** Formats numbers and times for display. */
import { settings } from "../settings.ts";
import { locale, t } from "../strings.ts";

/** Formats seconds as minutes, seconds and tenths, such as `1:02.3`. */
export function clock(seconds: number): string {
  const tenths = Math.floor(Math.max(0, seconds) * 10 + 1e-6);
  const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
  return `${Math.floor(tenths / 600)}:${rest}`;
}

/** Formats seconds as minutes, seconds and hundredths, such as `1:02.34`. */
export function preciseClock(seconds: number): string {
  const hundredths = Math.round(Math.max(0, seconds) * 100);
  const rest = ((hundredths % 6000) / 100).toFixed(2).padStart(5, "0");
  return `${Math.floor(hundredths / 6000)}:${rest}`;
}

/** Formats a difference with its sign, such as `+0.42` or `−1.30`. */
export function signed(value: number, decimals: number): string {
  const text = fixed(Math.abs(value), decimals);
  return Number(text) === 0 ? `±${text}` : `${value < 0 ? "−" : "+"}${text}`;
}

/**
 * Formats a record: a number with up to three decimals, an object as names with their values. Null
 * if there is no record. A long text is cut.
 */
export function record(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = plain(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function plain(value: unknown): string {
  if (typeof value === "number") return String(Number(value.toFixed(3)));
  if (Array.isArray(value)) return value.map(plain).join(", ");
  if (typeof value === "object" && value !== null)
    return Object.entries(value)
      .map(([name, inner]) => `${name} ${plain(inner)}`)
      .join(", ");
  return String(value);
}

export function degrees(radians: number): number {
  return (radians * 180) / Math.PI;
}

export function radians(angle: number): number {
  return (angle * Math.PI) / 180;
}

/**
 * Formats a speed in the unit that the user has chosen. `decimals` is the number of decimals for
 * m/s.
 */
export function speedText(metresPerSecond: number, decimals: number): string {
  switch (settings.speedUnit.value) {
    case "km/h":
      return t.units.kilometresPerHour(fixed(3.6 * metresPerSecond, Math.max(1, decimals - 1)));
    case "cm/s":
      return t.units.centimetresPerSecond(fixed(100 * metresPerSecond, Math.max(0, decimals - 2)));
    default:
      return t.units.metresPerSecond(fixed(metresPerSecond, decimals));
  }
}

/** Formats an angle in the unit that the user has chosen. `decimals` is the number for degrees. */
export function angleText(angle: number, decimals: number): string {
  return settings.angleUnit.value === "rad"
    ? t.units.radians(fixed(angle, decimals + 2))
    : t.units.degrees(fixed(degrees(angle), decimals));
}

/** Formats a number with a fixed number of decimals, and never as `-0`. */
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? (0).toFixed(decimals) : text;
}

/** Formats a time in the language of the page. */
export function localTime(iso: string | null | undefined): string {
  const date = new Date(iso ?? "");
  if (Number.isNaN(date.getTime())) return t.units.none;
  return date.toLocaleString(locale(), {
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
}
