/** Keyboard shortcuts that the user can change. */
import { settings } from "./settings.ts";
import { t } from "./strings.ts";

/** The default key of each shortcut, as in `KeyboardEvent.key`; letters are lower-case. */
export const USUAL_KEYS = {
  pause: " ",
  step: ".",
  reset: "r",
  orbit: "1",
  chase: "2",
  top: "3",
  onboard: "4",
  resetView: "0",
  zoomIn: "+",
  zoomOut: "-",
  next: "n",
  previous: "p",
  turnLeft: "q",
  turnRight: "e",
  drive: "d",
  instruments: "i",
  lidar: "l",
  trail: "t",
  sound: "m",
  worlds: "w",
  evaluation: "f",
  program: "c",
  settings: ",",
  help: "?",
} as const;

export type Shortcut = keyof typeof USUAL_KEYS;
export const SHORTCUTS = Object.keys(USUAL_KEYS) as Shortcut[];

/** Keys with a fixed meaning. They can't be used for a shortcut. */
const RESERVED = /^(Escape|Tab|Enter|Home|End|Backspace|Delete|Arrow.*|Shift|Control|Alt|AltGraph|Meta|CapsLock|Dead|Process|Unidentified)$/;

/** Whether a key only changes the meaning of other keys. */
export function isModifier(key: string): boolean {
  return /^(Shift|Control|Alt|AltGraph|Meta)$/.test(key);
}

type KeyMap = Readonly<Record<string, string>>;

export function keyOf(shortcut: Shortcut, changed: KeyMap = settings.keys.value): string {
  return changed[shortcut] ?? USUAL_KEYS[shortcut];
}

/** The shortcut of a pressed key; null if the key has none. */
export function shortcutOf(key: string, changed: KeyMap = settings.keys.value): Shortcut | null {
  const pressed = normalize(key);
  return SHORTCUTS.find((shortcut) => keyOf(shortcut, changed) === pressed) ?? null;
}

/** Normalizes a key for storage: letters in lower case. */
function normalize(key: string): string {
  return [...key].length === 1 ? key.toLowerCase() : key;
}

/** Whether a key can be used for a shortcut. */
export function isAssignable(key: string): boolean {
  return key.length <= 20 && !RESERVED.test(key);
}

/**
 * The keys that differ from the defaults, after `key` was assigned to `shortcut`. If another
 * shortcut had `key`, it gets the former key of `shortcut`, so that no two shortcuts have the same
 * key.
 */
export function withKey(changed: KeyMap, shortcut: Shortcut, key: string): KeyMap {
  const wanted = normalize(key);
  const former = keyOf(shortcut, changed);
  const other = shortcutOf(wanted, changed);
  const next: Record<string, string> = { ...changed, [shortcut]: wanted };
  if (other && other !== shortcut) next[other] = former;
  return Object.fromEntries(Object.entries(next).filter(([name, value]) => USUAL_KEYS[name as Shortcut] !== value));
}

/** The label of a key for the user. */
export function keyLabel(key: string): string {
  return key === " " ? t.settings.space : [...key].length === 1 ? key.toUpperCase() : key;
}

/**
 * A text followed by the key of a shortcut, for a tooltip. If shortcuts are disabled, only the
 * text.
 */
export function keyed(text: string, shortcut: Shortcut): string {
  return settings.shortcuts.value ? t.cameras.key(text, keyLabel(keyOf(shortcut))) : text;
}
