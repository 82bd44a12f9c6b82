import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService } from "../../src/testing.ts";
import { runSvc, startSvc } from "../e2e/run-svc.ts";
import type { WatchedProcess } from "../e2e/watch-process.ts";

let home: string;
let served: WatchedProcess | undefined;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-cli-"));
});

afterEach(async () => {
  served?.kill("SIGTERM");
  await served?.done;
  await rm(home, { recursive: true, force: true });
});

test("svc serve --flow-approvals dashboard: a device starts a flow, and only the owner's browser lets it go on", async () => {
  const dataDir = join(home, "service");
  const first = await startTestService({ dataDir });
  const { apiKey } = first;
  await first.close();
  served = startSvc(["serve", "--port", "0", "--data", dataDir, "--flow-approvals", "dashboard"], home);
  const [, url = ""] = await served.waitFor(/Listening on (\S+)/);
  const svc = (args: readonly string[], input = "") =>
    runSvc(args, home, { input, env: { SVC_API_KEY: apiKey, SVC_BASE_URL: url } });

  const input = JSON.stringify({ text: "Water the plants", delaySeconds: 1 });
  const started = await svc(["flows", "start", "notes_reminder", "--input", input]);
  const id = /svc flows approve (\S+)/.exec(started.stdout)?.[1] ?? "";
  const refused = await svc(["flows", "approve", id], "a\n");
  expect(refused.stdout).toContain(`${url}/flows/${id}`);
  expect(refused.code).toBe(1);
  expect((await svc(["flows", "list"])).stdout).toMatch(new RegExp(`${id}  waiting`));
});
