/** The server and `chicane build` make the same bytes from a project. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newProject, openProject } from "./build-support.ts";
import { browserFixture } from "./fixture.ts";
import { editAtRandom } from "./random-edits.ts";
import { program } from "./support.js";

const REPOSITORY = path.resolve(import.meta.dirname, "../../..");
const EXAMPLES = path.join(REPOSITORY, "examples/projects");
/** Number of edits of each of the four projects below. */
const EDITS = 50;
/** Edits between two comparisons of the bytes, because building takes longer than editing. */
const COMPARED = 5;

/** The files of a world: their paths, and their bytes as one character each. */
type Files = Record<string, string>;

describe("the world of a project", () => {
  const fixture = browserFixture("--world", "oval");
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "chicane-bytes-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const api = (id: string, rest: string) => `${fixture.simulator.origin}/sim/api/builder/projects/${id}/${rest}`;

  /**
   * The files that the server publishes, with the world's id replaced by the name of the project.
   */
  async function published(id: string): Promise<Files> {
    const { world_id } = await fixture.simulator.request(`builder/projects/${id}/publish`, { access: "unlisted" });
    const { document } = await fixture.simulator.request(`builder/projects/${id}`);
    const meta = await fixture.simulator.request(`/cdn/worlds/${world_id}/meta.json`);
    const named = (text: string) => text.replaceAll(`custom_${world_id}`, document.name);
    const read = async (file: string): Promise<[string, string]> => {
      const answer = await fetch(`${fixture.simulator.origin}/cdn/worlds/${world_id}/${meta.rev}/${file}`);
      expect(answer.status).toBe(200);
      return [named(file), named(Buffer.from(await answer.arrayBuffer()).toString("latin1"))];
    };
    return Object.fromEntries(await Promise.all((meta.files as string[]).map(read)));
  }

  /** The files that `chicane build` makes of a project file. */
  async function built(project: string): Promise<Files> {
    const output = await mkdtemp(path.join(folder, "world-"));
    await program("build", project, "--output", output);
    const entries = await readdir(output, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
    const read = async (file: string) => [path.relative(output, file), await readFile(file, "latin1")] as const;
    const found = Object.fromEntries(await Promise.all(files.map(read)));
    await rm(output, { recursive: true });
    return found;
  }

  /** The export of a project as a project file, with its pictures and scripts beside it. */
  async function exported(id: string): Promise<string> {
    const answer = await fetch(api(id, "export"));
    expect(answer.status).toBe(200);
    const own = path.join(folder, id);
    await rm(own, { recursive: true, force: true });
    await mkdir(own);
    const isZip = answer.headers.get("content-type") === "application/zip";
    const file = path.join(own, isZip ? "project.zip" : "project.json");
    await writeFile(file, Buffer.from(await answer.arrayBuffer()));
    if (!isZip) return file;
    await promisify(execFile)("python3", ["-m", "zipfile", "-e", file, own]);
    const [document] = (await readdir(own)).filter((name) => name.endsWith(".json"));
    return path.join(own, document);
  }

  function expectSame(one: Files, two: Files, what: string): void {
    expect(Object.keys(one).toSorted(), what).toEqual(Object.keys(two).toSorted());
    // The message of `toEqual` would contain the whole files.
    for (const [name, bytes] of Object.entries(one)) expect(bytes === two[name], `${what}: ${name}`).toBe(true);
  }

  async function expectSameBytes(id: string, what: string): Promise<Files> {
    const [one, two] = await Promise.all([published(id), exported(id).then(built)]);
    expectSame(one, two, what);
    return one;
  }

  /** A project of the examples, with its files. */
  async function example(name: string): Promise<string> {
    const document: object = JSON.parse(await readFile(path.join(EXAMPLES, `${name}.json`), "utf8"));
    const id = await newProject(fixture.simulator, { from: "document", document });
    for (const file of (await readdir(EXAMPLES)).filter((file) => !file.endsWith(".json"))) {
      const body = await readFile(path.join(EXAMPLES, file));
      const type = file.endsWith(".png") ? "image/png" : "text/x-python";
      const answer = await fetch(api(id, `files/${file}`), { method: "PUT", headers: { "Content-Type": type }, body });
      expect(answer.status).toBeLessThan(300);
    }
    return id;
  }

  it("is the same for every shipped project, also when it is built from the shipped file", async () => {
    const worlds = (await readdir(path.join(REPOSITORY, "worlds"))).filter((name) => name.endsWith(".json"));
    expect(worlds.length).toBeGreaterThan(5);
    for (const file of worlds) {
      const id = await newProject(fixture.simulator, { from: "world", world: file.replace(".json", "") });
      expectSame(await expectSameBytes(id, file), await built(path.join(REPOSITORY, "worlds", file)), `${file} as shipped`);
    }
    for (const file of (await readdir(EXAMPLES)).filter((name) => name.endsWith(".json"))) {
      await expectSameBytes(await example(file.replace(".json", "")), file);
    }
  });

  const STARTS: readonly [name: string, start: () => Promise<string>, picture: string | null][] = [
    ["an empty project", () => newProject(fixture.simulator), null],
    ["the shipped town", () => newProject(fixture.simulator, { from: "world", world: "town" }), null],
    ["a random track", () => newProject(fixture.simulator, { from: "random", seed: 11, options: { field: [9, 7] } }), null],
    ["the example with everything", () => example("everything"), "chequers.png"],
  ];
  STARTS.forEach(([name, start, picture], at) => {
    it(`is the same after random edits of ${name} on the page`, { timeout: 1_200_000 }, async () => {
      const visit = await openProject(fixture, await start());
      const id = new URL(visit.page.url()).searchParams.get("project") ?? "";
      const edits: string[] = [];
      for (let i = 0; i < EDITS; i++) {
        edits.push(await editAtRandom(visit, 1000 * at + i, picture));
        if (edits.length % COMPARED === 0) await expectSameBytes(id, `edit ${i + 1}: ${edits.join(", ")}`);
      }
      expect(new Set(edits).size).toBeGreaterThan(8);
    });
  });
});
