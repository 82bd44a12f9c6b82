import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startSvc } from "../e2e/run-svc.ts";
import { createTool, startScriptedService } from "../plugin/calls/scripted-service.ts";

test.each([
  ["write", 5, "it may have taken effect"],
  ["read", 130, "Interrupted."],
])("Ctrl-C while a %s is on its way ends the command with %i", async (effect, code, text) => {
  const service = await startScriptedService();
  const home = await mkdtemp(join(tmpdir(), "svc-interrupt-"));
  try {
    service.offer(createTool("probe_one", effect));
    service.answer("/api/tools/probe_one/execute", { hang: true });
    const env = { SVC_API_KEY: "svc_live_test_0123456789abcdef", SVC_BASE_URL: service.url };
    const run = startSvc(["call", "probe_one", "--args", '{"text":"a"}'], home, env);
    run.type("a\n");
    await service.whenExecuted;
    run.kill("SIGINT");
    const done = await run.done;
    expect(done.stdout).toContain(text);
    expect(done.code).toBe(code);
  } finally {
    await service.close();
    await rm(home, { recursive: true, force: true });
  }
});
