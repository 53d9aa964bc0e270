/** The two ways in which a person uses a page: with mouse and keyboard, or with fingers. */
import type { BrowserContextOptions, CDPSession, Locator } from "playwright-core";
import { until, type Visit } from "./support.js";

export type Point = { x: number; y: number };

export interface Hand {
  press(target: Locator): Promise<void>;
  pressAt(at: Point): Promise<void>;
  drag(from: Point, to: Point): Promise<void>;
}

/** A tablet that is held upright. */
export const TABLET: BrowserContextOptions = { viewport: { width: 820, height: 1180 }, hasTouch: true };

export class Mouse implements Hand {
  constructor(readonly visit: Visit) {}

  press(target: Locator): Promise<void> {
    return target.click();
  }

  pressAt({ x, y }: Point): Promise<void> {
    return this.visit.page.mouse.click(x, y);
  }

  async drag(from: Point, to: Point): Promise<void> {
    const { mouse } = this.visit.page;
    await mouse.move(from.x, from.y);
    await mouse.down();
    await mouse.move(to.x, to.y, { steps: 5 });
    await mouse.up();
  }
}

/** Fingers on the screen. The browser derives pointer events from the touches. */
export class Fingers implements Hand {
  constructor(
    readonly visit: Visit,
    readonly session: CDPSession,
  ) {}

  static async of(visit: Visit): Promise<Fingers> {
    return new Fingers(visit, await visit.context.newCDPSession(visit.page));
  }

  async #send(type: "touchStart" | "touchMove" | "touchEnd", points: readonly Point[]): Promise<void> {
    const touchPoints = points.map(({ x, y }, id) => ({ x, y, id }));
    await this.session.send("Input.dispatchTouchEvent", { type, touchPoints });
  }

  press(target: Locator): Promise<void> {
    return target.tap();
  }

  pressAt({ x, y }: Point): Promise<void> {
    return this.visit.page.touchscreen.tap(x, y);
  }

  drag(from: Point, to: Point): Promise<void> {
    return this.dragAll([from, to]);
  }

  /** Moves several fingers at once, each from its first to its second position. */
  async dragAll(...ways: (readonly [Point, Point])[]): Promise<void> {
    await this.#send("touchStart", ways.map(([from]) => from));
    for (const part of [0.25, 0.5, 0.75, 1]) {
      const between = ([a, b]: readonly [Point, Point]) => ({ x: a.x + part * (b.x - a.x), y: a.y + part * (b.y - a.y) });
      await this.#send("touchMove", ways.map(between));
    }
    await this.#send("touchEnd", []);
  }
}

/**
 * Moves the focus from an editor to the next control. After Escape, the Tab key leaves the editor for
 * two seconds only, which a busy machine may miss.
 */
export async function leaveEditor(visit: Visit, id: string): Promise<void> {
  await until(
    async () => {
      await visit.page.keyboard.press("Escape");
      await visit.page.keyboard.press("Tab");
      return visit.byTestId(id).evaluate((text) => text.contains(text.ownerDocument.activeElement));
    },
    (isInside) => !isInside,
  );
}
