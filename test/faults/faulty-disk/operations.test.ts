import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FUZZ_FACTOR } from "../../fuzz/fuzz-options.ts";
import { fillApp, runWrite, WRITES } from "../kit/every-write.ts";
import { type ErrorName, FaultyDisk } from "./faulty-disk.ts";

/**
 * Every file operation of every write fails once with each of these. What is told must be what the disk holds: "not done" only
 * where nothing changed, "done" only where all of it did. ENOENT is not among them: what is gone cannot be taken away, and a
 * disk that says so of a file that is there cannot be worked with.
 */
const USUAL: readonly ErrorName[] = ["EIO", "ENOSPC", "EACCES", "EPERM", "EINVAL", "EMFILE", "EROFS", "EXDEV", "EBUSY"];
/** Errors of quotas, network disks and full tables, too; 10,000 failures and more, a matter of ten minutes. */
const RARE: readonly ErrorName[] = [
  ...(["EDQUOT", "ESTALE", "EOPNOTSUPP", "ETIMEDOUT", "EAGAIN", "ENOMEM", "ENFILE", "EFBIG"] as const),
  ...(["ENAMETOOLONG", "ELOOP", "EINTR", "ENODEV", "ENXIO", "ENOLCK", "ENOSYS"] as const),
];
const ERRORS = process.env.SVC_DISK_ERRORS === "all" ? [...USUAL, ...RARE] : USUAL;
/** No write has more operations. */
const MAX_OPERATIONS = 400;

let disk: FaultyDisk;
beforeAll(async () => {
  disk = await FaultyDisk.start();
});
afterAll(() => disk.close());

/** Random parts of names and contents, and times, are alike in all runs. */
function blur(text: string): string {
  return text
    .replaceAll(/\d{4}-?\d\d-?\d\dT\d\d:?\d\d:?\d\d(?:\.\d+)?Z?/g, "#time")
    .replaceAll(/\d{10}\.M\d+P\d+Q\d+R[0-9a-f]+/g, "#message")
    .replaceAll(/[:;]2,/g, "#flags,")
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "#id")
    .replaceAll(/#time-[0-9a-f]{6,}/g, "#trashed")
    .replaceAll(/(?:Date|Message-ID|Date: |boundary).*$/gim, "#header")
    .replaceAll(/--[-_=A-Za-z0-9.]{8,}/g, "#boundary");
}

/** Folders and files below an app's folder; contents are there with their names. */
async function look(app: string): Promise<string[]> {
  const root = join(disk.dataDir, app);
  const found: string[] = [];
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true }).catch(() => [])) {
    const path = join(entry.parentPath, entry.name);
    found.push(
      entry.isDirectory()
        ? `${blur(relative(root, path))}/`
        : `${blur(relative(root, path))}\n${blur(await readFile(path, "utf8"))}`,
    );
  }
  return found.sort();
}

async function reset(app: string): Promise<void> {
  await disk.failOnce("", 0, "EIO");
  await fillApp(disk.dataDir, app);
}

const run = (tool: string, args: object) => runWrite(disk.service, tool, args);

let injected = 0;

describe.each(WRITES)("%s %j", (tool, args) => {
  test(
    "tells what is on the disk, whichever operation fails",
    async () => {
      const app = tool.split("_")[0]!;
      const folder = join(disk.dataDir, app);
      await reset(app);
      const before = await look(app);
      expect(await run(tool, args)).toBe("done");
      const after = await look(app);
      expect(after).not.toEqual(before);
      const wrong: unknown[] = [];
      for (const error of ERRORS) {
        for (let at = 1; at <= MAX_OPERATIONS; at += 1) {
          await reset(app);
          await disk.failOnce(folder, at, error);
          const told = await run(tool, args);
          const { fired } = await disk.look();
          await disk.failOnce("", 0, error);
          if (!fired) break;
          injected += 1;
          const now = await look(app);
          const isRight = told === "open" || JSON.stringify(now) === JSON.stringify(told === "done" ? after : before);
          if (!isRight)
            wrong.push({
              error,
              at,
              told,
              lost: before.filter((one) => !now.includes(one)),
              more: now.filter((one) => !before.includes(one)),
            });
        }
      }
      expect(wrong).toEqual([]);
    },
    300_000 * FUZZ_FACTOR,
  );
});

test("hundreds of operations failed", () => {
  console.log(`${injected} errors were injected`);
  expect(injected).toBeGreaterThan(ERRORS.length * 100);
});
