/**
 * The options of a judging script: numbers at the top level of the script, each followed by a
 * comment that says what it means. The built-in scripts have such options, and teachers can change
 * them without reading Python.
 */

export interface Constant {
  name: string;
  value: number;
  /** The comment after the number. */
  meaning: string;
}

/** Matches a line such as `PENALTY = 5.0  # seconds for leaving the road`. */
const LINE = /^([A-Z][A-Z0-9_]*)([ \t]*=[ \t]*)(-?\d+(?:\.\d+)?)([ \t]*#[ \t]*)([^\r\n]+)$/gm;
const MAX_CONSTANTS = 60;

/** The options of a script in their order, at most `MAX_CONSTANTS`. */
export function constantsOf(script: string): Constant[] {
  const found = [...script.matchAll(LINE)].slice(0, MAX_CONSTANTS);
  return found.map(([, name, , value, , meaning]) => ({ name, value: Number(value), meaning: meaning.trim() }));
}

/**
 * The script with `value` as the number of the option `name`. A script without this option is not
 * changed.
 */
export function withConstant(script: string, name: string, value: number): string {
  if (!Number.isFinite(value)) return script;
  return script.replace(LINE, (line, key: string, equals: string, old: string, hash: string, meaning: string) => {
    if (key !== name) return line;
    // A float stays a float, because Python prints `5.0` and `5` differently.
    const text = old.includes(".") && Number.isInteger(value) ? value.toFixed(1) : plain(value);
    return `${key}${equals}${text}${hash}${meaning}`;
  });
}

/**
 * The text of a number below 1e21. The text has no exponent, because the pattern `LINE` does not
 * match a number with an exponent.
 */
function plain(value: number): string {
  const text = String(value);
  return text.includes("e") ? value.toFixed(9).replace(/\.?0+$/, "") : text;
}
