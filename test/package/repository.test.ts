import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { PACKAGE_ROOT } from "./read-package.ts";

const LEFT_OUT = /(^|\/)(node_modules|\.git|dist|coverage)\//;

/** Every file of the repository, as the ignore file sees it. */
async function listSources(): Promise<string[]> {
  const entries = await readdir(PACKAGE_ROOT, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(PACKAGE_ROOT, join(entry.parentPath, entry.name)))
    .filter((path) => !LEFT_OUT.test(path));
}

async function findIn(files: readonly string[], pattern: RegExp): Promise<string[]> {
  const found: string[] = [];
  for (const file of files) {
    const match = pattern.exec(await readFile(join(PACKAGE_ROOT, file), "latin1"));
    if (match) found.push(`${file}: ${match[0]}`);
  }
  return found;
}

const quotePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

describe("the repository", () => {
  test("has lock files without addresses", async () => {
    const locks = (await listSources()).filter((path) => path.endsWith("package-lock.json"));
    expect(locks).toContain("package-lock.json");
    for (const path of locks) {
      const lock = await readFile(join(PACKAGE_ROOT, path), "utf8");
      expect(lock, path).not.toMatch(/"resolved":/);
      expect(lock, path).toContain('"integrity":');
    }
  });

  test("names no package registry", async () => {
    const host = ["registry", "npmjs", "org"].join("\\.");
    expect(
      await findIn(await listSources(), new RegExp(`${host}|//[a-z0-9.-]*(?:artifactory|verdaccio|nexus)`, "i")),
    ).toEqual([]);
  });

  test("names no folder of the machine it lies on", async () => {
    const shallow = dirname(PACKAGE_ROOT.replace(/\/$/, "")) === "/";
    const local = new RegExp(`${quotePattern(PACKAGE_ROOT.replace(/\/$/, ""))}(?=[/"'\\s]|$)`, "m");
    expect(shallow ? [] : await findIn(await listSources(), local)).toEqual([]);
  });

  test("has no unfinished work in its sources", async () => {
    const sources = (await listSources()).filter((path) => /^(src|skills)\//.test(path));
    const words = /\b(FIXME|XXX|HACK)\b|not implemented/;
    expect(await findIn(sources, words)).toEqual([]);
  });
});
