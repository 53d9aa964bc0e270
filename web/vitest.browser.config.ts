import { defineConfig } from "vitest/config";

/**
 * Tests with a real simulator and a real browser. Three files run at a time, because a test mostly
 * waits for the simulator, which runs in real time. The files share three processes, because the
 * import of Playwright takes seconds in each new process. The timeouts only end a test that hangs.
 */
export default defineConfig({
  test: {
    include: ["tests/browser/**/*.test.ts"],
    root: import.meta.dirname,
    maxWorkers: 3,
    isolate: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
