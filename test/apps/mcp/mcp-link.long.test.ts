import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { McpDefinition } from "../../../src/apps/mcp/connect-mcp.ts";
import { mcpKind } from "../../../src/apps/mcp/mcp-kind.ts";
import { McpLink } from "../../../src/apps/mcp/mcp-link.ts";
import { readAllowedHosts } from "../../../src/service/fetch/address-rules.ts";

/** Says who it is, never answers, and does not mind that nobody listens any more; ends at once with another token. */
const SLOW_SERVER = `if (process.env.TOKEN === "wrong") process.exit(1);
require("fs").writeFileSync(process.argv[1], process.pid + ";");
setInterval(() => {}, 1000);`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-link-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function slowServer(): McpDefinition {
  const args = ["-e", SLOW_SERVER, join(folder, "pid")];
  return { transport: "stdio", command: process.execPath, args, env: ["TOKEN"], cwd: undefined, trusted: true };
}

async function findPid(): Promise<number> {
  const readPid = async () => Number(/^(\d+);$/.exec(await readFile(join(folder, "pid"), "utf8"))?.[1]);
  const pid = await vi.waitUntil(() => readPid().catch(() => undefined), { timeout: 20_000 });
  expect(process.kill(pid, 0)).toBe(true);
  return pid;
}

test("a server that is just being started has ended when its link is closed", async () => {
  const link = new McpLink(slowServer(), {}, { onOpen: async () => {}, onDown: () => {}, onToolsChanged: () => {} });
  const opened = link.open().catch(() => "refused");
  const pid = await findPid();
  await link.close(0);
  expect(await opened).toBe("refused");
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
}, 30_000);

test("a server of settings that were replaced has ended when its app is closed, though a call still waited for it", async () => {
  const action = { id: "look", title: "Look", description: "", level: "read", requiresConfirmation: false } as const;
  const actions = [{ ...action, idempotent: true, inputSchema: {}, scopes: [], call: { tool: "look" } }];
  const content = { description: "", category: "mcp", scopes: [], settingsForm: [], actions };
  const source = { slug: "slow", kind: "mcp", name: "Slow", definition: slowServer(), content, digest: "" } as const;
  const opened = await mcpKind.open(
    { ...source, levels: { trusted: true }, proposal: undefined, revision: "rev_1", addedAt: "" },
    {
      log: () => {},
      now: Date.now,
      allowedHosts: readAllowedHosts([]),
      provide: async (_app, settings) => ({ settings, renew: async () => undefined }),
      listConnections: async () => [],
      setConnectionState: async () => {},
      propose: async () => {},
    },
  );
  const call = (TOKEN: string) => {
    const connection = { id: "con_1", integration: "slow", label: "Slow", scopes: [], settings: { TOKEN } };
    const context = { connection, signal: new AbortController().signal, now: Date.now };
    const file = () => {
      throw new Error("There are no files.");
    };
    return opened.integration.actions[0]?.run({}, { ...context, file }).catch(() => "failed");
  };
  const waiting = call("right");
  const pid = await findPid();
  expect(await call("wrong")).toBe("failed");
  await opened.close();
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  expect(await waiting).toBe("failed");
}, 30_000);
