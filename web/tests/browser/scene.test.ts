import { afterEach, describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { browserFixture, MOTION } from "./fixture.ts";
import { until } from "./support.js";

describe("the 3D view", () => {
  const fixture = browserFixture("--world", "technical");
  // A failed test must not affect the next one.
  afterEach(async () => {
    await fixture.simulator.request("clock", { paused: false, speed: 1 });
    await fixture.simulator.request("brightness", { value: 1 });
    await fixture.simulator.request("reset", {});
  });

  it("shows world, time and the Evaluate button, and keeps drawing", async () => {
    const visit = await fixture.open(MOTION);
    expect(await visit.page.title()).toBe(en.top.pageTitle("Technical", en.product));
    expect(await visit.byTestId("worlds").textContent()).toBe("Technical");
    await visit.byTestId("flag").waitFor();
    expect(await visit.byTestId("link").textContent()).toBe(en.link.live);
    const time = await visit.byTestId("time").textContent();
    await until(
      () => visit.byTestId("time").textContent(),
      (now) => now !== time,
    );
    const frame = await visit.page.evaluate(() => window.__chicane.frame);
    await visit.page.keyboard.press("2");
    await until(
      () => visit.page.evaluate(() => window.__chicane.frame),
      (now) => now > frame,
    );
  });

  it("shows the car at its pose after a teleport", async () => {
    const visit = await fixture.open();
    for (const place of [
      { x: 4, y: 1.5, yaw: 1 },
      { x: 1, y: 3, yaw: -2 },
    ]) {
      await fixture.simulator.request("pose", place);
      await until(
        () => visit.pose("car"),
        (car) => Math.hypot(car.x - place.x, car.y - place.y) < 0.01 && Math.abs(car.yaw - place.yaw) < 0.01,
      );
    }
    await fixture.simulator.request("reset", {});
  });

  it("shows the car and the camera image while the simulation is paused", async () => {
    await fixture.simulator.request("pose", { x: 3, y: 3, yaw: 1 });
    await fixture.simulator.request("clock", { paused: true });
    const visit = await fixture.open();
    await until(
      () => visit.pose("car"),
      (car) => Math.hypot(car.x - 3, car.y - 3) < 0.05,
    );
    // The camera image is shown too, and changes with every step.
    await visit.page.keyboard.press("4");
    const picture = visit.byTestId("onboard-picture");
    await until(
      () => picture.evaluate((img: HTMLImageElement) => img.naturalWidth),
      (width) => width === 480,
    );
    const before = await picture.getAttribute("src");
    await fixture.simulator.request("step", { duration: 0.2 });
    await until(
      () =>
        picture.evaluate((img: HTMLImageElement) => ({
          src: img.getAttribute("src"),
          ok: img.complete && img.naturalWidth === 480,
        })),
      ({ src, ok }) => ok && src !== before,
    );
    await fixture.simulator.request("clock", { paused: false });
    await fixture.simulator.request("reset", {});
  });

  it("draws the car with its speed in simulated time", async () => {
    const visit = await fixture.open();
    await fixture.simulator.request("reset", {});
    await visit.page.keyboard.press("2");
    // The simulation runs at half speed, so that a slow machine draws enough frames.
    await fixture.simulator.request("clock", { speed: 0.5 });
    const drive = fixture.simulator.request("/speed", { value: 0.5, duration: 3 });
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
    await fixture.simulator.request("reset", {});
  });

  it("switches the camera mode by key, and remembers it", async () => {
    const visit = await fixture.open(MOTION);
    const checked = (mode: string) => visit.byTestId(`camera-${mode}`).getAttribute("aria-checked");
    expect(await checked("orbit")).toBe("true");
    const from = await visit.screenPosition("car");
    await visit.page.keyboard.press("3");
    expect(await checked("top")).toBe("true");
    await until(
      () => visit.screenPosition("car"),
      (now) => Math.hypot(now.x - from.x, now.y - from.y) > 20,
    );
    await visit.page.keyboard.press("2");
    expect(await checked("chase")).toBe("true");
    // The chase camera shows the car in the horizontal centre of the image.
    await until(
      () => visit.screenPosition("car"),
      (now) => Math.abs(now.x - 640) < 40 && now.y > 300,
    );
    await visit.page.reload();
    await visit.ready();
    expect(await checked("chase")).toBe("true");
    await visit.byTestId("camera-orbit").click();
    expect(await checked("orbit")).toBe("true");
  });

  it("shows the robot's camera in a resizable panel", async () => {
    const visit = await fixture.open();
    await visit.page.keyboard.press("4");
    const picture = visit.byTestId("onboard-picture");
    await until(
      () => picture.evaluate((img: HTMLImageElement) => img.naturalWidth),
      (width) => width === 480,
    );
    const panel = visit.byTestId("onboard");
    const before = (await panel.boundingBox())?.width ?? 0;
    // The resize handle is in the upper left corner.
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
          .byTestId("onboard")
          .boundingBox()
          .then((now) => now?.width ?? 0),
      (now) => Math.abs(now - after) < 3,
    );
    await visit.page.keyboard.press("4");
    await visit.byTestId("onboard").waitFor({ state: "hidden" });
  });

  it("shows the overlay text on every page with its size and animation, until it expires", async () => {
    const [one, two] = [await fixture.open(MOTION), await fixture.open()];
    await fixture.simulator.request("overlay", { text: "Episode 12", ttl: 600, size: 1 });
    for (const visit of [one, two]) await visit.page.getByText("Episode 12").waitFor();
    const size = () => one.byTestId("overlay").evaluate((element) => Number.parseFloat(getComputedStyle(element).fontSize));
    const normal = await size();
    await one.page.evaluate(() => {
      const element = document.querySelector<HTMLElement>("[data-testid=overlay]");
      const animate = element?.animate.bind(element);
      if (element && animate) element.animate = (...args) => ((element.dataset["pulses"] = "yes"), animate(...args));
    });
    await fixture.simulator.request("overlay", { text: "Episode 13", ttl: 600, size: 2 });
    await one.page.getByText("Episode 13").waitFor();
    await until(size, (now) => Math.abs(now - 2 * normal) < 1);
    expect(await one.byTestId("overlay").getAttribute("data-pulses")).toBe("yes");
    await fixture.simulator.request("overlay", { text: "Episode 14", ttl: 1 });
    for (const visit of [one, two]) await visit.byTestId("overlay").waitFor({ state: "hidden" });
  });

  it("shares the brightness between all pages", async () => {
    const [one, two] = [await fixture.open(), await fixture.open()];
    await one.byTestId("brightness").fill("0.4");
    await until(
      () => fixture.simulator.request("brightness"),
      ({ value }) => value === 0.4,
    );
    await until(
      () => two.byTestId("brightness").inputValue(),
      (value) => value === "0.4",
    );
    for (const visit of [one, two]) {
      await until(
        () => visit.page.locator("canvas.canvas").evaluate((canvas: HTMLCanvasElement) => canvas.style.filter),
        (filter) => filter === "brightness(0.4)",
      );
    }
    await two.byTestId("brightness").fill("1");
    await until(
      () => one.byTestId("brightness").inputValue(),
      (value) => value === "1",
    );
  });

  it("pauses, steps, changes speed, resets and respawns on every page", async () => {
    const [one, two] = [await fixture.open(), await fixture.open()];
    await one.page.keyboard.press(" ");
    await until(
      () => fixture.simulator.request("clock"),
      ({ paused }) => paused,
    );
    await until(
      () => two.byTestId("pause").textContent(),
      (text) => text === en.dock.run,
    );
    const { sim_time } = await fixture.simulator.request("clock");
    await two.byTestId("step").click();
    await until(
      () => fixture.simulator.request("clock"),
      (clock) => Math.abs(clock.sim_time - sim_time - 0.005) < 1e-9,
    );
    await two.byTestId("pause").click();
    await until(
      () => fixture.simulator.request("clock"),
      ({ paused }) => !paused,
    );
    await one.byTestId("speed").selectOption("5");
    await until(
      () => fixture.simulator.request("clock"),
      ({ speed }) => speed === 5,
    );
    // The speed is not part of the event stream. The other page requests it every few seconds.
    await until(
      () => two.byTestId("speed").inputValue(),
      (value) => value === "5",
    );
    await one.byTestId("speed").selectOption("1");
    await fixture.simulator.request("pose", { x: 3, y: 3, yaw: 1 });
    await one.byTestId("reset").click();
    await until(
      () => two.pose("car"),
      (car) => Math.abs(car.y - 0.7) < 0.05,
    );
    await until(
      () => fixture.simulator.request("clock"),
      ({ speed }) => speed === 1,
    );
    const before = (await fixture.simulator.request("clock")).sim_time;
    await one.byTestId("respawn").click();
    await until(
      () => fixture.simulator.request("clock").catch(() => null),
      (clock) => clock !== null && clock.sim_time < before,
    );
    await until(
      () => two.page.evaluate(() => window.__chicane.time),
      (time) => time < before,
    );
    await until(() => one.page.evaluate(() => window.__chicane.ready), Boolean);
  });

  it("shows contacts of the car", async () => {
    const visit = await fixture.open();
    await fixture.simulator.request("pose", { x: 4, y: 0.1, yaw: -1.57 });
    await fixture.simulator.request("/drive", { speed: 0.5, steering: 0 });
    await visit.byTestId("contacts").waitFor();
    expect(await visit.byTestId("contacts").textContent()).toContain("wall_");
    await fixture.simulator.request("reset", {});
    await visit.byTestId("contacts").waitFor({ state: "hidden" });
  });
});
