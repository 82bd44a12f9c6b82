import type { Reporter } from "vitest/node";
import { SYSTEM_SUITES } from "./suites.ts";

/**
 * Last lines of a test run: each suite left out and the command that provides its system part.
 * With `SVC_TEST_ALL_SUITES=1` a left-out suite fails the run.
 */
export class LeftOutReporter implements Reporter {
  onTestRunEnd(): void {
    const missing = SYSTEM_SUITES.filter((suite) => !suite.present());
    if (missing.length === 0) return;
    // The default reporter writes its summary in the same hook; printing at exit keeps these lines last.
    process.once("exit", () => {
      for (const suite of missing) console.log(`Left out: ${suite.name}. To run it: ${suite.provide}`);
    });
    if (process.env.SVC_TEST_ALL_SUITES === "1") process.exitCode = 1;
  }
}
