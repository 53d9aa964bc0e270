import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/unit/**/*.test.ts"],
    root: import.meta.dirname,
    // Other suites run at the same time. The default of five seconds is short for a busy machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
