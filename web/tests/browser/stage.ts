/** One simulator and one browser for a file; a page or two for each test. Every test fails on an error in the console. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { browser, Simulator, Visit } from "./support.js";

export interface Together {
  readonly simulator: Simulator;
  open(options?: BrowserContextOptions & { prepare?: (page: Page) => Promise<void>; path?: string; unready?: boolean }): Promise<Visit>;
}

export function together(...words: string[]): Together {
  let simulator: Simulator;
  let running: Browser;
  let visits: Visit[] = [];
  beforeAll(async () => {
    [simulator, running] = await Promise.all([Simulator.start(...words), browser()]);
  });
  afterEach(async () => {
    const faults = visits.flatMap((visit) => visit.faults());
    await Promise.all(visits.map((visit) => visit.close()));
    visits = [];
    expect(faults).toEqual([]);
  });
  afterAll(async () => {
    await running?.close();
    await simulator?.remove();
  });
  return {
    get simulator() {
      return simulator;
    },
    async open({ path, unready, ...options } = {}) {
      const visit = await Visit.open(running, path ? `${simulator.origin}${path}` : simulator.address, options);
      visits.push(visit);
      return unready ? visit : visit.ready();
    },
  };
}
