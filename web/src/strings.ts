/** The language of the page. All texts are in `strings/`, one file per language. */
import { en } from "./strings/en.ts";

/** The texts of one language. The compiler reports a text that a translation lacks. */
export type Strings = typeof en;

/** Every language that the page has, by its language tag (BCP 47) without the region. */
export const LANGUAGES: Readonly<Record<string, Strings>> = { en };

/** The texts of the first preferred language that the page has, or else the English texts. */
export function chooseLanguage(
  preferred: readonly string[],
  available: Readonly<Record<string, Strings>> = LANGUAGES,
): Strings {
  for (const tag of preferred) {
    const found = available[tag.toLowerCase().split("-")[0]];
    if (found) return found;
  }
  return en;
}

/** The texts in the language of this browser. `navigator` is undefined in tests in Node.js 20. */
export const t: Strings = chooseLanguage(globalThis.navigator?.languages ?? []);
