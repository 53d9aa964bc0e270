import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { settings } from "../../src/settings.ts";
import { chooseLanguage, type Language, LANGUAGES, LANGUAGE_NAMES, type Strings, t, updateLanguage } from "../../src/strings.ts";
import { en } from "../../src/strings/en.ts";

const SOURCE = path.resolve(import.meta.dirname, "../../src");
/**
 * Values of `KeyboardEvent.key`, and the common beginning of some values. They look like texts but
 * are not shown to the user.
 */
const KEY_NAMES = ["Arrow", "Enter", "Escape", "Tab"];
/** Matches text for the user: a capitalized word, a value with a unit, or a symbol. */
const USER_TEXT = /^[A-Z][a-z]+([ .,:!?]|$)|\} (m|m\/s|ms|s|%)$|\}[°×]$|^[×–…]/;

/**
 * All texts of a language. A function is replaced by the text that it returns for sample arguments.
 */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "function") return [String(value("1", "2"))];
  return Object.values(value as object).flatMap(textsOf);
}

/** The texts of a language by their path, such as `dock.pause`. A list counts as one text. */
function byPath(value: unknown, path = ""): Map<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return new Map([[path, value]]);
  return new Map(Object.entries(value).flatMap(([name, inner]) => [...byPath(inner, path ? `${path}.${name}` : name)]));
}

/** The arguments that occur in a text. The samples are numbers that no text contains by itself. */
function usedArguments(text: (...args: unknown[]) => string, count: number): number[] {
  const samples = Array.from({ length: count }, (_, i) => 7001 + i);
  // Some texts expect strings, but a template gives the same result for a number.
  const result = text(...samples);
  return samples.filter((sample) => result.includes(String(sample)));
}

/** String literals of the page outside `strings/` that look like text for the user. */
function literalsOutsideStrings(): string[] {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/^(strings|wire)\b/.test(file))
    .toSorted();
  return files.flatMap((file) => {
    const code = readFileSync(path.join(SOURCE, file), "utf8")
      .replace(/\/\* glsl \*\/ `[^`]*`/g, "``")
      .replace(/\/\*[\s\S]*?\*\//g, "")
      .replace(/\/\/ .*$/gm, "")
      .replace(/console\.\w+\(.*/g, "")
      .replace(/^(import|export) .* from .*$/gm, "");
    const literals = [...code.matchAll(/"([^"\n]*)"|`([^`]*)`/g)].map((found) => found[1] ?? found[2]);
    return literals
      .filter((literal) => USER_TEXT.test(literal) && !KEY_NAMES.includes(literal))
      .map((literal) => `${file}: ${literal}`);
  });
}

const languages = Object.keys(LANGUAGES) as Language[];
const load = (language: Language): Promise<Strings> => LANGUAGES[language]();

describe("strings", () => {
  it("are never empty", async () => {
    for (const language of languages) {
      expect(textsOf(await load(language)).filter((text) => text.trim() === "")).toEqual([]);
    }
  });

  it("are chosen by the preferred languages of the browser, with English as fallback", () => {
    expect(chooseLanguage(["fr-CA", "de-CH", "en"])).toBe("de");
    expect(chooseLanguage(["ko-KR"])).toBe("ko");
    expect(chooseLanguage(["en-GB", "de"])).toBe("en");
    expect(chooseLanguage(["fr", "constructor"])).toBe("en");
    expect(chooseLanguage([])).toBe("en");
  });

  it("are replaced when the user chooses another language", async () => {
    for (const language of ["ko", "de", "en"] as const) {
      settings.language.value = language;
      await updateLanguage();
      expect(t.language).toBe(language);
    }
    settings.language.value = "auto";
  });

  for (const language of languages.filter((one) => one !== "en")) {
    it(`in ${LANGUAGE_NAMES[language]} have the keys and placeholders of the English ones`, async () => {
      const english = byPath(en);
      const translated = byPath(await load(language));
      expect([...translated.keys()]).toEqual([...english.keys()]);
      for (const [path, text] of english) {
        const other = translated.get(path);
        expect(typeof other, path).toBe(typeof text);
        if (typeof text !== "function") continue;
        const [of, count] = [text as (...args: unknown[]) => string, text.length];
        expect(usedArguments(other as typeof of, count), path).toEqual(usedArguments(of, count));
      }
    });

    it(`in ${LANGUAGE_NAMES[language]} explain the same shortcuts and keys`, async () => {
      const texts = await load(language);
      const shape = (strings: Strings) => strings.help.rows.map(({ keys, shortcuts }) => [keys?.length, shortcuts]);
      expect(shape(texts)).toEqual(shape(en));
      expect(texts.build.keys.rows.map(({ keys }) => keys.length)).toEqual(en.build.keys.rows.map(({ keys }) => keys.length));
    });

    it(`in ${LANGUAGE_NAMES[language]} are translated`, async () => {
      const translated = byPath(await load(language));
      // Sentences must differ. Short texts such as names and units can be equal in two languages.
      const same = [...byPath(en)].filter(([path, text]) => typeof text === "string" && / .* /.test(text) && translated.get(path) === text);
      expect(same).toEqual([]);
    });
  }

  it("contain every text of the page", () => {
    expect(literalsOutsideStrings()).toEqual([]);
  });
});
