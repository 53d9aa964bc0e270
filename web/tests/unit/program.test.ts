import { readFileSync } from "node:fs";
import path from "node:path";
import { CompletionContext } from "@codemirror/autocomplete";
import { EditorState } from "@codemirror/state";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ClassName, METHODS, packageCompletions } from "../../src/program/chicane-names.ts";
import {
  commandOf,
  type Draft,
  freePath,
  MAX_FILES,
  parseDraft,
  pathProblem,
  pathsOf,
  renamed,
  restored,
  sizeOf,
  withFile,
  without,
  withText,
} from "../../src/program/draft.ts";
import { DraftStore, type DraftStorage } from "../../src/program/draft-store.ts";
import { withAdded } from "../../src/program/file-bar.ts";
import { lastError, placeInLine } from "../../src/program/traceback.ts";
import { sizeText } from "../../src/program/workspace-dialog.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const KEY = "chicane.program.draft";

const draft = (...paths: string[]): Draft => ({
  files: paths.map((name) => ({ path: name, text: `# ${name}` })),
  open: paths[0] ?? "",
  command: "",
});

describe("the path of a file", () => {
  it.each(["main.py", "lib/drive.py", "a b/ü.txt", "a/b/c/d/e/f/g/h"])("can be %s", (name) => {
    expect(pathProblem(name, [])).toBeNull();
  });

  it.each(["", "/etc/passwd", "../x", "a/../x", "a//b", "a/", "./a", "a\\b", "a\nb", "a/b/c/d/e/f/g/h/i", "ü".repeat(101)])(
    "can't be %j",
    (name) => {
      expect(pathProblem(name, [])).toBe("invalid");
    },
  );

  it("is not that of another file, nor of a folder", () => {
    expect(pathProblem("a.py", ["a.py"])).toBe("taken");
    expect(pathProblem("lib", ["lib/a.py"])).toBe("folder");
    expect(pathProblem("lib/a.py", ["lib"])).toBe("folder");
    expect(pathProblem("library", ["lib/a.py"])).toBeNull();
  });

  it("gets a number before its ending if it is taken", () => {
    expect(freePath("a.py", [])).toBe("a.py");
    expect(freePath("a.py", ["a.py"])).toBe("a_2.py");
    expect(freePath("lib.d/.env", ["lib.d/.env", "lib.d/.env_2"])).toBe("lib.d/.env_3");
  });
});

describe("a draft", () => {
  it("opens a new file, and the file beside a deleted one", () => {
    const one = withFile(draft("main.py", "a.py"), { path: "b.py", text: "" });
    expect([pathsOf(one), one.open]).toEqual([["main.py", "a.py", "b.py"], "b.py"]);
    expect(without(one, "b.py").open).toBe("a.py");
    expect(without({ ...one, open: "main.py" }, "main.py").open).toBe("a.py");
    expect(without({ ...one, open: "main.py" }, "b.py").open).toBe("main.py");
    expect(without(draft("main.py"), "main.py")).toEqual({ files: [], open: "", command: "" });
  });

  it("gets a deleted file back at its old place, also beside a new file of this name", () => {
    const before = draft("main.py", "a.py", "b.py");
    const after = restored(without(before, "a.py"), before.files[1], 1);
    expect(after).toEqual({ ...before, open: "a.py" });
    const replaced = withFile(without(before, "a.py"), { path: "a.py", text: "new" });
    expect(pathsOf(restored(replaced, before.files[1], 1))).toEqual(["main.py", "a_2.py", "b.py", "a.py"]);
  });

  it("adds a file under another name if it has one of this name with another text", () => {
    const before = draft("main.py", "a.py");
    expect(withAdded(before, { path: "a.py", text: "# a.py" })).toEqual({ ...before, open: "a.py" });
    expect(withAdded(before, { path: "a.py", text: "other" }).open).toBe("a_2.py");
  });

  it("runs main.py or else its first Python file, unless a command is typed", () => {
    expect(commandOf(draft("a.py", "main.py"))).toBe("python3 main.py");
    expect(commandOf(draft("notes.txt", "lib/a.py"))).toBe("python3 lib/a.py");
    expect(commandOf(draft("it's mine.py"))).toBe("python3 'it'\\''s mine.py'");
    expect(commandOf({ ...draft("main.py"), command: "python3 -u main.py" })).toBe("python3 -u main.py");
    expect(commandOf(renamed(draft("main.py"), "main.py", "lap.py"))).toBe("python3 lap.py");
    const typed = { ...draft("a.py", "b.py"), command: "python3 b.py" };
    expect(commandOf(renamed(typed, "b.py", "c.py"))).toBe("python3 c.py");
    expect(commandOf(renamed({ ...typed, command: "python3 b.py --fast" }, "b.py", "c.py"))).toBe("python3 b.py --fast");
  });

  it("has the size of its files in UTF-8", () => {
    expect(sizeOf(withText(draft("main.py"), "main.py", "äö").files)).toBe(4);
    expect([sizeText(1), sizeText(1000), sizeText(1536), sizeText(20_480)]).toEqual(["1 byte", "1000 bytes", "1.5 KiB", "20 KiB"]);
  });

  it("is read from storage, without what is not valid", () => {
    const stored = { ...draft("main.py", "a.py"), open: "a.py" };
    expect(parseDraft(JSON.stringify(stored))).toEqual(stored);
    for (const bad of [null, "", "{", "null", "[]", "3", '{"files":{}}']) expect(parseDraft(bad)).toBeNull();
    const files = [{ path: "../x", text: "" }, { path: "a", text: 1 }, null, { path: "b", text: "" }, { path: "b", text: "2" }];
    expect(parseDraft(JSON.stringify({ files, open: "x", command: 1 }))).toEqual({
      files: [{ path: "b", text: "" }],
      open: "b",
      command: "",
    });
    const many = Array.from({ length: 40 }, (_, i) => ({ path: `f${i}`, text: "" }));
    expect(parseDraft(JSON.stringify({ files: many }))?.files.length).toBe(MAX_FILES);
  });
});

