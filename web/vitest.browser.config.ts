import { defineConfig } from "vitest/config";

/**
 * Tests with a real simulator and a real browser. Three files run at a time, because a test mostly
 * waits for the simulator, which runs in real time. The timeouts only end a test that hangs.
 */
export default defineConfig({
  test: {
    include: ["tests/browser/**/*.test.ts"],
    root: import.meta.dirname,
    maxWorkers: 3,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
