import { describe, expect, it } from "vitest";
import { violations } from "./axe.ts";
import { current, newProject, openProject, saved, untilDocument, whereIs } from "./build-support.ts";
import { browserFixture } from "./fixture.ts";

describe("accessibility", () => {
  const fixture = browserFixture("--world", "oval");

  for (const colorScheme of ["dark", "light"] as const) {
    it(`of the builder has no violations, ${colorScheme}`, async () => {
      const list = await fixture.open({ path: "/build", skipReady: true, colorScheme });
      await list.page.getByRole("heading").first().waitFor();
      expect(await violations(list)).toEqual([]);
      const visit = await openProject(fixture, await newProject(fixture.simulator, { from: "world", world: "oval" }), {
        colorScheme,
      });
      expect(await violations(visit)).toEqual([]);
      const at = await whereIs(visit, "object:box1");
      await visit.page.mouse.click(at.x, at.y);
      await visit.byTestId("object-name").waitFor();
      expect(await violations(visit)).toEqual([]);
      await visit.page.keyboard.press("?");
      await visit.byTestId("help-dialog").waitFor();
      expect(await violations(visit)).toEqual([]);
    });

    it(`of the tabs and dialogs of the builder has no violations, ${colorScheme}`, async () => {
      const list = await fixture.open({ path: "/build", skipReady: true, colorScheme });
      for (const choice of ["empty", "world", "random"]) {
        await list.byTestId("new").click();
        await list.byTestId(`choice-${choice}`).check();
        expect(await violations(list), `new project, ${choice}`).toEqual([]);
        await list.page.keyboard.press("Escape");
        await list.byTestId("new-dialog").waitFor({ state: "detached" });
      }
      const visit = await openProject(fixture, await newProject(fixture.simulator, { from: "world", world: "oval" }), {
        colorScheme,
      });
      for (const [button, shown] of [
        ["publish", "publish-dialog"],
        ["print", "print-size"],
        ["add-picture", "picture-dialog"],
      ]) {
        await visit.byTestId(button).click();
        await visit.byTestId(shown).waitFor();
        expect(await violations(visit), button).toEqual([]);
        await visit.page.keyboard.press("Escape");
        await visit.byTestId(shown).waitFor({ state: "detached" });
      }
      await visit.byTestId("publish").click();
      await visit.byTestId("publish-send").click();
      await visit.byTestId("publish-qr").waitFor({ timeout: 60_000 });
      expect(await violations(visit), "a published world").toEqual([]);
      await visit.page.keyboard.press("Escape");
      await visit.byTestId("tab-rules").click();
      await visit.byTestId("rules-edit").click();
      await visit.byTestId("script-text").waitFor();
      for (const details of await visit.byTestId("rules").locator("summary").all()) await details.click();
      expect(await violations(visit), "rules").toEqual([]);
    });

    it(`of messages about errors and of a lost connection in the builder has no violations, ${colorScheme}`, async () => {
      const id = await newProject(fixture.simulator, { from: "world", world: "oval" });
      const visit = await openProject(fixture, id, { colorScheme });
      visit.allowedErrors = /Failed to load resource|ERR_/;
      const at = await whereIs(visit, "object:box1");
      await visit.page.mouse.click(at.x, at.y);
      await visit.byTestId("item-x").fill("-3");
      await visit.page.keyboard.press("Enter");
      await visit.byTestId("finding").first().waitFor();
      await saved(visit);
      await visit.page.route("**/sim/api/builder/projects/*", (route) =>
        route.request().method() === "PUT" ? route.abort() : route.continue(),
      );
      await visit.byTestId("add-cone").click();
      await visit.page.locator("[data-testid=save-status][data-status=offline]").waitFor();
      expect(await violations(visit)).toEqual([]);
      await visit.page.unrouteAll();
    });

    it(`of the viewer has no violations, ${colorScheme}`, async () => {
      const visit = await fixture.open({ colorScheme, path: "/sim?tour" });
      await visit.byTestId("tour").waitFor();
      expect(await violations(visit)).toEqual([]);
      await visit.page.keyboard.press("Escape");
      await visit.page.keyboard.press("i");
      await visit.page.keyboard.press("d");
      await visit.byTestId("drive").waitFor();
      expect(await violations(visit)).toEqual([]);
      await visit.byTestId("worlds").click();
      await visit.byTestId("world-field").getByTestId("world-difficulty").waitFor();
      expect(await violations(visit)).toEqual([]);
      for (const [key, dialog] of [
        ["w", "world-dialog"],
        ["?", "help"],
      ]) {
        await visit.page.keyboard.press(key);
        await visit.page.locator("dialog[open]").waitFor();
        expect(await violations(visit), dialog).toEqual([]);
        await visit.page.keyboard.press("Escape");
        await visit.page.locator("dialog[open]").waitFor({ state: "hidden" });
      }
      await visit.byTestId("flag").click();
      await visit.byTestId("eval-card").waitFor();
      expect(await violations(visit), "evaluation").toEqual([]);
    });

    it(`of the program panel has no violations, ${colorScheme}`, async () => {
      const visit = await fixture.open({ colorScheme });
      await visit.page.keyboard.press("c");
      await visit.byTestId("program-text").waitFor();
      expect(await violations(visit)).toEqual([]);
      await visit.byTestId("program-rename").click();
      expect(await violations(visit)).toEqual([]);
      await visit.byTestId("program-name-ok").click();
      await visit.byTestId("program-delete").click();
      expect(await violations(visit)).toEqual([]);
      await visit.byTestId("program-open").click();
      await visit.byTestId("workspace-dialog").waitFor();
      expect(await violations(visit)).toEqual([]);
    });
  }

  it("has a builder that runs no script from a name", async () => {
    const markup = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>";
    const id = await newProject(fixture.simulator);
    const visit = await openProject(fixture, id);
    await visit.byTestId("world-name").fill(markup);
    await visit.page.keyboard.press("Enter");
    await untilDocument(visit, (d) => d.display_name === markup);
    await saved(visit);
    // The page refuses such a name for an object, so the test sends it without the page.
    const { revision, document } = await fixture.simulator.request(`builder/projects/${id}`);
    document.objects = [{ kind: "box", name: markup.slice(0, 64), x: 1, y: 1 }];
    const answer = await fetch(`${fixture.simulator.origin}/sim/api/builder/projects/${id}`, {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ revision, document }),
    });
    expect(answer.status).toBe(200);
    await untilDocument(visit, (d) => d.objects?.length === 1);
    await current(visit);
    await visit.page.keyboard.press("Control+a");
    await visit.page.keyboard.press("Escape");
    const at = await whereIs(visit, `object:${markup.slice(0, 64)}`);
    await visit.page.mouse.click(at.x, at.y);
    await visit.byTestId("finding").first().waitFor();
    await saved(visit);
    await visit.page.goto(`${fixture.simulator.origin}/build`);
    await visit.page.getByText(markup).first().waitFor();
    expect(await visit.page.evaluate(() => "hacked" in window)).toBe(false);
  });
});