describe("the stored draft", () => {
  let kept: Map<string, string>;
  let storage: DraftStorage;
  beforeEach(() => {
    vi.useFakeTimers();
    kept = new Map();
    storage = { getItem: (key) => kept.get(key) ?? null, setItem: (key, value) => void kept.set(key, value) };
  });
  afterEach(() => vi.useRealTimers());

  it("is stored after a pause, or at once before the page is closed", () => {
    const store = new DraftStore(storage, draft("main.py"));
    store.change(draft("main.py", "a.py"));
    expect(kept.has(KEY)).toBe(false);
    vi.runAllTimers();
    expect(new DraftStore(storage, draft()).draft.value).toEqual(draft("main.py", "a.py"));
    store.change(draft("b.py"));
    store.flush();
    expect(new DraftStore(storage, draft()).draft.value).toEqual(draft("b.py"));
    store.change(draft());
    store.flush();
    expect(new DraftStore(storage, draft("main.py")).draft.value, "a person has deleted all files").toEqual(draft());
  });

  it("says that the storage is full, and keeps the change until it can be stored", () => {
    const set = storage.setItem;
    storage.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    const store = new DraftStore(storage, draft("main.py"));
    expect(store.failed.value).toBe(false);
    store.change(draft("a.py"));
    vi.runAllTimers();
    expect([store.failed.value, store.draft.value]).toEqual([true, draft("a.py")]);
    storage.setItem = set;
    store.flush();
    expect([store.failed.value, parseDraft(kept.get(KEY) ?? null)]).toEqual([false, draft("a.py")]);
  });

  it("says that there is no storage", () => {
    expect(new DraftStore(null, draft("main.py")).failed.value).toBe(true);
  });

  it("follows another tab, but never loses a change of this one", () => {
    const store = new DraftStore(storage, draft("main.py"));
    store.adopt({ key: KEY, newValue: JSON.stringify(draft("theirs.py")) });
    expect(store.draft.value).toEqual(draft("theirs.py"));
    store.adopt({ key: "chicane.camera", newValue: "1" });
    store.adopt({ key: KEY, newValue: null });
    expect(store.draft.value).toEqual(draft("theirs.py"));
    store.change(draft("mine.py"));
    store.adopt({ key: KEY, newValue: JSON.stringify(draft("theirs.py")) });
    expect(store.draft.value).toEqual(draft("mine.py"));
  });
});

