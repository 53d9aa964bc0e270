/** Numbers for people. */

/** Seconds as minutes and tenths: 1:02.3. */
export function clock(seconds: number): string {
  const tenths = Math.floor(Math.max(0, seconds) * 10 + 1e-6);
  const rest = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
  return `${Math.floor(tenths / 600)}:${rest}`;
}

/** A record: numbers with up to three decimals, other values as JSON. */
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

/** A number with decimals, without a minus before zero. */
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? (0).toFixed(decimals) : text;
}

/** A moment in the reader's own way of writing. */
export function moment(iso: string | null | undefined): string {
  const date = new Date(iso ?? "");
  if (Number.isNaN(date.getTime())) return "–";
  return date.toLocaleString(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" });
}
