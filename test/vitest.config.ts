import { defineConfig } from "vitest/config";
import { LeftOutReporter } from "./suites/left-out-reporter.ts";
import { SYSTEM_SUITES } from "./suites/suites.ts";

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    include: ["test/**/*.test.ts"],
    exclude: SYSTEM_SUITES.filter((suite) => !suite.present()).map((suite) => suite.files),
    reporters: ["default", new LeftOutReporter()],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    passWithNoTests: false,
  },
});
