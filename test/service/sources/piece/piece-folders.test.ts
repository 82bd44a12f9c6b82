import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { holdPieces, sweepPieces } from "../../../../src/service/sources/piece/piece-folders.ts";

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-folders-"));
});

afterEach(() => rm(dataDir, { recursive: true, force: true }));

async function install(...folders: string[]): Promise<void> {
  for (const folder of folders) {
    await mkdir(join(dataDir, "pieces", folder, "node_modules"), { recursive: true });
    await writeFile(join(dataDir, "pieces", folder, "node_modules", "index.js"), "");
  }
}

const list = async () =>
  (await readdir(join(dataDir, "pieces"), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath }) => parentPath.slice(join(dataDir, "pieces").length + 1))
    .sort();
const sweep = (...used: string[]) => sweepPieces(dataDir, async () => used);

test("without pieces nothing is looked at, and nothing is written", async () => {
  expect(await sweep()).toBe(true);
  expect(await readdir(dataDir)).toEqual([]);
});

test("what no app refers to is removed, with what killed processes left", async () => {
  await install("parcel/1.2.3", "parcel/1.2.4", "letter/1.0.0", "parcel/new-aB3", "parcel/gone_k3m9", "empty/new-x");
  expect(await sweep("pieces/parcel/1.2.4", "pieces/letter/1.0.0", "pieces/other/1.0.0")).toBe(true);
  expect(await list()).toEqual(["letter/1.0.0/node_modules", "parcel/1.2.4/node_modules"]);
  expect(await readdir(join(dataDir, "pieces"))).toEqual(["letter", "parcel"]);
});

test("while something is being added nothing is removed; several can be added at a time", async () => {
  const [first, second] = [holdPieces(dataDir), holdPieces(dataDir)];
  await install("parcel/1.2.3");
  expect(await sweep()).toBe(false);
  first();
  expect(await sweep()).toBe(false);
  expect(await list()).toEqual(["parcel/1.2.3/node_modules"]);
  second();
  expect(await sweep()).toBe(true);
  expect(await list()).toEqual([]);
});

test("what apps refer to is looked up only when nothing is being added any more", async () => {
  await install("parcel/1.2.3");
  let looked = 0;
  const release = holdPieces(dataDir);
  const look = async () => {
    looked += 1;
    return [];
  };
  await sweepPieces(dataDir, look);
  expect(looked).toBe(0);
  release();
  await expect(sweepPieces(dataDir, () => Promise.reject(new Error("The store is away.")))).rejects.toThrow("away");
  expect(await list()).toEqual(["parcel/1.2.3/node_modules"]);
  await sweepPieces(dataDir, look);
  expect(looked).toBe(1);
});
