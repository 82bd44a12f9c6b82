import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectMode } from "../suites/this-system.ts";

const MODULE = new URL("../../src/cli/compiled-code.ts", import.meta.url).href;

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-compiled-"));
});

afterEach(() => rm(home, { recursive: true }));

/** The folder that a process keeps compiled code in; empty without one. */
async function findKept(env: Record<string, string> = {}): Promise<string> {
  const source = `import { getCompileCacheDir } from "node:module";
    const { keepCompiledCode } = await import(${JSON.stringify(MODULE)});
    keepCompiledCode(process.env);
    console.log(getCompileCacheDir() ?? "");`;
  const args = ["--input-type=module", "--eval", source];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { SVC_HOME: home, ...env } });
  return stdout.trim();
}

describe("code that was compiled once", () => {
  test("is kept in the user's cache, which nobody else may write to", async () => {
    const folder = join(home, "cache/compiled-code");
    expect(await findKept()).toContain(folder);
    expectMode(folder, 0o700);
    expect(await readdir(folder)).toHaveLength(1);
  });

  test("is not taken from a folder that others may write to", async () => {
    await mkdir(join(home, "cache/compiled-code"), { recursive: true });
    await chmod(join(home, "cache/compiled-code"), 0o777);
    expect(await findKept()).toBe("");
  });

  test("is kept in one place, where the user named another one to Node", async () => {
    const own = join(home, "own");
    expect(await findKept({ NODE_COMPILE_CACHE: own })).toContain(own);
    expect(await readdir(home)).toEqual(["own"]);
  });

  test("is not kept where the folder cannot be made, and nothing is said", async () => {
    await writeFile(join(home, "cache"), "in the way");
    expect(await findKept()).toBe("");
  });
});