describe("a traceback", () => {
  const PATHS = ["main.py", "lib/drive.py", "sim.py"];
  const HOST = "/tmp/chicane-program-12-8e32c37d/program";

  it("names places of the draft, in a closed box and in a host box", () => {
    for (const folder of ["/workspace", HOST]) {
      const text = `  File "${folder}/lib/drive.py", line 12, in go`;
      const place = placeInLine(text, PATHS);
      expect(place).toMatchObject({ path: "lib/drive.py", line: 12 });
      expect(text.slice(place?.from, place?.to)).toBe(`File "${folder}/lib/drive.py", line 12`);
    }
    expect(placeInLine('  File "main.py", line 1', PATHS)).toMatchObject({ path: "main.py", line: 1 });
    expect(placeInLine('  | File "./main.py", line 3, in <module>', PATHS)).toMatchObject({ path: "main.py", line: 3 });
  });

  it("does not name files of libraries, nor files that are not in the draft", () => {
    for (const file of ["/usr/lib/python3/dist-packages/chicane/sim.py", "/opt/main.py", "/workspace/other.py", "<string>"])
      expect(placeInLine(`  File "${file}", line 4, in f`, PATHS), file).toBeNull();
    expect(placeInLine('print("File main.py, line 3")', PATHS)).toBeNull();
  });

  it("has its error at the innermost place of the draft", () => {
    const lines = [
      "Traceback (most recent call last):",
      `  File "${HOST}/main.py", line 2, in <module>`,
      "    lib.drive.go()",
      `  File "${HOST}/lib/drive.py", line 7, in go`,
      "    sim.step(x=1)",
      '  File "/usr/lib/python3/dist-packages/chicane/sim.py", line 90, in step',
      "    raise Invalid(text)",
      "chicane.errors.Invalid: steps must be a number",
    ];
    expect(lastError(lines, PATHS)).toEqual({
      path: "lib/drive.py",
      line: 7,
      text: "chicane.errors.Invalid: steps must be a number",
    });
    const other = lines.map((line) => line.replaceAll(HOST, "/opt"));
    expect(lastError(other, PATHS)).toBeNull();
  });

  it("is the last one, also of a syntax error", () => {
    const lines = [
      "Traceback (most recent call last):",
      '  File "/workspace/main.py", line 1, in <module>',
      "ValueError",
      "",
      '  File "/workspace/main.py", line 3',
      "    prnt('x'",
      "        ^",
      "SyntaxError: '(' was never closed",
    ];
    expect(lastError(lines, PATHS)).toEqual({ path: "main.py", line: 3, text: "SyntaxError: '(' was never closed" });
    expect(lastError(["all is well", "Done: 3"], PATHS)).toBeNull();
  });
});

describe("the completion of the package", () => {
  const complete = (text: string) => {
    const found = packageCompletions(new CompletionContext(EditorState.create({ doc: text }), text.length, false));
    return found && { from: found.from, labels: found.options.map((option) => option.label) };
  };

  it("has only methods that the package has", () => {
    for (const [name, file] of [
      ["Robot", "robot"],
      ["Sim", "sim"],
    ] satisfies [ClassName, string][]) {
      const source = readFileSync(path.join(ROOT, `python/src/chicane/${file}.py`), "utf8");
      for (const [method, args] of Object.entries(METHODS[name])) {
        const found = new RegExp(`    def ${method}\\(\\s*self(?:,\\s*)?([^]*?),?\\s*\\) ->`).exec(source);
        expect(found, `${name}.${method}`).not.toBeNull();
        const given = (found?.[1] ?? "")
          .replace(/(\w+): [^,=]+?(?= =|,|$)/g, "$1")
          .replaceAll(" = ", "=")
          .replace(/,\s+/g, ", ");
        const [first, rest] = args.split(", ...");
        if (rest === undefined) expect(given, `${name}.${method}`).toBe(first);
        else expect(given.startsWith(`${first}, `), `${name}.${method}: ${given}`).toBe(true);
      }
    }
  });

  it("follows the class of a variable", () => {
    expect(complete("from chicane import Robot\ncar = Robot()\ncar.dr")?.labels).toEqual(Object.keys(METHODS.Robot));
    expect(complete("with Sim() as s:\n    s.")?.labels).toEqual(Object.keys(METHODS.Sim));
    expect(complete("car = Robot()\ncar.lidar().")).toBeNull();
    expect(complete("x = 1\nx.")).toBeNull();
    expect(complete("from chicane import Sim, R")).toEqual({ from: 25, labels: ["Robot", "Sim"] });
  });
});
