import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { CompletionContext } from "@codemirror/autocomplete";
import { EditorState } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import { constantsOf, withConstant } from "../../src/build/constants.ts";
import type { EvaluationConfig, ProjectDocument } from "../../src/build/document.ts";
import { worldName } from "../../src/build/forms.ts";
import { putConfig, rangeProblem, RANGES, NUMBERS, readConfig, writeConfig } from "../../src/build/rules-config.ts";
import { simCompletions } from "../../src/build/script-editor.ts";
import { SCRIPT_NAMES, SIM_NAMES, type SimPath } from "../../src/build/sim-names.ts";
import { en } from "../../src/strings/en.ts";
import { diagnosticsOf } from "../../src/ui/python-editor.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const read = (file: string): string => readFileSync(path.join(ROOT, file), "utf8");
const LAP_TIME = read("python/judge/templates/lap_time.py");

/** The evaluations of the shipped worlds and of the example projects. */
const configs: EvaluationConfig[] = ["worlds", "examples/projects"].flatMap((folder) =>
  readdirSync(path.join(ROOT, folder))
    .filter((file) => file.endsWith(".json"))
    .flatMap((file) => (JSON.parse(read(`${folder}/${file}`)) as ProjectDocument).evaluation?.config ?? []),
);

/** Every setting, each with a value that is not the default. */
const FULL: EvaluationConfig = {
  description: "Slalom",
  better: "higher",
  time_limit_s: 60.5,
  robot: "gen2",
  allow: ["step"],
  vary: {
    start: { along: [-0.2, 0], across: [-0.05, 0.05], yaw: [-0.08, 0.08] },
    objects: { jitter: 0.05, turn: 0.5, scatter: [1, 4] },
    lights: { phase: [0, 3] },
    brightness: [0.8, 1.2],
    friction: [0.9, 1.1],
    mass: [1, 1.5],
    noise: { lidar: [1, 1.5], imu: [1, 2], camera: [1, 2] },
    latency: [0, 0.03],
    surface: ["dry", "wet"],
  },
};

describe("the form of an evaluation", () => {
  it("gives back the settings that it shows", () => {
    expect(configs.length).toBeGreaterThan(5);
    for (const config of [...configs, FULL]) {
      const defaults = { description: "", better: "lower", time_limit_s: 180, robot: "gen1" };
      expect(writeConfig(readConfig(config))).toEqual({ ...defaults, ...config });
    }
  });

  it("leaves settings alone that it did not change", () => {
    const config: EvaluationConfig = { description: "Lap", allow: ["state"] };
    putConfig(config, { ...readConfig(config), time_limit_s: 90 });
    expect(config).toEqual({ description: "Lap", allow: ["state"], time_limit_s: 90 });
    putConfig(config, { ...readConfig(config), allow: null });
    expect(config).toEqual({ description: "Lap", time_limit_s: 90 });
    putConfig(config, { ...readConfig(config), allow: [] });
    expect(config.allow).toEqual([]);
  });

  it("removes what a seed changes when nothing is left", () => {
    const config: EvaluationConfig = { vary: { friction: [0.9, 1.1] } };
    putConfig(config, { ...readConfig(config), vary: { ranges: {}, numbers: {}, surface: [] } });
    expect(config).toEqual({});
  });

  it("ignores values of the wrong kind", () => {
    const wrong = { allow: "all", vary: { friction: 3, surface: "wet", objects: [1], noise: { imu: [1, "2"] } } };
    expect(readConfig(wrong as unknown as EvaluationConfig)).toEqual(readConfig({}));
  });

  it("has the limits of the simulator", () => {
    const source = read("crates/vary/src/parse.rs").replaceAll("HALF_TURN", "3.15").replaceAll("MAX_SCATTER", "50");
    const number = (text: string): number => Number(text);
    for (const { path: at, low, high, usual } of RANGES) {
      const [group, key = group] = at.split(".");
      const object = key === group ? "vary" : group;
      const call = new RegExp(`${object}\\.(?:range|count)\\("${key}"(?:, (-?[\\d.]+))?, (-?[\\d.]+)\\)`).exec(source);
      expect(call && [number(call[1] ?? "0"), number(call[2])], at).toEqual([low, high]);
      expect(rangeProblem({ path: at, low, high, usual }, usual)).toBeNull();
    }
    for (const { path: at, high } of NUMBERS) {
      const [group, key] = at.split(".");
      expect(number(new RegExp(`${group}\\.number\\("${key}", ([\\d.]+)\\)`).exec(source)?.[1] ?? ""), at).toBe(high);
    }
  });

  it("says what is wrong with a range", () => {
    const spec = (at: string) => RANGES.find((one) => one.path === at) ?? RANGES[0];
    expect(rangeProblem(spec("friction"), [0.1, 1])).toBe("limits");
    expect(rangeProblem(spec("friction"), [1.1, 0.9])).toBe("order");
    expect(rangeProblem(spec("objects.scatter"), [1, 2.5])).toBe("whole");
    expect(rangeProblem(spec("friction"), [1, 1])).toBeNull();
  });
});

