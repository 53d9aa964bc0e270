import { afterEach, describe, expect, it } from "vitest";
import { together } from "./stage.ts";
import { until } from "./support.js";

describe("the scene", () => {
  const at = together("--world", "technical");
  // A test that fails leaves nothing behind for the next.
  afterEach(async () => {
    await at.simulator.ask("clock", { paused: false, speed: 1 });
    await at.simulator.ask("brightness", { value: 1 });
    await at.simulator.ask("reset", {});
  });

  it("is there with world, time and flag, and draws on", async () => {
    const visit = await at.open();
    expect(await visit.page.title()).toBe("Technical – Chicane");
    expect(await visit.mark("worlds").textContent()).toBe("Technical");
    await visit.mark("flag").waitFor();
    expect(await visit.mark("link").textContent()).toBe("Live");
    const time = await visit.mark("time").textContent();
    await until(
      () => visit.mark("time").textContent(),
      (now) => now !== time,
    );
    const frame = await visit.page.evaluate(() => window.__chicane.frame);
    await visit.page.keyboard.press("2");
    await until(
      () => visit.page.evaluate(() => window.__chicane.frame),
      (now) => now > frame,
    );
  });

  it("shows the car where it is, also after it was put elsewhere", async () => {
    const visit = await at.open();
    for (const place of [
      { x: 4, y: 1.5, yaw: 1 },
      { x: 1, y: 3, yaw: -2 },
    ]) {
      await at.simulator.ask("pose", place);
      await until(
        () => visit.pose("car"),
        (car) => Math.hypot(car.x - place.x, car.y - place.y) < 0.01 && Math.abs(car.yaw - place.yaw) < 0.01,
      );
    }
    await at.simulator.ask("reset", {});
  });

  it("is all there while time stands still", async () => {
    await at.simulator.ask("pose", { x: 3, y: 3, yaw: 1 });
    await at.simulator.ask("clock", { paused: true });
    const visit = await at.open();
    await until(
      () => visit.pose("car"),
      (car) => Math.hypot(car.x - 3, car.y - 3) < 0.05,
    );
    // What the robot sees is there too, and changes with every step.
    await visit.page.keyboard.press("4");
    const picture = visit.mark("onboard-picture");
    await until(
      () => picture.evaluate((img: HTMLImageElement) => img.naturalWidth),
      (width) => width === 480,
    );
    const before = await picture.getAttribute("src");
    await at.simulator.ask("step", { duration: 0.2 });
    await until(
      () =>
        picture.evaluate((img: HTMLImageElement) => ({
          src: img.getAttribute("src"),
          ok: img.complete && img.naturalWidth === 480,
        })),
      ({ src, ok }) => ok && src !== before,
    );
    await at.simulator.ask("clock", { paused: false });
    await at.simulator.ask("reset", {});
  });

  it("moves evenly: what is drawn goes as fast as the car, by simulated time", async () => {
    const visit = await at.open();
    await at.simulator.ask("reset", {});
    await visit.page.keyboard.press("2");
    // Slowly, so that a busy machine draws enough of it.
    await at.simulator.ask("clock", { speed: 0.5 });
    const drive = at.simulator.ask("/speed", { value: 0.5, duration: 3 });
    const seen = await visit.page.evaluate(async () => {
      const seen: { x: number; time: number }[] = [];
      const since = performance.now();
      while (performance.now() - since < 6000) {
        await new Promise((done) => requestAnimationFrame(done));
        const { time } = window.__chicane;
        if (time > (seen.at(-1)?.time ?? -1) + 0.05) seen.push({ x: window.__chicane.pose("car")?.x ?? 0, time });
      }
      return seen;
    });
    await drive;
    const speeds = seen.slice(1).map((now, i) => (now.x - seen[i].x) / (now.time - seen[i].time));
    expect(speeds.length).toBeGreaterThan(3);
    expect(Math.min(...speeds)).toBeGreaterThan(-0.02);
    expect(Math.max(...speeds)).toBeLessThan(0.65);
    expect(Math.max(...speeds)).toBeGreaterThan(0.35);
    await at.simulator.ask("reset", {});
  });

  it("is looked at in three ways by one key each, and remembers which", async () => {
    const visit = await at.open();
    const checked = (mode: string) => visit.mark(`camera-${mode}`).getAttribute("aria-checked");
    expect(await checked("orbit")).toBe("true");
    const from = await visit.where("car");
    await visit.page.keyboard.press("3");
    expect(await checked("top")).toBe("true");
    await until(
      () => visit.where("car"),
      (now) => Math.hypot(now.x - from.x, now.y - from.y) > 20,
    );
    await visit.page.keyboard.press("2");
    expect(await checked("chase")).toBe("true");
    // Behind the car it is in the middle of the picture.
    await until(
      () => visit.where("car"),
      (now) => Math.abs(now.x - 640) < 40 && now.y > 300,
    );
    await visit.page.reload();
    await visit.ready();
    expect(await checked("chase")).toBe("true");
    await visit.mark("camera-orbit").click();
    expect(await checked("orbit")).toBe("true");
  });

  it("shows the robot's own camera in a panel that can be resized", async () => {
    const visit = await at.open();
    await visit.page.keyboard.press("4");
    const picture = visit.mark("onboard-picture");
    await until(
      () => picture.evaluate((img: HTMLImageElement) => img.naturalWidth),
      (width) => width === 480,
    );
    const panel = visit.mark("onboard");
    const before = (await panel.boundingBox())?.width ?? 0;
    // The corner that is free: the upper left one.
    const box = await panel.boundingBox();
    await visit.page.mouse.move((box?.x ?? 0) + 4, (box?.y ?? 0) + 4);
    await visit.page.mouse.down();
    await visit.page.mouse.move((box?.x ?? 0) - 120, (box?.y ?? 0) - 60, { steps: 8 });
    await visit.page.mouse.up();
    const after = await until(
      () => panel.boundingBox().then((now) => now?.width ?? 0),
      (now) => Math.abs(now - before) > 60,
    );
    await visit.page.reload();
    await visit.ready();
    await until(
      () =>
        visit
          .mark("onboard")
          .boundingBox()
          .then((now) => now?.width ?? 0),
      (now) => Math.abs(now - after) < 3,
    );
    await visit.page.keyboard.press("4");
    await visit.mark("onboard").waitFor({ state: "hidden" });
  });

  it("shows overlay text to all, in its size, pulsing, until it ends", async () => {
    const [one, two] = [await at.open(), await at.open()];
    await at.simulator.ask("overlay", { text: "Episode 12", ttl: 600, size: 1 });
    for (const visit of [one, two]) await visit.page.getByText("Episode 12").waitFor();
    const size = () => one.mark("overlay").evaluate((element) => Number.parseFloat(getComputedStyle(element).fontSize));
    const normal = await size();
    await one.page.evaluate(() => {
      const element = document.querySelector<HTMLElement>("[data-testid=overlay]");
      const animate = element?.animate.bind(element);
      if (element && animate) element.animate = (...words) => ((element.dataset["pulses"] = "yes"), animate(...words));
    });
    await at.simulator.ask("overlay", { text: "Episode 13", ttl: 600, size: 2 });
    await one.page.getByText("Episode 13").waitFor();
    await until(size, (now) => Math.abs(now - 2 * normal) < 1);
    expect(await one.mark("overlay").getAttribute("data-pulses")).toBe("yes");
    await at.simulator.ask("overlay", { text: "Episode 14", ttl: 1 });
    for (const visit of [one, two]) await visit.mark("overlay").waitFor({ state: "hidden" });
  });

  it("has one brightness for every viewer and the robot's camera", async () => {
    const [one, two] = [await at.open(), await at.open()];
    await one.mark("brightness").fill("0.4");
    await until(
      () => at.simulator.ask("brightness"),
      ({ value }) => value === 0.4,
    );
    await until(
      () => two.mark("brightness").inputValue(),
      (value) => value === "0.4",
    );
    for (const visit of [one, two]) {
      await until(
        () => visit.page.locator("canvas.canvas").evaluate((canvas: HTMLCanvasElement) => canvas.style.filter),
        (filter) => filter === "brightness(0.4)",
      );
    }
    await two.mark("brightness").fill("1");
    await until(
      () => one.mark("brightness").inputValue(),
      (value) => value === "1",
    );
  });

  it("is paused, stepped, hurried, reset and respawned, for all", async () => {
    const [one, two] = [await at.open(), await at.open()];
    await one.page.keyboard.press(" ");
    await until(
      () => at.simulator.ask("clock"),
      ({ paused }) => paused,
    );
    await until(
      () => two.mark("pause").textContent(),
      (text) => text === "Run",
    );
    const { sim_time } = await at.simulator.ask("clock");
    await two.mark("step").click();
    await until(
      () => at.simulator.ask("clock"),
      (clock) => Math.abs(clock.sim_time - sim_time - 0.005) < 1e-9,
    );
    await two.mark("pause").click();
    await until(
      () => at.simulator.ask("clock"),
      ({ paused }) => !paused,
    );
    await one.mark("speed").selectOption("5");
    await until(
      () => at.simulator.ask("clock"),
      ({ speed }) => speed === 5,
    );
    // It is not part of the stream: the other page asks now and then.
    await until(
      () => two.mark("speed").inputValue(),
      (value) => value === "5",
    );
    await one.mark("speed").selectOption("1");
    await at.simulator.ask("pose", { x: 3, y: 3, yaw: 1 });
    await one.mark("reset").click();
    await until(
      () => two.pose("car"),
      (car) => Math.abs(car.y - 0.7) < 0.05,
    );
    await until(
      () => at.simulator.ask("clock"),
      ({ speed }) => speed === 1,
    );
    const before = (await at.simulator.ask("clock")).sim_time;
    await one.mark("respawn").click();
    await until(
      () => at.simulator.ask("clock").catch(() => null),
      (clock) => clock !== null && clock.sim_time < before,
    );
    await until(
      () => two.page.evaluate(() => window.__chicane.time),
      (time) => time < before,
    );
    await until(() => one.page.evaluate(() => window.__chicane.ready), Boolean);
  });

  it("says what the car touches", async () => {
    const visit = await at.open();
    await at.simulator.ask("pose", { x: 4, y: 0.1, yaw: -1.57 });
    await at.simulator.ask("/drive", { speed: 0.5, steering: 0 });
    await visit.mark("contacts").waitFor();
    expect(await visit.mark("contacts").textContent()).toContain("wall_");
    await at.simulator.ask("reset", {});
    await visit.mark("contacts").waitFor({ state: "hidden" });
  });
});
