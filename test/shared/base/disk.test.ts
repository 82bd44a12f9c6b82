import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { linkFile, makeFolders, renameFile } from "../../../src/shared/base/disk.ts";
import { withWriteLock } from "../../../src/shared/base/write-lock.ts";
import { isSvcError } from "../../../src/shared/errors.ts";
import { expectMode, IS_WINDOWS } from "../../suites/this-system.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-lock-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("folders are made with those above them, for their owner alone, and once", async () => {
  const path = join(folder, "a/b/c");
  expect(await Promise.all([makeFolders(path), makeFolders(path)])).toContain(true);
  expect(await makeFolders(path)).toBe(false);
  for (const one of ["a", "a/b", "a/b/c"]) expectMode(join(folder, one), 0o700);
});

test.each([
  // Windows has one code for both.
  ["a file", "a/b", IS_WINDOWS ? "EEXIST" : "ENOTDIR"],
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

const failWith = (code: string) => Object.assign(new Error(code), { code });

test.each(["EPERM", "EACCES", "EBUSY"])("on Windows a rename waits while %s says that a file is open", async (code) => {
  let tries = 0;
  const rename = async () => {
    tries += 1;
    if (tries < 3) throw failWith(code);
  };
  await renameFile("a", "b", { platform: "win32", rename });
  expect(tries).toBe(3);
});

test("no other error and no other system waits, and the patience ends", async () => {
  let tries = 0;
  const fail = (code: string) => async () => {
    tries += 1;
    throw failWith(code);
  };
  await expect(renameFile("a", "b", { platform: "win32", rename: fail("ENOENT") })).rejects.toThrow("ENOENT");
  await expect(renameFile("a", "b", { platform: "darwin", rename: fail("EPERM") })).rejects.toThrow("EPERM");
  expect(tries).toBe(2);
  await expect(renameFile("a", "b", { platform: "win32", rename: fail("EPERM") })).rejects.toThrow("EPERM");
  expect(tries).toBeGreaterThan(5);
});

test.each("EISDIR EINVAL ENOTSUP EOPNOTSUPP ENOSYS EPERM EACCES EMLINK EXDEV".split(" "))(
  "%s of a link means that the disk has none",
  async (code) => {
    expect(await linkFile("a", "b", { link: () => Promise.reject(failWith(code)) })).toBe(false);
  },
);

test("a link to a taken name, or of nothing, is an error", async () => {
  const [from, to] = [join(folder, "from"), join(folder, "to")];
  await expect(linkFile(from, to)).rejects.toMatchObject({ code: "ENOENT" });
  await writeFile(from, "a");
  expect(await linkFile(from, to)).toBe(true);
  await expect(linkFile(from, to)).rejects.toMatchObject({ code: "EEXIST" });
});

test("files are flushed, renamed and linked in one place", async () => {
  const src = fileURLToPath(new URL("../../../src", import.meta.url));
  const others: string[] = [];
  for (const entry of await readdir(src, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith(".ts") || entry.name === "disk.ts") continue;
    const text = await readFile(join(entry.parentPath, entry.name), "utf8");
    const imported = /import \{([^}]*)\} from "node:fs(?:\/promises)?"/g;
    const names = [...text.matchAll(imported)].flatMap(([, list = ""]) => list.split(",").map((name) => name.trim()));
    const taken = names.filter((name) => /^(?:rename|link|fsync|fdatasync)(?:Sync)?\b/.test(name));
    if (taken.length > 0 || /\bhandle\.(?:data)?sync\(/.test(text)) others.push(`${entry.name}: ${taken.join(" ")}`);
  }
  expect(others).toEqual([]);
});
