import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { LeftOutReporter } from "./suites/left-out-reporter.ts";
import { hasOpenClaw, hasPostgres, SYSTEM_SUITES } from "./suites/suites.ts";
import { keepTempFilesInMemory } from "./suites/temp-folder.ts";
import {
  ALONE,
  IN_OPENCLAW,
  LONG_TESTS,
  NOT_ON_WINDOWS,
  ON_BOTH_STORES,
  ON_ONE_STORE,
  ON_WINDOWS,
} from "./suites/test-files.ts";
import { hasWindows } from "./windows/wine-place.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

// Hundreds of tests start the command line: its modules are compiled once.
process.env.NODE_COMPILE_CACHE ??= join(root, "node_modules/.cache/compile");

/** Bounds for what hangs, not for what is slow: a loaded machine needs many times what a quiet one does. */
const shared = {
  root,
  pool: "forks",
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
} as const;

const inMemory = { env: keepTempFilesInMemory() };

const PROVIDE_PROGRAM = "test/suites/provide-program.ts";

const EXCLUDED = [
  "**/node_modules/**",
  IN_OPENCLAW,
  ...(process.platform === "win32" ? NOT_ON_WINDOWS : []),
  ...SYSTEM_SUITES.filter((suite) => !suite.present()).map((suite) => suite.files),
];

interface ProjectFiles {
  readonly include?: string[];
  readonly exclude?: readonly string[];
  /** Gives each file a process of its own; default true. */
  readonly isolate?: boolean;
  /** Runs files side by side; default true. */
  readonly fileParallelism?: boolean;
  readonly globalSetup?: string[];
}

export default defineConfig({
  test: {
    root,
    reporters: ["default", new LeftOutReporter()],
    maxWorkers: 2,
    passWithNoTests: false,
    projects: [
      createProject("tests", { exclude: [...LONG_TESTS, ON_WINDOWS, ...ALONE], isolate: false }),
      createProject("alone", { include: ALONE, exclude: LONG_TESTS, globalSetup: [] }),
      createProject("long", { include: [...LONG_TESTS] }),
      ...(hasPostgres() ? [createPostgresProject()] : []),
      ...(hasWindows() ? [createProject("windows", { include: [ON_WINDOWS], fileParallelism: false })] : []),
      createOpenClawProject(),
    ],
  },
});

function createProject(
  name: string,
  {
    include = ["test/**/*.test.ts"],
    exclude = [],
    isolate = true,
    fileParallelism = true,
    globalSetup = [PROVIDE_PROGRAM],
  }: ProjectFiles,
) {
  const files = { include, exclude: [...EXCLUDED, ...exclude], isolate, fileParallelism };
  return { test: { ...shared, ...inMemory, name, ...files, globalSetup } };
}

function createPostgresProject() {
  return {
    test: {
      ...shared,
      ...inMemory,
      name: "on-postgres",
      include: ON_BOTH_STORES,
      exclude: [...ON_ONE_STORE],
      isolate: false,
      globalSetup: ["test/suites/provide-postgres.ts", PROVIDE_PROGRAM],
      setupFiles: "test/suites/use-postgres.ts",
    },
  };
}

function createOpenClawProject() {
  return {
    test: {
      ...shared,
      // A turn of an agent takes a second of CPU or two, and other suites run beside it.
      expect: { poll: { timeout: 120_000 } },
      name: "openclaw",
      include: [IN_OPENCLAW],
      exclude: hasOpenClaw() ? [] : [IN_OPENCLAW],
      fileParallelism: false,
      globalSetup: "test/e2e/openclaw/host/provide-host.ts",
    },
  };
}
