import { describe, expect, it } from "vitest";
import { BuilderClient, BuilderError, conflictOf, findingsOf, hasCode } from "../../src/build/client.ts";
import type { ProjectDocument } from "../../src/build/document.ts";
import { errorText } from "../../src/build/forms.ts";
import { create, rename } from "../../src/build/new-project.ts";
import { ScriptFile } from "../../src/build/script-file.ts";
import { ApiError } from "../../src/net/api.ts";
import { en } from "../../src/strings/en.ts";

interface Call {
  method: string;
  path: string;
  body: unknown;
}

/** A client whose requests get the responses of `answer`, and the list of its requests. */
function fake(answer: (call: Call) => Response | Promise<Response>): { client: BuilderClient; calls: Call[] } {
  const calls: Call[] = [];
  const client = new BuilderClient(async (input, init) => {
    const body = init?.body;
    const call = {
      method: init?.method ?? "GET",
      path: String(input),
      body: typeof body === "string" ? JSON.parse(body) : body instanceof Blob ? await body.text() : undefined,
    };
    calls.push(call);
    return answer(call);
  });
  return { client, calls };
}

const json = (body: unknown, status = 200): Response => new Response(JSON.stringify(body), { status });
const refuse = (status: number, code: string, error: string, more: object = {}): Response =>
  json({ error, code, ...more }, status);

const drawing: ProjectDocument = { version: 1, name: "yard", field: { size: [4, 3] }, track: { nodes: [] } };

