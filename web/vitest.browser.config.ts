import { defineConfig } from "vitest/config";

/**
 * Tests with a real simulator and a real browser. Two files run at a time, because software
 * rendering in one browser uses little more than one CPU core.
 */
export default defineConfig({
  test: {
    include: ["tests/browser/**/*.test.ts"],
    root: import.meta.dirname,
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
