import type { CDPSession } from "playwright-core";
import { afterEach, describe, expect, it } from "vitest";
import { browserFixture, MOTION } from "./fixture.ts";
import { until, type Visit } from "./support.js";

interface Point {
  x: number;
  y: number;
}
/** Presses, moves and releases a pointer at positions on the page. */
interface Pointer {
  down(at: Point): Promise<unknown>;
  move(to: Point): Promise<unknown>;
  up(): Promise<unknown>;
}

const LAPTOP = { viewport: { width: 1280, height: 720 } };
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
/**
 * Tolerance in metres: the largest distance between the pointer and the pressed point of the
 * object, and between the dropped pose and the pose that the simulator reports.
 */
const TOLERANCE_M = 0.02;
/**
 * Positions of the pointer during a drag, relative to the pressed position. The first move is only
 * eight pixels long, like the whole drag in the first test below.
 */
const STEPS_PX = [
  { x: 8, y: 0 },
  { x: 14, y: -9 },
  { x: 30, y: -14 },
];

const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);

function mouse({ page }: Visit): Pointer {
  return {
    async down({ x, y }) {
      await page.mouse.move(x, y);
      await page.mouse.down();
    },
    move: ({ x, y }) => page.mouse.move(x, y),
    up: () => page.mouse.up(),
  };
}

/** A finger. It uses the DevTools protocol, because Playwright itself can only tap. */
function finger(session: CDPSession): Pointer {
  const send = (type: "touchStart" | "touchMove" | "touchEnd", ...touchPoints: Point[]) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints });
  return {
    down: (at) => send("touchStart", at),
    move: (to) => send("touchMove", to),
    up: () => send("touchEnd"),
  };
}

