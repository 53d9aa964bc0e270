import { defineConfig } from "vitest/config";

/** Tests with a real simulator in a real browser. One file at a time: each draws on all cores. */
export default defineConfig({
  test: {
    include: ["tests/browser/**/*.test.ts"],
    root: import.meta.dirname,
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
