import { describe, expect, it } from "vitest";
import { History } from "../../src/manipulate/history.ts";
import { ThrottledPoster } from "../../src/manipulate/throttled-poster.ts";
import { inputFromKeys, inputFromGamepad } from "../../src/panels/drive.ts";
import { ackermann } from "../../src/scene/car.ts";
import { odometryOrigin } from "../../src/scene/marks.ts";
import { qualityOf, ResolutionScale } from "../../src/scene/quality.ts";
import { clock, fixed, record } from "../../src/ui/format.ts";

const at = (x: number) => ({ x, y: 0, z: 0, yaw: 0 });

describe("history", () => {
  it("undoes and redoes in order", () => {
    const history = new History();
    history.add({ name: "a", before: at(0), after: at(1) });
    history.add({ name: "b", before: at(5), after: at(6) });
    expect(history.undo()?.name).toBe("b");
    expect(history.undo()?.before.x).toBe(0);
    expect(history.undo()).toBeNull();
    expect(history.redo()?.name).toBe("a");
    history.add({ name: "c", before: at(0), after: at(2) });
    expect(history.redo()).toBeNull();
  });

  it("ignores a move to the same pose, and keeps the last 100 moves", () => {
    const history = new History();
    history.add({ name: "a", before: at(1), after: at(1) });
    expect(history.undo()).toBeNull();
    for (let i = 0; i < 150; i++) history.add({ name: String(i), before: at(i), after: at(i + 1) });
    let undone = 0;
    while (history.undo()) undone++;
    expect(undone).toBe(100);
  });
});

describe("throttled poster", () => {
  it("sends one request at a time, and only the newest waiting body", async () => {
    const sent: object[] = [];
    let finish: (() => void)[] = [];
    const poster = new ThrottledPoster(
      (_path, body) => {
        sent.push(body);
        return new Promise<void>((done) => finish.push(done));
      },
      () => {},
      () => Promise.resolve(),
    );
    const first = poster.post("/a", { x: 1 });
    void poster.post("/a", { x: 2 });
    void poster.post("/a", { x: 3 });
    expect(sent).toEqual([{ x: 1 }]);
    expect(poster.isBusy("/a")).toBe(true);
    finish.shift()?.();
    await new Promise((done) => setTimeout(done, 0));
    expect(sent).toEqual([{ x: 1 }, { x: 3 }]);
    finish.shift()?.();
    await first;
    expect(poster.isBusy("/a")).toBe(false);
  });

  it("reports a failure once, drops the waiting body, and accepts the next one", async () => {
    const failures: string[] = [];
    let fail = true;
    const poster = new ThrottledPoster(
      () => (fail ? Promise.reject(new Error("no")) : Promise.resolve()),
      (error) => failures.push(String(error)),
      () => Promise.resolve(),
    );
    const first = poster.post("/a", { x: 1 });
    void poster.post("/a", { x: 2 });
    await first;
    expect(failures).toEqual(["Error: no"]);
    fail = false;
    await poster.post("/a", { x: 3 });
    expect(failures).toHaveLength(1);
  });
});

describe("drive input", () => {
  it("comes from keys only while a key is held", () => {
    expect(inputFromKeys(new Set())).toBeNull();
    expect(inputFromKeys(new Set(["ahead", "left"]))).toEqual({ speed: 1, steering: 1 });
    expect(inputFromKeys(new Set(["ahead", "back"]))).toEqual({ speed: 0, steering: 0 });
  });

  it("comes from a gamepad only while a shoulder button is held", () => {
    const buttons = Array.from({ length: 8 }, () => ({ pressed: false, value: 0 }));
    buttons[7] = { pressed: true, value: 0.5 };
    const axes = [-1, 0, 0, 0];
    expect(inputFromGamepad({ axes, buttons })).toBeNull();
    buttons[5] = { pressed: true, value: 1 };
    expect(inputFromGamepad({ axes, buttons })).toEqual({ speed: 0.5, steering: 1 });
    expect(inputFromGamepad({ axes: [0.05, 0, 0, 0.05], buttons: buttons.with(7, { pressed: false, value: 0 }) })).toEqual({
      speed: 0,
      steering: 0,
    });
  });
});

describe("ackermann steering", () => {
  it("turns the inner wheel more than the outer one", () => {
    const [left, right] = ackermann(0.3, { wheelbase: 0.18, track: 0.16, wheel_radius: 0.04 });
    expect(left).toBeGreaterThan(0.3);
    expect(right).toBeLessThan(0.3);
    const [l, r] = ackermann(-0.3, { wheelbase: 0.18, track: 0.16, wheel_radius: 0.04 });
    expect([-r, -l].map((v) => v.toFixed(9))).toEqual([left, right].map((v) => v.toFixed(9)));
  });
});

describe("odometry", () => {
  it("has an origin that maps the first reading to the true pose", () => {
    const origin = odometryOrigin(1, 2, 0.4, { x: 5, y: 6, yaw: 1.2 });
    const x = origin.x + Math.cos(origin.yaw) - 2 * Math.sin(origin.yaw);
    const y = origin.y + Math.sin(origin.yaw) + 2 * Math.cos(origin.yaw);
    expect([x, y]).toEqual([expect.closeTo(5, 9), expect.closeTo(6, 9)]);
    expect(origin.yaw + 0.4).toBeCloseTo(1.2, 9);
  });
});

describe("quality", () => {
  it("detects software rendering by the renderer name", () => {
    expect(qualityOf("ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero)), SwiftShader driver)").software).toBe(
      true,
    );
    expect(qualityOf("llvmpipe (LLVM 15.0.6, 256 bits)").shadows).toBe(false);
    expect(qualityOf("ANGLE (Intel, Mesa Intel(R) UHD Graphics 620)").shadows).toBe(true);
  });

  it("reduces the resolution for slow frames, and raises it again", () => {
    const scale = new ResolutionScale(false);
    for (let i = 0; i < 200; i++) scale.frame(80);
    expect(scale.value).toBeLessThan(0.7);
    expect(scale.value).toBeGreaterThanOrEqual(0.5);
    for (let i = 0; i < 600; i++) scale.frame(10);
    expect(scale.value).toBe(1);
  });
});

describe("format", () => {
  it("rounds times down and shortens numbers", () => {
    expect(clock(62.349)).toBe("1:02.3");
    expect(clock(59.99)).toBe("0:59.9");
    expect(record(12.3)).toBe("12.3");
    expect(record(null)).toBeNull();
    expect(record({ laps: 2 })).toBe("laps 2");
    expect(fixed(-0.0001, 2)).toBe("0.00");
  });

  it("ended a number of a record with a dot if its three decimals were zero", () => {
    expect(record([1.0001, -0.0001, 59.9996, 100, 0.25])).toBe("1, 0, 60, 100, 0.25");
  });
});
