/**
 * Starts one simulator and one browser per test file. Each test opens its own pages. A test fails
 * if one of its pages has an unexpected error (see `Visit`).
 */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { browser, Simulator, Visit } from "./support.js";

/** Option for a page with transitions, animations and camera flights, as most users see it. */
export const MOTION = { reducedMotion: "no-preference" } as const satisfies BrowserContextOptions;

export interface BrowserFixture {
  readonly simulator: Simulator;
  open(
    options?: BrowserContextOptions & { prepare?: (page: Page) => Promise<void>; path?: string; skipReady?: boolean },
  ): Promise<Visit>;
}

export function browserFixture(...options: string[]): BrowserFixture {
  let simulator: Simulator;
  let running: Browser;
  let visits: Visit[] = [];
  beforeAll(async () => {
    [simulator, running] = await Promise.all([Simulator.start(...options), browser()]);
  });
  afterEach(async () => {
    const errors = visits.flatMap((visit) => visit.unexpectedErrors());
    await Promise.all(visits.map((visit) => visit.close()));
    visits = [];
    expect(errors).toEqual([]);
  });
  afterAll(async () => {
    await running?.close();
    await simulator?.remove();
  });
  return {
    get simulator() {
      return simulator;
    },
    async open({ path, skipReady, ...options } = {}) {
      // Without a graphics card, the pixels of the 3D view need most of the processor time of a test.
      // At half the resolution of the screen there are a quarter as many. Animations and camera
      // flights would double the work of the GPU process, so only tests with `MOTION` have them.
      const visit = await Visit.open(running, path ? `${simulator.origin}${path}` : simulator.address, {
        deviceScaleFactor: 0.5,
        reducedMotion: "reduce",
        ...options,
      });
      visits.push(visit);
      return skipReady ? visit : visit.ready();
    },
  };
}
