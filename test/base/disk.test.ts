import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withWriteLock } from "../../src/base/disk.ts";
import { isSvcError } from "../../src/errors.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-lock-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("a lock that another process holds is told without its path, which a human finds in the cause", async () => {
  const lockFile = join(folder, "journal.lock");
  await writeFile(lockFile, String(process.ppid));
  const limits = { staleAfterMs: 60_000, giveUpAfterMs: -1, field: "stateDir" };
  let isDone = false;
  const work = async () => {
    isDone = true;
  };
  const error: unknown = await withWriteLock(lockFile, work, limits).catch((thrown: unknown) => thrown);
  if (!isSvcError(error)) throw new Error("It was no SvcError.", { cause: error });
  expect(error).toMatchObject({ code: "invalid_config", field: "stateDir" });
  expect(`${error.message} ${error.hint}`).toContain("stateDir");
  expect(`${error.message} ${error.hint}`).not.toContain(folder);
  expect(String(error.cause)).toContain(lockFile);
  expect(isDone).toBe(false);
  expect(await readFile(lockFile, "utf8")).toBe(String(process.ppid));
});
