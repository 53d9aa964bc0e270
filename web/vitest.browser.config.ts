import { defineConfig } from "vitest/config";

/**
 * Tests with a real simulator and a real browser. The files run one after the other because
 * software rendering in one browser already uses all CPU cores.
 */
export default defineConfig({
  test: {
    include: ["tests/browser/**/*.test.ts"],
    root: import.meta.dirname,
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