describe("the options of a script", () => {
  it("are the numbers with a comment at its top", () => {
    const found = constantsOf(LAP_TIME);
    expect(found.length).toBeGreaterThan(10);
    expect(found[0]).toEqual({
      name: "PENALTY",
      value: 5,
      meaning: "seconds for leaving the road and for moving an object",
    });
    expect(constantsOf("  A = 1  # indented\nB = 2\nc = 3  # lower\nD = 4 # yes\r\n")).toEqual([
      { name: "D", value: 4, meaning: "yes" },
    ]);
  });

  it("change one number and nothing else", () => {
    const changed = withConstant(LAP_TIME, "PENALTY", 10);
    expect(changed).toBe(LAP_TIME.replace("PENALTY = 5.0 ", "PENALTY = 10.0 "));
    for (const { name } of constantsOf(LAP_TIME)) {
      const other = constantsOf(withConstant(LAP_TIME, name, 0.0000025));
      expect(other.find((one) => one.name === name)?.value).toBe(0.0000025);
      expect(withConstant(withConstant(LAP_TIME, name, 1.25), name, 1.25)).toBe(withConstant(LAP_TIME, name, 1.25));
    }
    expect(withConstant(LAP_TIME, "NOTHING", 1)).toBe(LAP_TIME);
    expect(withConstant(LAP_TIME, "PENALTY", Number.NaN)).toBe(LAP_TIME);
  });
});

/** The fields of a Rust struct. A flattened field is replaced by the fields of its type. */
function fieldsOf(source: string, name: string): string[] {
  const body = new RegExp(`pub struct ${name} \\{([\\s\\S]*?)\\n\\}`).exec(source)?.[1] ?? "";
  return [...body.matchAll(/(flatten\)\]\n)?\s*pub (\w+): (\w*)/g)].flatMap(([, flattened, field, type]) =>
    flattened ? fieldsOf(read("crates/wire/src/geometry.rs"), type) : [field],
  );
}

/** The names of `sim` that the harness sets or defines. */
function harnessNames(): { values: string[]; methods: Map<string, string> } {
  const harness = read("python/judge/harness.py");
  const type = /class Sim:([\s\S]*?)\n\n\n/.exec(harness)?.[1] ?? "";
  const methods = new Map(
    [...type.matchAll(/def ([a-z]\w*)\(self(?:, )?(.*)\):/g)].map(([, name, args]) => [name, args]),
  );
  const load = /def load\(self, call\):([\s\S]*?)\n\n/.exec(harness)?.[1] ?? "";
  const set = [...load.matchAll(/\bsim\.(\w+)(?=[^\n]* = )/g)].map(([, name]) => name);
  const lazy = /if name != "(\w+)"/.exec(type)?.[1] ?? "";
  return { values: [...new Set([...set, lazy])], methods };
}

const complete = (text: string) => {
  const state = EditorState.create({ doc: text });
  const found = simCompletions(new CompletionContext(state, text.length, false));
  return found && { from: found.from, labels: found.options.map((option) => option.label) };
};

describe("the completion of names", () => {
  it("has exactly the names that the harness offers", () => {
    const { values, methods } = harnessNames();
    expect(values.length).toBeGreaterThan(6);
    expect(Object.keys(SIM_NAMES.sim).toSorted()).toEqual([...values, ...methods.keys()].toSorted());
    for (const [name, args] of Object.entries(SIM_NAMES.sim)) {
      expect(args !== null, name).toBe(methods.has(name));
      const given = methods.get(name) ?? "";
      if (args !== null && !given.includes("*")) expect(args, name).toBe(given);
    }
    expect(read("python/judge/harness.py")).toContain("self.module.SimError = SimError");
  });

  it("has exactly the fields that the simulator sends", () => {
    const [judge, state] = [read("crates/wire/src/judge.rs"), read("crates/wire/src/state.rs")];
    const sent: Record<Exclude<SimPath, "sim">, string[]> = {
      "sim.state": fieldsOf(judge, "Observation"),
      "sim.state.pose": fieldsOf(state, "VehiclePose"),
      "sim.state.run": fieldsOf(state, "RunState"),
      "sim.state.audio": fieldsOf(judge, "JudgeAudio"),
      "sim.track": fieldsOf(judge, "JudgeTrack"),
    };
    for (const [at, fields] of Object.entries(sent)) {
      expect(Object.keys(SIM_NAMES[at as SimPath]).toSorted(), at).toEqual(fields.toSorted());
    }
  });

  it("explains every name", () => {
    for (const [at, names] of Object.entries(SIM_NAMES)) {
      expect(Object.keys(en.buildTabs.simNames[at as SimPath]).toSorted()).toEqual(Object.keys(names).toSorted());
    }
  });

  it("follows the expression before the cursor", () => {
    expect(complete("    sim.st")).toEqual({ from: 8, labels: Object.keys(SIM_NAMES.sim) });
    expect(complete("x = sim.state.pose.")).toEqual({ from: 19, labels: Object.keys(SIM_NAMES["sim.state.pose"]) });
    expect(complete("sim.state.time.")).toBeNull();
    expect(complete("mysim.")).toBeNull();
    expect(complete("other.sta")).toBeNull();
    expect(complete("def ev")).toEqual({ from: 4, labels: ["sim", ...SCRIPT_NAMES] });
  });
});

describe("the errors of a script", () => {
  it("are at their lines", () => {
    const state = EditorState.create({ doc: "one\ntwo\nthree" });
    const places = diagnosticsOf(state, [
      { line: 2, text: "invalid syntax" },
      { line: null, text: "it does not define evaluate(sim)" },
      { line: 99, text: "the script has become shorter" },
    ]).map(({ from, to, message }) => [from, to, message]);
    expect(places).toEqual([
      [4, 7, "invalid syntax"],
      [0, 3, "it does not define evaluate(sim)"],
      [8, 13, "the script has become shorter"],
    ]);
  });
});

describe("the name of a world", () => {
  it("is made from its title", () => {
    expect(worldName("  Große Halle: Runde 2 ")).toBe("gro_e_halle_runde_2");
    expect(worldName("Été")).toBe("ete");
    expect(worldName("赛道")).toBe("world");
    expect(worldName("x".repeat(80))).toHaveLength(64);
  });
});
