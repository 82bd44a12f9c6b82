import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runSvc } from "../../e2e/run-svc.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-demo-test-"));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test("a model that nobody offers is refused before anything is started", async () => {
  const run = await runSvc(["demo", "--unattended", "--model", "nobody:claude"], folder, { env: { TMPDIR: folder } });
  expect(run.code).toBe(2);
  expect(run.stderr).toMatch(/^Error: --model "nobody:claude" cannot be used\. .*PROVIDER:NAME, such as openai:/);
  expect(run.stdout).toBe("");
  expect(await readdir(folder)).toEqual([]);
}, 60_000);
