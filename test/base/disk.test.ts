import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeFolders, withWriteLock } from "../../src/base/disk.ts";
import { isSvcError } from "../../src/errors.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-lock-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("folders are made with those above them, for their owner alone, and once", async () => {
  const path = join(folder, "a/b/c");
  expect(await Promise.all([makeFolders(path), makeFolders(path)])).toContain(true);
  expect(await makeFolders(path)).toBe(false);
  for (const one of ["a", "a/b", "a/b/c"]) expect((await stat(join(folder, one))).mode & 0o777).toBe(0o700);
});

test.each([
  ["a file", "a/b", "ENOTDIR"],
  ["a file in its own place", "a", "EEXIST"],
])("a folder is not made where %s is in the way", async (_what, path, code) => {
  await writeFile(join(folder, "a"), "");
  await expect(makeFolders(join(folder, path))).rejects.toMatchObject({ code });
});

test.runIf(process.platform === "linux")("a file system that takes no folders ends the try", async () => {
  await expect(makeFolders("/proc/none/below")).rejects.toMatchObject({ code: "ENOENT" });
});

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
