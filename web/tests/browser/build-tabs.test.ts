import { describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { browserFixture } from "./fixture.ts";
import { leaveEditor } from "./hands.ts";
import { until, type Visit } from "./support.js";

/** A picture of 300 × 200 pixels, drawn by the browser: the left half is black. */
async function drawnPicture(visit: Visit): Promise<Buffer> {
  const bytes = await visit.page.evaluate(async () => {
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [300, 200];
    canvas.getContext("2d")?.fillRect(0, 0, 150, 200);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
    return [...new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0))];
  });
  return Buffer.from(bytes);
}

describe("the list of projects", () => {
  const fixture = browserFixture("--world", "oval");
  const list = () => fixture.simulator.request("builder/projects");
  const open = () => fixture.open({ path: "/build", skipReady: true });

  it("makes a project from a shipped world and opens it", async () => {
    const visit = await open();
    await visit.byTestId("new").click();
    await visit.byTestId("new-title").fill("School yard");
    await visit.byTestId("choice-world").check();
    await visit.byTestId("from-technical").check();
    await visit.byTestId("new-create").click();
    await visit.page.waitForURL(/project=[0-9a-f]{16}/);
    const [made] = (await list()).projects;
    expect(made).toMatchObject({ name: "technical", display_name: "School yard", errors: 0 });
  });

  it("makes a random track with the values of the sliders", async () => {
    const visit = await open();
    await visit.byTestId("new").click();
    await visit.byTestId("choice-random").check();
    await visit.byTestId("random-seed").fill("7");
    await visit.byTestId("random-field-width").fill("10");
    await visit.byTestId("new-create").click();
    await visit.page.waitForURL(/project=/);
    const { projects } = await list();
    expect(projects[0]).toMatchObject({ name: "random_7", width: 10, height: 6 });
  });

  it("renames, duplicates, deletes and restores a project", async () => {
    const { id } = await fixture.simulator.request("builder/projects", { from: "empty", name: "yard" });
    const visit = await open();
    const tile = visit.byTestId(`project-${id}`);
    await until(
      () => tile.locator("img").evaluate((image: HTMLImageElement) => image.naturalWidth),
      (width) => width === 320,
    );
    await tile.getByTestId("rename").click();
    await visit.byTestId("rename-title").fill("New yard");
    await visit.byTestId("rename-save").click();
    await tile.getByText("New yard").waitFor();
    const before = (await list()).projects.length;
    await tile.getByTestId("duplicate").click();
    await until(
      async () => (await list()).projects.length,
      (count) => count === before + 1,
    );
    const { projects } = await list();
    for (const project of projects) await visit.byTestId(`project-${project.id}`).waitFor();
    await tile.getByTestId("delete").click();
    await visit.byTestId("undo-delete").waitFor();
    await until(
      () => visit.byTestId("undo-delete").evaluate((button) => button === document.activeElement),
      (hasFocus) => hasFocus,
    );
    expect((await list()).deleted[0].id).toBe(id);
    await visit.byTestId("undo-delete").click();
    await until(
      async () => (await list()).deleted.length,
      (count) => count === 0,
    );
    await tile.waitFor();
  });

  it("imports an exported file, and says why another file is refused", async () => {
    const visit = await open();
    visit.allowedErrors = /status of 422/;
    const { id } = await fixture.simulator.request("builder/projects", { from: "world", world: "oval" });
    await visit.page.reload();
    const tile = visit.byTestId(`project-${id}`);
    const [file] = await Promise.all([visit.page.waitForEvent("download"), tile.getByTestId("export").click()]);
    expect(file.suggestedFilename()).toBe("oval.json");
    const wrong = { name: "x.json", mimeType: "application/json", buffer: Buffer.from("{}") };
    await visit.byTestId("import-file").setInputFiles(wrong);
    await until(
      () => visit.byTestId("projects-error").textContent(),
      (text) => (text ?? "").length > 5,
    );
    await visit.byTestId("import-file").setInputFiles(await file.path());
    await visit.page.waitForURL(/project=/);
    const imported = /project=(\w+)/.exec(visit.page.url())?.[1];
    const views = [id, imported].map((one) => fixture.simulator.request(`builder/projects/${one}`));
    const [first, second] = await Promise.all(views);
    expect(second.document).toEqual(first.document);
  });
});

