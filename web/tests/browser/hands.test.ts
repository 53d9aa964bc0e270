import { describe, expect, it } from "vitest";
import { together } from "./stage.ts";
import { until, type Visit } from "./support.js";

describe("hands", () => {
  const at = together("--world", "technical");
  const object = async (name: string) => {
    const { objects } = await at.simulator.ask("state");
    return objects[name] as { x: number; y: number; yaw: number };
  };
  const distance = (a: { x: number; y: number }, b: { x: number; y: number }) => Math.hypot(a.x - b.x, a.y - b.y);

  async function drag(visit: Visit, name: string, by: [number, number], drop = true): Promise<void> {
    await visit.still();
    const from = await visit.where(name);
    await visit.page.mouse.move(from.x, from.y);
    await visit.page.mouse.down();
    await visit.page.mouse.move(from.x + by[0], from.y + by[1], { steps: 6 });
    if (drop) await visit.page.mouse.up();
  }

  it("select a thing, show its name and pose, and let go", async () => {
    const visit = await at.open();
    const [box] = Object.entries((await at.simulator.ask("world")).objects).find(
      ([, entry]) => (entry as { kind: string }).kind === "box",
    ) ?? [""];
    await visit.click(box);
    expect(await visit.mark("tag").textContent()).toBe(box);
    expect(await visit.mark("selection").getByRole("heading").textContent()).toBe(box);
    const pose = await object(box);
    expect(Number(await visit.mark("pose-x").inputValue())).toBeCloseTo(pose.x, 2);
    expect(Number(await visit.mark("pose-y").inputValue())).toBeCloseTo(pose.y, 2);
    await visit.mark("rotate-handle").waitFor();
    await visit.page.keyboard.press("Escape");
    await visit.mark("selection").waitFor({ state: "hidden" });
    expect(await visit.page.evaluate(() => window.__chicane.selected)).toBeNull();
  });

  it("move a thing on the ground; others see it live; undo puts it back", async () => {
    const [one, two] = [await at.open(), await at.open()];
    const before = await object("box1");
    await drag(one, "box1", [90, 20]);
    const both = async () => ({ there: await object("box1"), here: await one.pose("box1") });
    const { there: after } = await until(
      both,
      ({ there, here }) => distance(there, before) > 0.2 && distance(there, here) < 0.01,
    );
    await until(
      () => two.pose("box1"),
      (now) => distance(now, after) < 0.02,
    );
    await one.page.keyboard.press("Control+z");
    await until(
      () => object("box1"),
      (now) => distance(now, before) < 0.005,
    );
    await until(
      () => two.pose("box1"),
      (now) => distance(now, before) < 0.02,
    );
    await one.page.keyboard.press("Control+Shift+z");
    await until(
      () => object("box1"),
      (now) => distance(now, after) < 0.02,
    );
    await at.simulator.ask("reset", {});
  });

  it("put a thing back on Escape in the middle of a drag", async () => {
    const visit = await at.open();
    const before = await object("box1");
    await drag(visit, "box1", [80, -10], false);
    await until(
      () => object("box1"),
      (now) => distance(now, before) > 0.15,
    );
    await visit.page.keyboard.press("Escape");
    await until(
      () => object("box1"),
      (now) => distance(now, before) < 0.005,
    );
    await visit.page.mouse.up();
    await until(
      () => object("box1"),
      (now) => distance(now, before) < 0.005,
    );
  });

  it("turn a thing by its handle", async () => {
    const visit = await at.open();
    await visit.page.keyboard.press("3");
    await visit.click("box1");
    const before = await object("box1");
    const centre = await visit.where("box1");
    const handle = await visit.mark("rotate-handle").boundingBox();
    if (!handle) throw new Error("no handle");
    const [hx, hy] = [handle.x + handle.width / 2, handle.y + handle.height / 2];
    await visit.page.mouse.move(hx, hy);
    await visit.page.mouse.down();
    // A quarter turn to the left, as seen from above.
    const [dx, dy] = [hx - centre.x, hy - centre.y];
    await visit.page.mouse.move(centre.x + dy, centre.y - dx, { steps: 8 });
    await visit.page.mouse.up();
    const turn = (now: { yaw: number }) => Math.atan2(Math.sin(now.yaw - before.yaw), Math.cos(now.yaw - before.yaw));
    const after = await until(
      () => object("box1"),
      (now) => Math.abs(turn(now) - Math.PI / 2) < 0.12,
    );
    expect(distance(after, before)).toBeLessThan(0.01);
    await visit.mark("rotate-handle").focus();
    await visit.page.keyboard.press("ArrowLeft");
    await until(
      () => object("box1"),
      (now) => Math.abs(turn(now) - turn(after) - Math.PI / 36) < 0.02,
    );
    await at.simulator.ask("reset", {});
  });

  it("take numbers that are typed, and say what is no number", async () => {
    const visit = await at.open();
    await visit.click("box1");
    await visit.mark("pose-x").fill("4.25");
    await visit.mark("pose-x").press("Enter");
    await until(
      () => object("box1"),
      (now) => Math.abs(now.x - 4.25) < 1e-4,
    );
    await visit.mark("pose-yaw").fill("90");
    await visit.mark("pose-yaw").press("Enter");
    await until(
      () => object("box1"),
      (now) => Math.abs(now.yaw - Math.PI / 2) < 1e-3,
    );
    await visit.mark("pose-y").fill("far away");
    await visit.mark("pose-y").press("Enter");
    await visit.mark("toast").waitFor();
    expect(await visit.mark("toast").first().textContent()).toBe("y must be a number.");
    await at.simulator.ask("reset", {});
  });

  it("move and turn the car the same way", async () => {
    const visit = await at.open();
    await at.simulator.ask("reset", {});
    const before = await at.simulator.ask("pose");
    await drag(visit, "car", [70, -30]);
    expect(await visit.page.evaluate(() => window.__chicane.selected)).toBe("car");
    await until(
      () => at.simulator.ask("pose"),
      (now) => distance(now, before) > 0.15,
    );
    await visit.mark("rotate-handle").focus();
    await visit.page.keyboard.press("ArrowLeft");
    await until(
      () => at.simulator.ask("pose"),
      (now) => Math.abs(now.yaw - before.yaw - Math.PI / 36) < 0.01,
    );
    await visit.page.keyboard.press("Control+z");
    await visit.page.keyboard.press("Control+z");
    await until(
      () => at.simulator.ask("pose"),
      (now) => distance(now, before) < 0.005 && Math.abs(now.yaw - before.yaw) < 0.005,
    );
  });

  it("can't pick walls or the track", async () => {
    const visit = await at.open();
    await visit.page.keyboard.press("3");
    await visit.still();
    const box = await visit.page.locator("canvas.canvas").boundingBox();
    for (const wall of ["wall_1", "wall_3"]) {
      const { x, y } = await visit.where(wall);
      await visit.page.mouse.click(x, y);
      expect(await visit.page.evaluate(() => window.__chicane.selected)).toBeNull();
    }
    await visit.page.mouse.click((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + 30);
    expect(await visit.page.evaluate(() => window.__chicane.selected)).toBeNull();
  });

  it("open the light's panel: red after yellow, with a countdown, for all", async () => {
    const [one, two] = [await at.open(), await at.open()];
    await one.click("signal1");
    await two.click("signal1");
    expect(await one.mark("light-green").getAttribute("aria-pressed")).toBe("true");
    // Time stands still, so that the yellow lasts until everyone has looked.
    await at.simulator.ask("clock", { paused: true });
    await one.mark("light-red").click();
    await one
      .mark("light-yellow")
      .getByText(/Yellow, red in \d\.\d s/)
      .or(one.page.getByText(/Yellow, red in \d\.\d s/))
      .first()
      .waitFor();
    for (const visit of [one, two])
      await until(
        () => visit.mark("light-red").isDisabled(),
        (disabled) => disabled,
      );
    await at.simulator.ask("clock", { paused: false });
    for (const visit of [one, two])
      await until(
        () => visit.mark("light-red").getAttribute("aria-pressed"),
        (pressed) => pressed === "true",
      );
    await two.mark("light-green").click();
    await until(
      () => one.mark("light-green").getAttribute("aria-pressed"),
      (pressed) => pressed === "true",
    );
  });

  it("can do everything by keys", async () => {
    const visit = await at.open();
    await visit.page.keyboard.press("n");
    expect(await visit.page.evaluate(() => window.__chicane.selected)).toBe("car");
    await visit.page.keyboard.press("n");
    const name = await visit.page.evaluate(() => window.__chicane.selected ?? "");
    const before = await object(name);
    await visit.page.keyboard.press("ArrowUp");
    await until(
      () => object(name),
      (now) => Math.abs(distance(now, before) - 0.05) < 0.01,
    );
    await visit.page.keyboard.press("q");
    await until(
      () => object(name),
      (now) => Math.abs(now.yaw - before.yaw) > 0.05,
    );
    await at.simulator.ask("reset", {});
  });

  it("work with a finger on a phone", async () => {
    const visit = await at.open({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const { x, y } = await visit.where("signal1");
    await visit.page.touchscreen.tap(x, y);
    await visit.mark("light-red").waitFor();
    const overflow = await visit.page.evaluate(() => document.documentElement.scrollWidth);
    expect(overflow).toBeLessThanOrEqual(390);
    const small = await visit.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>("button, a, select")]
        .filter((element) => element.checkVisibility() && Math.min(element.offsetWidth, element.offsetHeight) < 40)
        .map((element) => element.outerHTML),
    );
    expect(small).toEqual([]);
  });

  it("leave no control without a name", async () => {
    const visit = await at.open();
    await visit.page.keyboard.press("i");
    await visit.page.keyboard.press("4");
    await visit.click("box1");
    const nameless = await visit.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>("button, a, input, select, [role=slider]")]
        .filter((element) => {
          const labels = (element as HTMLInputElement).labels;
          const label = labels && labels.length > 0 ? labels[0].textContent : "";
          return !(element.ariaLabel || element.textContent?.trim() || label?.trim());
        })
        .map((element) => element.outerHTML),
    );
    expect(nameless).toEqual([]);
  });
});
