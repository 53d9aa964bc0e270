import { describe, expect, it } from "vitest";
import { browserFixture, MOTION } from "./fixture.ts";
import { until } from "./support.js";

describe("manipulating objects", () => {
  const fixture = browserFixture("--world", "technical");
  const object = async (name: string) => {
    const { objects } = await fixture.simulator.request("state");
    return objects[name] as { x: number; y: number; yaw: number };
  };
  const distance = (a: { x: number; y: number }, b: { x: number; y: number }) => Math.hypot(a.x - b.x, a.y - b.y);

  it("selects an object, shows its name and pose, and deselects it", async () => {
    const visit = await fixture.open();
    const [box] = Object.entries((await fixture.simulator.request("world")).objects).find(
      ([, entry]) => (entry as { kind: string }).kind === "box",
    ) ?? [""];
    await visit.click(box);
    expect(await visit.byTestId("tag").textContent()).toBe(box);
    expect(await visit.byTestId("selection").getByRole("heading").textContent()).toBe(box);
    const pose = await object(box);
    expect(Number(await visit.byTestId("pose-x").inputValue())).toBeCloseTo(pose.x, 2);
    expect(Number(await visit.byTestId("pose-y").inputValue())).toBeCloseTo(pose.y, 2);
    await visit.byTestId("rotate-handle").waitFor();
    await visit.page.keyboard.press("Escape");
    await visit.byTestId("selection").waitFor({ state: "hidden" });
    expect(await visit.page.evaluate(() => window.__chicane.selected)).toBeNull();
  });

  it("drags an object on every page, and undoes and redoes the move", async () => {
    const [one, two] = [await fixture.open(), await fixture.open()];
    const before = await object("box1");
    await one.drag("box1", [90, 20]);
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
    await fixture.simulator.request("reset", {});
  });

  it("moves an object back when Escape is pressed during a drag", async () => {
    const visit = await fixture.open();
    const before = await object("box1");
    await visit.drag("box1", [80, -10], false);
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

  it("rotates an object with its handle", async () => {
    const visit = await fixture.open();
    await visit.page.keyboard.press("3");
    await visit.click("box1");
    const before = await object("box1");
    const centre = await visit.screenPosition("box1");
    const handle = await visit.byTestId("rotate-handle").boundingBox();
    if (!handle) throw new Error("The rotate handle is not visible");
    const [hx, hy] = [handle.x + handle.width / 2, handle.y + handle.height / 2];
    await visit.page.mouse.move(hx, hy);
    await visit.page.mouse.down();
    // The drag is a quarter turn to the left in the top view.
    const [dx, dy] = [hx - centre.x, hy - centre.y];
    await visit.page.mouse.move(centre.x + dy, centre.y - dx, { steps: 8 });
    await visit.page.mouse.up();
    const turn = (now: { yaw: number }) => Math.atan2(Math.sin(now.yaw - before.yaw), Math.cos(now.yaw - before.yaw));
    const after = await until(
      () => object("box1"),
      (now) => Math.abs(turn(now) - Math.PI / 2) < 0.12,
    );
    expect(distance(after, before)).toBeLessThan(0.01);
    await visit.byTestId("rotate-handle").focus();
    await visit.page.keyboard.press("ArrowLeft");
    await until(
      () => object("box1"),
      (now) => Math.abs(turn(now) - turn(after) - Math.PI / 36) < 0.02,
    );
    await fixture.simulator.request("reset", {});
  });

  it("accepts typed numbers, and reports text that is not a number", async () => {
    const visit = await fixture.open();
    await visit.click("box1");
    await visit.byTestId("pose-x").fill("4.25");
    await visit.byTestId("pose-x").press("Enter");
    await until(
      () => object("box1"),
      (now) => Math.abs(now.x - 4.25) < 1e-4,
    );
    await visit.byTestId("pose-yaw").fill("90");
    await visit.byTestId("pose-yaw").press("Enter");
    await until(
      () => object("box1"),
      (now) => Math.abs(now.yaw - Math.PI / 2) < 1e-3,
    );
    await visit.byTestId("pose-y").fill("far away");
    await visit.byTestId("pose-y").press("Enter");
    await visit.byTestId("toast").waitFor();
    expect(await visit.byTestId("toast").first().textContent()).toBe('y: "far away" is not a number.');
    await fixture.simulator.request("reset", {});
  });

  it("moves and rotates the car like an object", async () => {
    const visit = await fixture.open();
    await fixture.simulator.request("reset", {});
    const before = await fixture.simulator.request("pose");
    await visit.drag("car", [70, -30]);
    expect(await visit.page.evaluate(() => window.__chicane.selected)).toBe("car");
    await until(
      () => fixture.simulator.request("pose"),
      (now) => distance(now, before) > 0.15,
    );
    await visit.byTestId("rotate-handle").focus();
    await visit.page.keyboard.press("ArrowLeft");
    await until(
      () => fixture.simulator.request("pose"),
      (now) => Math.abs(now.yaw - before.yaw - Math.PI / 36) < 0.01,
    );
    await visit.page.keyboard.press("Control+z");
    await visit.page.keyboard.press("Control+z");
    await until(
      () => fixture.simulator.request("pose"),
      (now) => distance(now, before) < 0.005 && Math.abs(now.yaw - before.yaw) < 0.005,
    );
  });

  it("does not select walls or the track", async () => {
    const visit = await fixture.open(MOTION);
    await visit.page.keyboard.press("3");
    await visit.still();
    const box = await visit.page.locator("canvas.canvas").boundingBox();
    for (const wall of ["wall_1", "wall_3"]) {
      const { x, y } = await visit.screenPosition(wall);
      await visit.page.mouse.click(x, y);
      expect(await visit.page.evaluate(() => window.__chicane.selected)).toBeNull();
    }
    await visit.page.mouse.click((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + 30);
    expect(await visit.page.evaluate(() => window.__chicane.selected)).toBeNull();
  });

  it("switches a light to red after a yellow countdown, on every page", async () => {
    const [one, two] = [await fixture.open(), await fixture.open()];
    await one.click("signal1");
    await two.click("signal1");
    expect(await one.byTestId("light-green").getAttribute("aria-pressed")).toBe("true");
    // Pause the simulation, so that the yellow phase lasts until both pages were checked.
    await fixture.simulator.request("clock", { paused: true });
    await one.byTestId("light-red").click();
    await one
      .byTestId("light-yellow")
      .getByText(/Yellow, red in \d\.\d s/)
      .or(one.page.getByText(/Yellow, red in \d\.\d s/))
      .first()
      .waitFor();
    for (const visit of [one, two])
      await until(
        () => visit.byTestId("light-red").isDisabled(),
        (disabled) => disabled,
      );
    await fixture.simulator.request("clock", { paused: false });
    for (const visit of [one, two])
      await until(
        () => visit.byTestId("light-red").getAttribute("aria-pressed"),
        (pressed) => pressed === "true",
      );
    await two.byTestId("light-green").click();
    await until(
      () => one.byTestId("light-green").getAttribute("aria-pressed"),
      (pressed) => pressed === "true",
    );
  });

  it("selects, moves and rotates with the keyboard", async () => {
    const visit = await fixture.open();
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
    await fixture.simulator.request("reset", {});
  });

  it("works with touch on a phone, with large controls and no horizontal scrolling", async () => {
    const visit = await fixture.open({ ...MOTION, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await visit.still();
    const { x, y } = await visit.screenPosition("signal1");
    await visit.page.touchscreen.tap(x, y);
    await visit.byTestId("light-red").waitFor();
    const overflow = await visit.page.evaluate(() => document.documentElement.scrollWidth);
    expect(overflow).toBeLessThanOrEqual(390);
    const small = await visit.page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>("button, a, select")]
        .filter((element) => element.checkVisibility() && Math.min(element.offsetWidth, element.offsetHeight) < 40)
        .map((element) => element.outerHTML),
    );
    expect(small).toEqual([]);
  });

  it("gives every control an accessible name", async () => {
    const visit = await fixture.open();
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