describe("the rules of a project", () => {
  const fixture = browserFixture("--world", "oval");

  /** Opens the rules tab of a new project. */
  async function rules(): Promise<{ visit: Visit; id: string; document: () => Promise<any> }> {
    const { id } = await fixture.simulator.request("builder/projects", { from: "world", world: "technical" });
    const visit = await fixture.open({ path: `/build?project=${id}`, skipReady: true });
    await visit.byTestId("tab-rules").click();
    await visit.byTestId("rules-edit").waitFor();
    return { visit, id, document: async () => (await fixture.simulator.request(`builder/projects/${id}`)).document };
  }

  it("are changed by the form", async () => {
    const { visit, document } = await rules();
    await visit.byTestId("rules-limit").fill("90");
    await visit.byTestId("rules-description").fill("Two laps");
    await visit.byTestId("choice-higher").check();
    await until(document, (now) => now.evaluation.config.better === "higher");
    const { config } = (await document()).evaluation;
    expect(config).toMatchObject({ time_limit_s: 90, description: "Two laps", better: "higher", robot: "gen1" });
    expect(config.vary.friction).toEqual([0.9, 1.1]);
    await visit.byTestId("rules-remove").click();
    await until(document, (now) => now.evaluation === undefined);
    await visit.byTestId("rules-add").click();
    await until(document, (now) => now.evaluation?.script?.template === "lap_time");
  });

  it("become a script, which the judge checks while it is written", async () => {
    const { visit, id, document } = await rules();
    await visit.byTestId("rules-edit").click();
    await visit.byTestId("script-text").waitFor();
    await until(document, (now) => now.evaluation.script === "rules.py");
    await visit.page.getByText(en.buildTabs.rules.correct).waitFor();
    await visit.byTestId("script-text").click();
    await visit.page.keyboard.press("Control+Home");
    await visit.page.keyboard.type("x = sim.tele");
    await visit.page.locator(".cm-tooltip-autocomplete").getByText("teleport").waitFor();
    // CodeMirror ignores keys for 75 ms after it has shown the completions.
    await until(
      async () => {
        await visit.page.keyboard.press("Tab");
        return visit.byTestId("script-text").textContent();
      },
      (text) => (text ?? "").startsWith("x = sim.teleport"),
    );
    await visit.page.keyboard.type("(");
    await visit.page.keyboard.press("Delete");
    await visit.page.getByText(en.buildTabs.rules.wrong(1)).waitFor();
    await visit.page.locator(".cm-lint-marker-error").waitFor();
    const stored = `${fixture.simulator.origin}/sim/api/builder/projects/${id}/files/rules.py`;
    await until(
      async () => (await fetch(stored)).text(),
      (text) => text.startsWith("x = sim.teleport("),
    );
    await leaveEditor(visit, "script-text");
  });

  it("are tried on a drive, with log and verdict", async () => {
    const { visit } = await rules();
    await visit.byTestId("drive-start").click();
    await visit.byTestId("drive-stop").waitFor();
    expect((await fixture.simulator.request("evaluation/session")).active).toBe(true);
    await visit.byTestId("drive-stop").click();
    await until(
      () => visit.byTestId("drive-state").textContent(),
      (text) => (text ?? "").startsWith(en.evaluation.outcomes.stopped),
    );
  });

  it("are tried on a recorded run and on the file of a run", async () => {
    const { visit, id } = await rules();
    await fixture.simulator.request(`builder/projects/${id}/drive`, {});
    const { session } = await fixture.simulator.request("evaluation/start", { time_limit_s: 2, student: "Ada" });
    await until(
      () => fixture.simulator.request("evaluation/session"),
      ({ active }) => active === false,
    );
    const script = "def initialize(sim):\n    pass\n\n\ndef evaluate(sim):\n    print('judged', sim.state.time)\n    sim.record(7)\n    sim.finish()\n";
    const stored = `${fixture.simulator.origin}/sim/api/builder/projects/${id}/files/rules.py`;
    await fetch(stored, { method: "PUT", body: script, headers: { "Content-Type": "text/x-python" } });
    await visit.byTestId("choice-file").check();
    await visit.byTestId("script-text").waitFor();
    await visit.byTestId("recorded-run").locator("summary").click();
    await until(
      () => visit.byTestId("run-choice").locator("option").allTextContents(),
      ([first]) => (first ?? "").startsWith("Ada · "),
    );
    await visit.byTestId("run-start").click();
    const verdict = () => visit.byTestId("run-verdict").textContent();
    const finished = (text: string | null) =>
      (text ?? "").startsWith(en.evaluation.outcomes.finished) && (text ?? "").includes(en.buildTabs.rules.drive.record("7"));
    expect(await until(verdict, finished)).toContain(en.evaluation.outcomes.timeout);
    expect(await visit.byTestId("run-log").textContent()).toContain("judged 0.0");
    expect(await visit.byTestId("run-world").isVisible()).toBe(false);

    const file = await fetch(`${fixture.simulator.origin}/sim/api/evaluation/run?session=${session.id}`);
    const buffer = Buffer.from(await file.arrayBuffer());
    const name = "run.chicane";
    await visit.byTestId("run-file").setInputFiles({ name, mimeType: "application/octet-stream", buffer });
    await until(verdict, finished);
    visit.allowedErrors = /status of 409/;
    await visit.byTestId("run-file").setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.from("x") });
    await visit.byTestId("run-error").getByText("not a run file").waitFor();
  });
});

