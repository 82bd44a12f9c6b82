import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MCP_TOOL_NAMES } from "../../src/shared/wire/mcp.ts";
import { runTool, type ToolRun } from "./run-tool.ts";
import { runStep, type StepResult } from "./step.ts";

/** The script of the Inspector. */
export const INSPECTOR = join(
  import.meta.dirname,
  "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js",
);

/** The Inspector's command line as a client: it lists, calls, is refused, and finds no schema to complain about. */
export async function checkInspector(service: { url: string; apiKey: string }, era: string): Promise<StepResult> {
  return runStep(`Inspector CLI, ${era}`, async () => {
    const home = await mkdtemp(join(tmpdir(), "svc-inspector-"));
    const inspect = (key: string | undefined, ...args: string[]): Promise<ToolRun> => {
      const target = [
        "--cli",
        `${service.url}/api/mcp`,
        "--transport",
        "http",
        "--stored-auth-only",
        "--protocol-era",
        era,
      ];
      const header = key === undefined ? [] : ["--header", `x-svc-api-key: ${key}`];
      return runTool(INSPECTOR, [...target, ...header, ...args], { HOME: home });
    };
    try {
      const listed = await inspect(service.apiKey, "--method", "tools/list", "--strict");
      assert.equal(listed.code, 0, listed.output);
      for (const name of MCP_TOOL_NAMES) assert.ok(listed.output.includes(`"${name}"`), `${name} is not listed`);
      const found = await inspect(service.apiKey, ...callArguments("svc.search", { query: "send a message" }));
      assert.equal(found.code, 0, found.output);
      assert.ok(found.output.includes("send_message"), found.output);
      const input = { integration_id: "notes", action_id: "create_page", input: { title: "From the Inspector" } };
      const blocked = await inspect(service.apiKey, ...callArguments("svc.execute", input));
      assert.ok(blocked.output.includes("policy_blocked"), blocked.output);
      const skills = await inspect(service.apiKey, ...VERIFY_SKILLS);
      assert.equal(skills.code, 0, skills.output);
      const refused = await inspect(undefined, "--method", "tools/list");
      assert.equal(refused.code, 3, refused.output);
      return "lists strictly, verifies the skill, calls, is blocked, is refused without a key";
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
}

/** Arguments by which the Inspector reads every file of every skill, and compares it with its entry. */
export const VERIFY_SKILLS = ["--method", "skills/list", "--verify"];

/** Arguments by which the Inspector calls a tool. */
export function callArguments(tool: string, args: object): string[] {
  const call = ["--method", "tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args)];
  return [...call, "--format", "json", "-q"];
}
