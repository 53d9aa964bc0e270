import { describe, expect, it } from "vitest";
import { en } from "../../src/strings/en.ts";
import { browserFixture } from "./fixture.ts";
import { until } from "./support.js";

/** A WAV file in base64: a tone of one second, sampled at 8 kHz, mono, 16 bits. */
function wav(): string {
  const samples = 8000;
  const bytes = Buffer.alloc(44 + 2 * samples);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(36 + 2 * samples, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(8000, 24);
  bytes.writeUInt32LE(16000, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(2 * samples, 40);
  for (let i = 0; i < samples; i++) bytes.writeInt16LE(Math.round(8000 * Math.sin(i / 4)), 44 + 2 * i);
  return bytes.toString("base64");
}

describe("the robot", () => {
  const fixture = browserFixture("--world", "oval");
  const speed = async () => (await fixture.simulator.request("state")).vehicle.speed as number;

  it("drives while keys are held, and stops when they are released or the page loses focus", async () => {
    const visit = await fixture.open();
    await visit.byTestId("drive-button").click();
    await visit.byTestId("drive").waitFor();
    // Driving starts in the chase view. The stick is for touch screens only.
    expect(await visit.byTestId("camera-chase").getAttribute("aria-checked")).toBe("true");
    expect(await visit.byTestId("drive-pad").isVisible()).toBe(false);
    expect(await visit.byTestId("gamepad").textContent()).toBe(en.drive.padOff);
    await visit.page.keyboard.down("w");
    await until(speed, (now) => now > 0.4);
    await visit.page.keyboard.down("a");
    await until(
      () => fixture.simulator.request("state"),
      (state) => state.vehicle.steering > 0.2,
    );
    await visit.page.keyboard.up("a");
    await visit.page.keyboard.up("w");
    await until(speed, (now) => Math.abs(now) < 0.02);
    await visit.page.keyboard.down("s");
    await until(speed, (now) => now < -0.3);
    // Losing the focus counts as releasing all keys.
    await visit.page.evaluate(() => dispatchEvent(new Event("blur")));
    await until(speed, (now) => Math.abs(now) < 0.02);
    await visit.page.keyboard.up("s");
    await visit.page.keyboard.press("Escape");
    await visit.byTestId("drive").waitFor({ state: "hidden" });
    expect(await visit.byTestId("camera-orbit").getAttribute("aria-checked")).toBe("true");
    await fixture.simulator.request("reset", {});
  });

  it("drives while the touch pad is held, and stops on release or when the page is closed", async () => {
    const visit = await fixture.open({ viewport: { width: 390, height: 844 }, hasTouch: true });
    await visit.byTestId("drive-button").click();
    const pad = await visit.byTestId("drive-pad").boundingBox();
    if (!pad) throw new Error("The drive pad is not visible");
    const [x, y] = [pad.x + pad.width / 2, pad.y + pad.height / 2];
    await visit.page.mouse.move(x, y);
    await visit.page.mouse.down();
    await visit.page.mouse.move(x, y - 50, { steps: 3 });
    await until(speed, (now) => now > 0.4);
    await visit.page.mouse.up();
    await until(speed, (now) => Math.abs(now) < 0.02);
    await visit.page.mouse.move(x, y);
    await visit.page.mouse.down();
    await visit.page.mouse.move(x, y - 50, { steps: 3 });
    await until(speed, (now) => now > 0.4);
    await visit.close();
    await until(speed, (now) => Math.abs(now) < 0.02);
    await fixture.simulator.request("reset", {});
  });

  it("drives with a gamepad only while the dead-man button is held", async () => {
    const visit = await fixture.open({
      prepare: async (page) => {
        await page.addInitScript(() => {
          const buttons = Array.from({ length: 17 }, () => ({ pressed: false, touched: false, value: 0 }));
          const pad = {
            id: "Test pad",
            index: 0,
            connected: true,
            mapping: "standard",
            axes: [0, 0, 0, 0],
            buttons,
            timestamp: 0,
          };
          Object.assign(window, { testPad: pad });
          navigator.getGamepads = () => [pad as unknown as Gamepad];
        });
      },
    });
    await visit.page.keyboard.press("d");
    await visit.page.getByText(en.drive.padOn("Test pad")).waitFor();
    expect(await visit.byTestId("gamepad").getAttribute("data-connected")).toBe("true");
    const set = (button: number, value: number) =>
      visit.page.evaluate(
        ([button, value]) =>
          Object.assign((window as unknown as { testPad: { buttons: object[] } }).testPad.buttons[button], {
            pressed: value > 0,
            value,
          }),
        [button, value],
      );
    await set(7, 1);
    // While the dead-man button is released, the trigger has no effect.
    const { sim_time } = await fixture.simulator.request("clock");
    await until(
      () => fixture.simulator.request("clock"),
      (clock) => clock.sim_time > sim_time + 0.5,
    );
    expect(Math.abs(await speed())).toBeLessThan(0.01);
    await set(5, 1);
    await until(speed, (now) => now > 0.4);
    await set(5, 0);
    await until(speed, (now) => Math.abs(now) < 0.02);
    await fixture.simulator.request("reset", {});
  });

  it("has instruments with speed, lidar points, odometry error and latency", async () => {
    // At half the resolution, the line of the plot would be too thin to have its full colour.
    const visit = await fixture.open({ deviceScaleFactor: 1 });
    await visit.byTestId("instruments-button").click();
    await visit.byTestId("instruments").waitFor();
    const stream = visit.page.waitForRequest((request) => request.url().includes("/states?include=lidar"));
    await visit.page.keyboard.press("l");
    await stream;
    expect(await visit.byTestId("lidar").isChecked()).toBe(true);
    await visit.page.keyboard.press("t");
    await visit.byTestId("drift").waitFor();
    await until(
      async () => {
        await fixture.simulator.request("/drive", { speed: 0.5, steering: 0 });
        return visit.byTestId("instruments").textContent();
      },
      (text) => /Speed0\.[45]\d m\/s/.test(text ?? ""),
    );
    // Pose and odometry come in different messages, so on a slow page a difference between them is
    // shown while the car drives. The car stops when no more drive commands arrive, so the test
    // waits until the difference is small.
    await until(
      () => visit.byTestId("drift").textContent(),
      (text) => /^\d+\.\d+ m$/.test(text ?? "") && Number.parseFloat(text ?? "") < 0.5,
    );
    await until(
      () => visit.byTestId("latency").textContent(),
      (text) => /^\d+\.\d ms$/.test(text ?? ""),
    );
    // The line of the speed grows while the plot is open.
    const painted = () =>
      visit.page.locator("canvas.plot").evaluate((canvas: HTMLCanvasElement) => {
        const data =
          canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
        let blue = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 2] > data[i] + 60 && data[i + 3] > 100) blue++;
        return blue;
      });
    await until(painted, (blue) => blue > 20);
    // The plot has an axis for each value, with its unit, and one for the time.
    const { limits } = await fixture.simulator.request("vehicle");
    const axes = await visit.byTestId("instruments").locator(".plot-box").innerText();
    const speedLabel = en.units.metresPerSecond(String(limits.speed));
    const steeringLabel = en.units.degrees(String(Number(((limits.steering * 180) / Math.PI).toFixed(1))));
    for (const label of [speedLabel, en.axes.minus(speedLabel), steeringLabel, en.axes.seconds(en.axes.minus("20")), en.axes.now])
      expect(axes.split(/\s*\n\s*/)).toContain(label);
    await fixture.simulator.request("reset", {});
  });

  it("plays its sounds on the page", async () => {
    const visit = await fixture.open();
    await visit.byTestId("sound").click();
    expect(await visit.byTestId("sound").getAttribute("aria-pressed")).toBe("true");
    await fixture.simulator.request("/audio/play", { data: wav(), format: "wav", loop: true });
    await until(
      () => visit.page.evaluate(() => window.__chicane.sounds),
      (sounds) => sounds === 1,
    );
    await fixture.simulator.request("/audio/stop", { all: true });
    await until(
      () => visit.page.evaluate(() => window.__chicane.sounds),
      (sounds) => sounds === 0,
    );
  });

  it("moves its camera and its wheels in the 3D view", async () => {
    const visit = await fixture.open();
    await visit.page.keyboard.press("2");
    await visit.still();
    const picture = () => visit.page.locator("canvas.canvas").screenshot();
    const straight = await picture();
    await fixture.simulator.request("/camera/pan", { value: 0.5 });
    await fixture.simulator.request("/steering", { value: 0.34 });
    await until(
      async () => Buffer.compare(await picture(), straight),
      (order) => order !== 0,
    );
    await fixture.simulator.request("/steering", { value: 0 });
    await fixture.simulator.request("/camera/pan", { value: 0 });
  });
});
