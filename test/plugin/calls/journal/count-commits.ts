import { DatabaseSync } from "node:sqlite";
import { onTestFinished, vi } from "vitest";

/** Counts the transactions that are written to a disk from now on, until the test ends. */
export function countCommits(): () => number {
  const exec = vi.spyOn(DatabaseSync.prototype, "exec");
  onTestFinished(() => exec.mockRestore());
  return () => exec.mock.calls.filter(([sql]) => sql === "COMMIT").length;
}
