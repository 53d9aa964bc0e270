import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { chooseLanguage, LANGUAGES, type Strings } from "../../src/strings.ts";
import { en } from "../../src/strings/en.ts";

const SOURCE = path.resolve(import.meta.dirname, "../../src");
/** Values of `KeyboardEvent.key`. They look like texts but are not shown to the user. */
const KEY_NAMES = ["Arrow", "Enter", "Escape", "Tab"];
/** Matches text for the user: a capitalized word, a value with a unit, or a symbol. */
const USER_TEXT = /^[A-Z][a-z]+([ .,:!?]|$)|\} (m|m\/s|ms|s|%)$|\}[°×]$|^[×–…]/;

/** All texts of a language. A function stands for the text it returns for sample arguments. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "function") return [String(value("1", "2"))];
  return Object.values(value as object).flatMap(textsOf);
}

/** String literals of the page outside of `strings/` that look like text for the user. */
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

describe("strings", () => {
  it("are never empty", () => {
    for (const strings of Object.values(LANGUAGES)) {
      expect(textsOf(strings).filter((text) => text.trim() === "")).toEqual([]);
    }
  });

  it("are chosen by the preferred languages of the browser, with English as fallback", () => {
    const de: Strings = { ...en, language: "de" };
    expect(chooseLanguage(["fr-CA", "de-CH", "en"], { en, de })).toBe(de);
    expect(chooseLanguage(["en-GB", "de"], { en, de })).toBe(en);
    expect(chooseLanguage(["fr"], { en, de })).toBe(en);
    expect(chooseLanguage([], { en, de })).toBe(en);
  });

  it("contain every text of the page", () => {
    expect(literalsOutsideStrings()).toEqual([]);
  });
});
