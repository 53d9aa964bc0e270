import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { settings } from "../../src/settings.ts";
import { isAssignable, keyed, keyOf, SHORTCUTS, shortcutOf, USUAL_KEYS, withKey } from "../../src/shortcuts.ts";
import { angleText, speedText } from "../../src/ui/format.ts";
import { addTo, onEnd, scoped } from "../../src/ui/scope.ts";
import { Signal } from "../../src/ui/signal.ts";

afterEach(() => {
  settings.speedUnit.value = "m/s";
  settings.angleUnit.value = "deg";
  settings.shortcuts.value = true;
});

describe("units", () => {
  it("change the display of speeds and angles", () => {
    expect(speedText(0.5, 2)).toBe("0.50 m/s");
    settings.speedUnit.value = "km/h";
    expect(speedText(0.5, 2)).toBe("1.8 km/h");
    settings.speedUnit.value = "cm/s";
    expect(speedText(-0.5, 2)).toBe("-50 cm/s");
    expect(angleText(Math.PI / 6, 1)).toBe("30.0°");
    settings.angleUnit.value = "rad";
    expect(angleText(Math.PI / 6, 1)).toBe("0.524 rad");
  });
});

describe("shortcuts", () => {
  it("have a key of their own each", () => {
    expect(new Set(Object.values(USUAL_KEYS)).size).toBe(SHORTCUTS.length);
    for (const shortcut of SHORTCUTS) expect(shortcutOf(USUAL_KEYS[shortcut], {})).toBe(shortcut);
  });

  it("swap keys if the new key is already used", () => {
    const changed = withKey({}, "drive", "I");
    expect(keyOf("drive", changed)).toBe("i");
    expect(keyOf("instruments", changed)).toBe("d");
    expect(shortcutOf("d", changed)).toBe("instruments");
    const keys = SHORTCUTS.map((shortcut) => keyOf(shortcut, changed));
    expect(new Set(keys).size).toBe(keys.length);
    // If the default key is set again, nothing needs to be stored.
    expect(withKey(changed, "drive", "d")).toEqual({});
  });

  it("refuse keys with a fixed meaning", () => {
    for (const key of ["Escape", "Tab", "Enter", "ArrowLeft", "Shift", "Dead"]) expect(isAssignable(key)).toBe(false);
    for (const key of ["a", "ä", "한", "F2", " "]) expect(isAssignable(key)).toBe(true);
  });

  it("appear in tooltips only while they are on", () => {
    expect(keyed("Pause", "pause")).toBe("Pause (Space)");
    settings.shortcuts.value = false;
    expect(keyed("Pause", "pause")).toBe("Pause");
  });
});

describe("scope", () => {
  it("ends watches, list items and callbacks, in reverse order", () => {
    const signal = new Signal(0);
    const [seen, list, ended]: [number[], string[], string[]] = [[], [], []];
    const { result, end } = scoped(() => {
      signal.watch((value) => seen.push(value));
      addTo(list, "item");
      onEnd(() => ended.push("first"));
      onEnd(() => ended.push("second"));
      return "built";
    });
    signal.value = 1;
    expect([result, seen, list]).toEqual(["built", [0, 1], ["item"]]);
    end();
    signal.value = 2;
    expect([seen, list, ended]).toEqual([[0, 1], [], ["second", "first"]]);
  });

  it("covers all listeners and timers of the panels", () => {
    // A panel is rebuilt when the language changes. A listener that does not belong to the scope
    // would then act twice.
    const source = path.resolve(import.meta.dirname, "../../src");
    const files = [...readdirSync(path.join(source, "panels")).map((file) => `panels/${file}`), "keys.ts", "page.ts", "manipulate/selection-overlay.ts"];
    const outside = /^\s*(window\.|document\.)?(addEventListener\(|setInterval\()|beforeDraw\.push\(/gm;
    const found = files.flatMap((file) => [...readFileSync(path.join(source, file), "utf8").matchAll(outside)].map(([text]) => `${file}: ${text.trim()}`));
    expect(found).toEqual([]);
  });
});
