import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runSvc } from "../e2e/run-svc.ts";

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-cli-"));
});

afterEach(() => rm(home, { recursive: true, force: true }));

test.each([
  ["files.example.org", "127.0.0.1:8080"],
  ["127.0.0.1:8080", "http://files.example.org:80"],
  ["[::1]:8080", "*:443"],
])("svc serve --allow-host reads every value: %s, %s", async (first, second) => {
  const run = await runSvc(["serve", "--port", "0", "--allow-host", first, "--allow-host", second], home);
  const wrong = first === "files.example.org" ? first : second;
  expect(run.code).toBe(1);
  expect(run.stderr).toContain(`allowHosts: "${wrong}" is not a host with a port. Use the form HOST:PORT`);
});
