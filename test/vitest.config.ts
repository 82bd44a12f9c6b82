import { defineConfig } from "vitest/config";
import { LeftOutReporter } from "./suites/left-out-reporter.ts";
import { hasPostgres, SYSTEM_SUITES } from "./suites/suites.ts";

const root = new URL("..", import.meta.url).pathname;
const shared = { root, pool: "forks", testTimeout: 20_000, hookTimeout: 30_000 } as const;

/** Tests of the service that talk to it only from outside, and so run on either store. */
const ON_BOTH_STORES = [
  "test/service/{canonical,catalog,http,mcp,oauth,pages,registration}/**/*.test.ts",
  "test/service/flows/flow-routes.test.ts",
  "test/contract/*.test.ts",
];

export default defineConfig({
  test: {
    root,
    reporters: ["default", new LeftOutReporter()],
    maxWorkers: 2,
    passWithNoTests: false,
    projects: [
      {
        test: {
          ...shared,
          name: "tests",
          include: ["test/**/*.test.ts"],
          exclude: SYSTEM_SUITES.filter((suite) => !suite.present()).map((suite) => suite.files),
        },
      },
      ...(hasPostgres() ? [createPostgresProject()] : []),
    ],
  },
});

function createPostgresProject() {
  return {
    test: {
      ...shared,
      name: "on-postgres",
      include: ON_BOTH_STORES,
      exclude: ["test/contract/{coverage,plugin-*}.test.ts"],
      globalSetup: "test/suites/provide-postgres.ts",
      setupFiles: "test/suites/use-postgres.ts",
    },
  };
}