describe("dragging", () => {
  const fixture = browserFixture("--world", "technical");
  afterEach(async () => {
    await fixture.simulator.request("reset", {});
  });

  /** The lowest and the highest possible height above the ground of a point of an object. */
  async function heights(name: string): Promise<[number, number]> {
    if (name === "car") return [0, 0.4];
    const { objects } = await fixture.simulator.request("world");
    const { origin, size } = objects[name];
    return [origin.z - size.z / 2, origin.z + size.z];
  }

  /**
   * Distance between the pointer and the point of the object that was pressed. The object moves
   * horizontally, so this point keeps its height. The test does not know the height. Therefore it
   * computes the distance for several heights, and returns the smallest one.
   */
  async function error(visit: Visit, [low, high]: [number, number], pressed: Point, now: Point, moved: Point) {
    const levels = Array.from({ length: 21 }, (_, i) => low + ((high - low) * i) / 20);
    const pointsAt = (at: Point) =>
      visit.page.evaluate(
        ({ at, levels }) => levels.map((z) => window.__chicane.pointAt(at.x, at.y, z)),
        { at, levels },
      );
    // The camera does not move during a drag, so the pressed point can be computed afterwards.
    const [from, to] = [await pointsAt(pressed), await pointsAt(now)];
    const errors = from.map((a, i) => {
      const b = to[i];
      return a && b ? distance({ x: b.x - a.x, y: b.y - a.y }, moved) : Number.POSITIVE_INFINITY;
    });
    return Math.min(...errors);
  }

  /** Drags an object in steps, and checks after every step that the object is at the pointer. */
  async function dragAndCompare(visit: Visit, pointer: Pointer, name: string): Promise<void> {
    await visit.still();
    const span = await heights(name);
    const before = await visit.pose(name);
    const pressed = await visit.screenPosition(name);
    await pointer.down(pressed);
    for (const { x, y } of STEPS_PX) {
      const now = { x: pressed.x + x, y: pressed.y + y };
      await pointer.move(now);
      await until(
        () => visit.pose(name),
        (pose) => distance(pose, before) > 0.002,
      );
      const far = await until(
        async () => {
          const pose = await visit.pose(name);
          return error(visit, span, pressed, now, { x: pose.x - before.x, y: pose.y - before.y });
        },
        (far) => far <= TOLERANCE_M,
      );
      expect(far, name).toBeLessThanOrEqual(TOLERANCE_M);
    }
    const dropped = await visit.pose(name);
    await pointer.up();
    const there = () =>
      name === "car"
        ? fixture.simulator.request("pose")
        : fixture.simulator.request("state").then(({ objects }) => objects[name]);
    await until(there, (pose) => distance(pose, dropped) <= TOLERANCE_M);
  }

  /** One movable object of every kind that the world has, and the car. */
  async function things(): Promise<Map<string, string>> {
    const { objects } = await fixture.simulator.request("world");
    const found = new Map([["car", "car"]]);
    for (const [name, entry] of Object.entries<{ kind: string; movable: boolean }>(objects))
      if (entry.movable && !found.has(entry.kind)) found.set(entry.kind, name);
    return found;
  }

  it("does not throw a box away that is moved by eight pixels while no panel is open", async () => {
    const visit = await fixture.open({ ...LAPTOP, ...MOTION });
    await visit.still();
    const before = await visit.pose("box1");
    await visit.drag("box1", [8, 0]);
    await visit.byTestId("selection").waitFor();
    await visit.still();
    const after = await until(
      () => visit.pose("box1"),
      (pose) => distance(pose, before) > 0.005,
    );
    expect(distance(after, before)).toBeLessThan(0.2);
  });

  for (const [screen, options] of [
    ["a laptop", LAPTOP],
    ["a phone", PHONE],
  ] as const) {
    for (const panel of ["closed", "open"] as const) {
      it(`keeps every kind of thing at the pointer on ${screen}, panel ${panel}`, async () => {
        const all = await things();
        expect([...all.keys()].toSorted()).toEqual(["box", "car", "cone", "cylinder", "light", "sphere"]);
        const visit = await fixture.open(options);
        const pointer =
          options === PHONE ? finger(await visit.context.newCDPSession(visit.page)) : mouse(visit);
        for (const name of all.values()) {
          if (panel === "open") await visit.click(name);
          await dragAndCompare(visit, pointer, name);
          await visit.byTestId("selection").waitFor();
          await visit.page.keyboard.press("Escape");
          await visit.byTestId("selection").waitFor({ state: "hidden" });
        }
      });
    }
  }

  it("keeps the car at the pointer in the chase view, whose camera follows the car", async () => {
    const visit = await fixture.open(LAPTOP);
    await visit.page.keyboard.press("2");
    await dragAndCompare(visit, mouse(visit), "car");
    await visit.still();
    // After the drag the camera is behind the car again.
    const stage = await visit.page.locator(".stage").boundingBox();
    const { x } = await visit.screenPosition("car");
    expect(Math.abs(x - (stage?.x ?? 0) - (stage?.width ?? 0) / 2)).toBeLessThan(40);
  });

  it("does not change the size of the canvas when a panel opens, and shows the whole world beside it", async () => {
    for (const options of [LAPTOP, PHONE]) {
      const visit = await fixture.open(options);
      await visit.still();
      const canvas = visit.page.locator("canvas.canvas");
      const before = await canvas.boundingBox();
      await visit.page.keyboard.press("i");
      await visit.byTestId("instruments").waitFor();
      await visit.still();
      expect(await canvas.boundingBox()).toEqual(before);
      const area = await visit.page.locator(".free-area").boundingBox();
      if (!area) throw new Error("No area of the 3D view is free");
      const { objects } = await fixture.simulator.request("world");
      for (const name of Object.keys(objects)) {
        const at = await visit.screenPosition(name);
        expect(at.x > area.x && at.x < area.x + area.width, name).toBe(true);
        expect(at.y > area.y && at.y < area.y + area.height, name).toBe(true);
      }
      await visit.page.keyboard.press("i");
    }
  });
});
