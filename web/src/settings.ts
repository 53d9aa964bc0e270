/** The user's settings. The browser stores them, and all pages of the simulator share them. */
import { isQualityChoice, type QualityChoice } from "./scene/quality.ts";
import { persistedSignal } from "./ui/signal.ts";

export const THEMES = ["system", "light", "dark"] as const;
export const SPEED_UNITS = ["m/s", "km/h", "cm/s"] as const;
export const ANGLE_UNITS = ["deg", "rad"] as const;
export const LANGUAGE_CHOICES = ["auto", "en", "de", "ko"] as const;

export type Theme = (typeof THEMES)[number];
export type SpeedUnit = (typeof SPEED_UNITS)[number];
export type AngleUnit = (typeof ANGLE_UNITS)[number];
export type LanguageChoice = (typeof LANGUAGE_CHOICES)[number];

const oneOf =
  <T extends string>(values: readonly T[]) =>
  (value: unknown): value is T =>
    values.includes(value as T);
const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";
/** Longest accepted value of `KeyboardEvent.key`. */
const MAX_KEY = 20;
const isKeyMap = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === "object" &&
  value !== null &&
  Object.keys(value).length <= 100 &&
  Object.values(value).every((key) => typeof key === "string" && key.length > 0 && key.length <= MAX_KEY);

export const settings = {
  language: persistedSignal<LanguageChoice>("language", "auto", oneOf(LANGUAGE_CHOICES)),
  theme: persistedSignal<Theme>("theme", "system", oneOf(THEMES)),
  quality: persistedSignal<QualityChoice>("quality", "auto", isQualityChoice),
  speedUnit: persistedSignal<SpeedUnit>("unit.speed", "m/s", oneOf(SPEED_UNITS)),
  angleUnit: persistedSignal<AngleUnit>("unit.angle", "deg", oneOf(ANGLE_UNITS)),
  shortcuts: persistedSignal("shortcuts", true, isBoolean),
  /** Keys that differ from the default keys, by shortcut. */
  keys: persistedSignal<Readonly<Record<string, string>>>("keys", {}, isKeyMap),
};

/** Applies the theme now and on every change. */
export function applyTheme(): void {
  settings.theme.watch((theme) => {
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
  });
}

/** Calls `changed` when the colours change, either by the setting or by the operating system. */
export function onThemeChange(changed: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", changed);
  const stop = settings.theme.watch((_theme, before) => before !== undefined && changed());
  return () => {
    system.removeEventListener("change", changed);
    stop();
  };
}
