import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startTestService } from "../../src/testing.ts";
import { makeHome, svcMcp } from "../plugin/runtimes/mcp/mcp-client.ts";
import { decideHeld } from "../service/approvals/owner.ts";
import { callArguments, INSPECTOR, VERIFY_SKILLS } from "./check-inspector.ts";
import { runTool, type ToolRun } from "./run-tool.ts";
import { runStep, type StepResult } from "./step.ts";

/** `svc mcp`, started by the Inspector from a file like those of `svc install`: a local file waits in the inbox. */
export async function checkLocal(era: string): Promise<StepResult> {
  return runStep(`Inspector CLI starts svc mcp, ${era}`, async () => {
    const service = await startTestService({ approvals: "owner" });
    const { home, media, remove } = await makeHome();
    const config = join(home, "mcp.json");
    await writeFile(config, JSON.stringify({ mcpServers: { svc: svcMcp(home, service, "--wait", "1") } }));
    const inspect = (...args: string[]): Promise<ToolRun> =>
      runTool(INSPECTOR, ["--cli", "--config", config, "--server", "svc", "--protocol-era", era, ...args], {
        HOME: home,
      });
    const upload = (file: string) =>
      inspect(...callArguments("svc_call_tool", { name: "drive_upload_file", arguments: { file, folder: "Letters" } }));
    try {
      const listed = await inspect("--method", "tools/list", "--strict");
      assert.equal(listed.code, 0, listed.output);
      assert.ok(listed.output.includes('"svc_call_tool"'), listed.output);
      const skills = await inspect(...VERIFY_SKILLS);
      assert.equal(skills.code, 0, skills.output);
      const film = join(media, "film.bin");
      await writeFile(film, Buffer.alloc(20_000_000, "film"));
      const waiting = await upload(film);
      const [id = ""] = /apr_\w+/.exec(waiting.output) ?? [];
      assert.ok(waiting.output.includes("awaiting_owner"), waiting.output);
      assert.deepEqual(await service.effects(), []);
      await decideHeld(service, id, "approve");
      const done = await upload(film);
      assert.equal(done.code, 0, done.output);
      assert.ok(done.output.includes("Letters/film.bin"), done.output);
      assert.equal((await service.effects()).length, 1);
      const outside = await upload(config);
      assert.ok(outside.output.includes("outside_roots"), outside.output);
      return "lists strictly, verifies the skill, 20 MB wait in the inbox and are sent once, a file outside is refused";
    } finally {
      await service.close();
      await remove();
    }
  });
}
