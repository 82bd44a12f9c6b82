import { defineConfig } from "vitest/config";
import { LeftOutReporter } from "./suites/left-out-reporter.ts";
import { hasOpenClaw, hasPostgres, SYSTEM_SUITES } from "./suites/suites.ts";

const root = new URL("..", import.meta.url).pathname;

/** Bounds for what hangs, not for what is slow: a loaded machine may need many times what a quiet one does. */
const shared = {
  root,
  pool: "forks",
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 30_000 } },
} as const;

/** Tests of the service that talk to it only from outside, and so run on either store. */
const ON_BOTH_STORES = [
  "test/service/{catalog,http,mcp,oauth,auth/registration}/**/*.test.ts",
  "test/service/executions/{account-and-lookup,canonical-executions,idempotency,offload,two-processes}.test.ts",
  "test/service/flows/flow-routes.test.ts",
  "test/service/added/open-sources.test.ts",
  "test/contract/*.test.ts",
];

/** Tests that share one gateway, and so run one after another. */
const IN_OPENCLAW = "test/e2e/openclaw/**/*.test.ts";

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
          exclude: [
            "**/node_modules/**",
            IN_OPENCLAW,
            ...SYSTEM_SUITES.filter((suite) => !suite.present()).map((suite) => suite.files),
          ],
        },
      },
      ...(hasPostgres() ? [createPostgresProject()] : []),
      createOpenClawProject(),
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

function createOpenClawProject() {
  return {
    test: {
      ...shared,
      name: "openclaw",
      include: [IN_OPENCLAW],
      exclude: hasOpenClaw() ? [] : [IN_OPENCLAW],
      fileParallelism: false,
      testTimeout: 90_000,
      hookTimeout: 180_000,
      globalSetup: "test/e2e/openclaw/host/provide-host.ts",
    },
  };
}