describe("the dialogs of a project", () => {
  const fixture = browserFixture("--world", "oval");

  async function openProject(): Promise<Visit> {
    const { id } = await fixture.simulator.request("builder/projects", { from: "world", world: "oval" });
    return fixture.open({ path: `/build?project=${id}`, skipReady: true });
  }

  it("publish it with id, link and QR code, and change a published world", async () => {
    const visit = await openProject();
    await visit.byTestId("publish").click();
    await visit.byTestId("publish-name").fill("Oval of the class");
    await visit.byTestId("publish-send").click();
    await visit.byTestId("publish-qr").waitFor();
    const id = await visit.byTestId("publish-id").inputValue();
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(await visit.byTestId("publish-link").inputValue()).toBe(`${fixture.simulator.origin}/sim?world=${id}`);
    const world = visit.byTestId(`published-${id}`);
    await world.getByTestId("published-access").selectOption("public");
    await world.getByTestId("published-save").click();
    await until(
      () => fixture.simulator.request("builder/published"),
      ({ worlds }) =>
        worlds.some((one: { world_id: string; access: string }) => one.world_id === id && one.access === "public"),
    );
  });

  it("print its floor after showing the size", async () => {
    const visit = await openProject();
    await visit.byTestId("print").click();
    await visit.byTestId("print-dpi").fill("20");
    await until(
      () => visit.byTestId("print-size").textContent(),
      (text) => /sheets/.test(text ?? ""),
    );
    const [pdf] = await Promise.all([visit.page.waitForEvent("download"), visit.byTestId("print-start").click()]);
    expect(pdf.suggestedFilename()).toBe("oval.pdf");
    await visit.byTestId("print-kind").selectOption("jpg");
    const [jpg] = await Promise.all([visit.page.waitForEvent("download"), visit.byTestId("print-start").click()]);
    expect(jpg.suggestedFilename()).toBe("oval.jpg");
  });

  it("crop and upload a picture", async () => {
    const visit = await openProject();
    await visit.byTestId("add-picture").click();
    await visit
      .byTestId("picture-file")
      .setInputFiles({ name: "Plan.png", mimeType: "image/png", buffer: await drawnPicture(visit) });
    await visit.byTestId("crop-width").fill("150");
    await visit.byTestId("picture-upload").click();
    await visit.byTestId("picture-dialog").waitFor({ state: "detached" });
    await until(
      () => fixture.simulator.request(`builder/projects/${/project=(\w+)/.exec(visit.page.url())?.[1]}`),
      ({ files, document }) => files[0]?.width === 150 && document.decals?.[0]?.picture === "Plan.png",
    );
  });
});
