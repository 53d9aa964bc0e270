/**
 * The language of the page. All texts are in `strings/`, one file per language and part.
 *
 * English is part of the page. Another language is loaded when it is needed: before the page is
 * built, or when the user chooses it. Then `t` is replaced, and the page rebuilds its panels.
 */
import { settings } from "./settings.ts";
import { en } from "./strings/en.ts";
import { Signal } from "./ui/signal.ts";

/** The texts of one language. The compiler reports a text that a translation lacks. */
export type Strings = typeof en;

/** Every language of the page, by its language tag (BCP 47) without the region. */
export const LANGUAGES = {
  en: () => Promise.resolve(en),
  de: () => import("./strings/de.ts").then(({ de }) => de),
  ko: () => import("./strings/ko.ts").then(({ ko }) => ko),
} satisfies Record<string, () => Promise<Strings>>;

export type Language = keyof typeof LANGUAGES;

/** The name of each language in that language. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch", ko: "한국어" };

/** The first preferred language that the page supports, or else English. */
export function chooseLanguage(preferred: readonly string[]): Language {
  for (const tag of preferred) {
    const primary = tag.toLowerCase().split("-")[0];
    if (Object.hasOwn(LANGUAGES, primary)) return primary as Language;
  }
  return "en";
}

/** The language that the user has chosen, or else the language of the browser. */
export function wantedLanguage(): Language {
  // `navigator` is undefined in tests in Node.js 20.
  const { value } = settings.language;
  return value === "auto" ? chooseLanguage(globalThis.navigator?.languages ?? []) : value;
}

/** The texts of the current language. */
export let t: Strings = en;
/** The current language. It changes after `t` has changed. */
export const language = new Signal<Language>("en");

/** Loads the wanted language and makes it the current one. If loading fails, nothing changes. */
export async function updateLanguage(): Promise<void> {
  const wanted = wantedLanguage();
  if (wanted === t.language) return;
  try {
    const texts = await LANGUAGES[wanted]();
    // The user may have chosen another language in the meantime.
    if (wanted !== wantedLanguage()) return;
    t = texts;
    language.value = wanted;
  } catch (error) {
    console.warn("The translation could not be loaded:", error);
  }
}

/** The language tag with the user's region, if the browser reports one for this language. */
export function locale(): string {
  const found = globalThis.navigator?.languages?.find((tag) => tag.toLowerCase().split("-")[0] === t.language);
  return found ?? t.language;
}

// This line blocks all modules that import `t` until the language is loaded, because some of them
// read texts while they are evaluated.
await updateLanguage();