describe("a failed request", () => {
  it("has the code, the text and all fields of the answer", async () => {
    const current = { revision: 8, document: { ...drawing, display_name: "Yard" } };
    const { client } = fake(() => refuse(409, "revision_conflict", "revision 8 is the current one", current));
    const error = await client.save("00ff", 7, drawing, "me").catch((problem: unknown) => problem);
    expect(error).toBeInstanceOf(BuilderError);
    expect(error).toMatchObject({ status: 409, message: "revision 8 is the current one" });
    expect(hasCode(error, "revision_conflict")).toBe(true);
    expect(hasCode(error, "project_invalid")).toBe(false);
    expect(conflictOf(error)).toEqual(current);
  });

  it("is not a conflict if the answer lacks the current document", async () => {
    const { client } = fake(() => refuse(409, "revision_conflict", "conflict", { revision: 8, document: null }));
    expect(conflictOf(await client.save("a", 1, drawing).catch((problem: unknown) => problem))).toBeNull();
    expect(conflictOf(new Error("other"))).toBeNull();
  });

  it("for errors of the project names them", async () => {
    const error = { rule: "x", severity: "error", text: "The road overlaps itself.", location: { kind: "track" } };
    const warning = { ...error, severity: "warning", text: "The bend is tight." };
    const { client } = fake(() =>
      refuse(409, "project_invalid", "the project has errors", { findings: [warning, error] }),
    );
    const problem = await client.drive("a").catch((thrown: unknown) => thrown);
    expect(findingsOf(problem)).toEqual([error]);
    expect(errorText(problem)).toBe(en.buildTabs.mustBeFixed(1, error.text));
    const plain = fake(() => refuse(409, "project_invalid", "the project has errors", { findings: "?" })).client;
    expect(errorText(await plain.drive("a").catch((thrown: unknown) => thrown))).toBe("the project has errors");
  });

  it("for a signed-out user says what to do", async () => {
    const { client } = fake(() => refuse(401, "unauthorized", "token required"));
    expect(errorText(await client.list().catch((thrown: unknown) => thrown))).toBe(en.buildTabs.signedOut);
  });

  it("without an answer says that the simulator does not respond", async () => {
    const { client } = fake(() => Promise.reject(new TypeError("network")));
    await expect(client.list()).rejects.toMatchObject({ status: 0, message: en.link.noResponse });
  });

  it("with the page of a proxy has the status", async () => {
    const { client } = fake(() => new Response("<html>", { status: 502, statusText: "Bad Gateway" }));
    await expect(client.list()).rejects.toMatchObject({ status: 502, message: en.link.httpError(502, "Bad Gateway") });
  });

  it("with status 200 and no JSON is an error too", async () => {
    const { client } = fake(() => new Response("<html>"));
    await expect(client.list()).rejects.toBeInstanceOf(ApiError);
  });

  it("that was aborted throws the abort, so that the page does not report it", async () => {
    const stop = new AbortController();
    const { client } = fake(() => {
      stop.abort();
      return Promise.reject(stop.signal.reason as Error);
    });
    await expect(client.preview(drawing, "a", stop.signal)).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("a request", () => {
  it("quotes ids and file names, and keeps the folders of a file", async () => {
    const { client, calls } = fake(() => json({}));
    await client.putFile("a/b", "pictures/ä b.png", new Blob(["x"], { type: "image/png" }));
    await client.create({ from: "random", seed: 7, options: { width: 0.5 } });
    await client.deleteFile("a", "x.png", "me & you");
    await client.importFile(new Blob(["PK\x03\x04"], { type: "application/x-zip-compressed" }));
    expect(calls).toEqual([
      { method: "PUT", path: "/sim/api/builder/projects/a%2Fb/files/pictures/%C3%A4%20b.png", body: "x" },
      { method: "POST", path: "/sim/api/builder/projects", body: { from: "random", seed: 7, options: { width: 0.5 } } },
      { method: "DELETE", path: "/sim/api/builder/projects/a/files/x.png?editor=me%20%26%20you", body: undefined },
      { method: "POST", path: "/sim/api/builder/projects/import", body: "PK\x03\x04" },
    ]);
    expect(client.printUrl("a", { dpi: 150, format: "pdf", paper: "A3" })).toBe(
      "/sim/api/builder/projects/a/print?dpi=150&format=pdf&paper=A3",
    );
  });

  it("that uses the stored files first saves what is not saved yet", async () => {
    const { client, calls } = fake(() => json({}));
    client.unsaved.add(async () => void calls.push({ method: "SAVE", path: "", body: undefined }));
    await client.drive("a");
    await client.publish("a", "public", "Yard");
    expect(calls.map((call) => call.method)).toEqual(["SAVE", "POST", "SAVE", "POST"]);
    client.unsaved.clear();
    client.unsaved.add(() => Promise.reject(new Error("not saved")));
    await expect(client.drive("a")).rejects.toThrow("not saved");
    expect(calls).toHaveLength(4);
  });

  it("downloads a file with its progress", async () => {
    const { client } = fake(() => new Response(new Blob(["abcdef"]), { headers: { "Content-Type": "image/jpeg" } }));
    const seen: number[] = [];
    const file = await client.download("/x", (bytes) => seen.push(bytes));
    expect([await file.text(), file.type, seen.at(-1)]).toEqual(["abcdef", "image/jpeg", 6]);
  });
});

describe("a new title", () => {
  it("keeps what another editor has saved meanwhile", async () => {
    const theirs = { ...drawing, fence: { height: 0.5 } };
    const { client, calls } = fake(({ body }) =>
      (body as { revision: number }).revision === 2
        ? json({ revision: 3, updated: "", errors: 0, warnings: 0 })
        : refuse(409, "revision_conflict", "conflict", { revision: 2, document: theirs }),
    );
    await rename(client, { id: "a", revision: 1, document: drawing }, "Yard");
    expect(calls.at(-1)?.body).toEqual({ revision: 2, document: { ...theirs, display_name: "Yard" } });
  });

  it("is given up if every attempt meets another change", async () => {
    const { client, calls } = fake(() =>
      refuse(409, "revision_conflict", "conflict", { revision: 2, document: drawing }),
    );
    await expect(rename(client, { id: "a", revision: 1, document: drawing }, "Yard")).rejects.toThrow("conflict");
    expect(calls).toHaveLength(4);
  });

  it("is saved for a new project only if it differs", async () => {
    const { client, calls } = fake(() =>
      json({ id: "a", revision: 1, document: { ...drawing, display_name: "Oval" } }),
    );
    await create(client, { from: "world", world: "oval" }, "Oval");
    await create(client, { from: "world", world: "oval" }, "");
    expect(calls.map((call) => call.method)).toEqual(["POST", "POST"]);
    await create(client, { from: "world", world: "oval" }, "Mine");
    expect(calls.at(-1)).toMatchObject({ method: "PUT", body: { document: { display_name: "Mine" } } });
  });
});

/** A server with one script. A test can change the script without the page. */
function scriptServer(first: string | null) {
  const server = { stored: first, errors: [] as { line: number | null; text: string }[] };
  const { client, calls } = fake(({ method, path, body }) => {
    if (path.endsWith("/script/check")) return json({ ok: server.errors.length === 0, errors: server.errors });
    if (method === "PUT") {
      server.stored = body as string;
      return json({ name: "rules.py", bytes: 1 });
    }
    return server.stored === null ? refuse(404, "no_file", "no such file") : new Response(server.stored);
  });
  return { server, client, calls, file: new ScriptFile(client, "a", "rules.py") };
}

describe("a script", () => {
  it("is saved and checked", async () => {
    const { server, client, file } = scriptServer("one");
    expect(await file.load()).toBe("one");
    server.errors = [{ line: 1, text: "wrong" }];
    file.change("two");
    expect([file.save.value, client.unsaved.size]).toEqual(["waiting", 1]);
    await file.flush();
    expect([server.stored, file.save.value, client.unsaved.size]).toEqual(["two", "saved", 0]);
    await file.verify();
    expect(file.check.value).toEqual({ isKnown: true, errors: [{ line: 1, text: "wrong" }], problem: "" });
  });

  it("of a new file is stored although the file does not exist", async () => {
    const { server, file } = scriptServer(null);
    expect(await file.load()).toBeNull();
    file.change("one");
    await file.flush();
    expect(server.stored).toBe("one");
  });

  it("that somebody else has changed is not overwritten", async () => {
    const { server, client, file } = scriptServer("one");
    await file.load();
    file.change("mine");
    server.stored = "theirs";
    await expect(file.flush()).rejects.toThrow(en.buildTabs.rules.theirs);
    await expect(client.drive("a")).rejects.toThrow(en.buildTabs.rules.theirs);
    expect([server.stored, file.save.value]).toEqual(["theirs", "theirs"]);
    await file.keepMine();
    expect([server.stored, file.save.value, client.unsaved.size]).toEqual(["mine", "saved", 0]);
  });

  it("that can't be checked says why", async () => {
    const client = fake(() => refuse(503, "judge_unavailable", "judge not available: run chicane setup")).client;
    const file = new ScriptFile(client, "a", "rules.py");
    await file.verify();
    expect(file.check.value).toMatchObject({ isKnown: false, problem: "judge not available: run chicane setup" });
  });
});
