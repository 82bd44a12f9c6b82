import type { Reporter, Vitest } from "vitest/node";
import { SYSTEM_SUITES } from "./suites.ts";
import { LONG_NAME } from "./test-files.ts";

/**
 * Last lines of a test run: each suite left out and the command that provides its system part.
 * With `SVC_TEST_ALL_SUITES=1` a left-out suite fails the run.
 */
export class LeftOutReporter implements Reporter {
  private runsLong = false;

  onInit(vitest: Vitest): void {
    this.runsLong = vitest.projects.some(({ name }) => name === "long");
  }

  onTestRunEnd(): void {
    const missing = SYSTEM_SUITES.filter((suite) => !suite.present());
    // The default reporter writes its summary in the same hook; printing at exit keeps these lines last.
    process.once("exit", () => {
      for (const suite of missing) console.log(`Left out: ${suite.name}. To run it: ${suite.provide}`);
      if (!this.runsLong) console.log(`Left out: ${LONG_NAME}. To run it: npm run test:all`);
    });
    if (missing.length > 0 && process.env.SVC_TEST_ALL_SUITES === "1") process.exitCode = 1;
  }
}
