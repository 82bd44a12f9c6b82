import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createScriptedApprover } from "../../../src/plugin/calls/ask/scripted-approver.ts";
import type { ToolOutcome } from "../../../src/plugin/calls/outcome.ts";
import { createToolSession, type ToolSession } from "../../../src/plugin/calls/session.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { waitForTool } from "../../service/added/wait-for-tool.ts";
import { call } from "../../service/http-calls.ts";
import { runSvc } from "../run-svc.ts";
import { askServer } from "./ask-server.ts";
import { findChildren } from "./find-children.ts";
import { findServer, startOffline } from "./find-servers.ts";

/** Four reference MCP servers, each added to a running service by one command, with nothing fetched from anywhere. */

interface Reference {
  readonly server: string;
  readonly slug: string;
  readonly tools: number;
  readonly flags?: readonly string[];
  readonly env?: () => Record<string, string>;
  readonly args?: () => readonly string[];
  readonly read?: { readonly tool: string; readonly args: () => object; readonly expected: unknown };
  readonly write: { readonly tool: string; readonly args: () => object; readonly check: () => Promise<void> };
}

let service: TestService;
let home: string;
let session: ToolSession;
const approve = createScriptedApprover(["approve"]);
let calls = 0;

beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "svc-servers-")));
  await writeFile(join(home, "note.txt"), "milk");
  service = await startTestService();
  session = await createToolSession({ baseUrl: service.url, apiKey: service.apiKey, mediaRoots: [home], approve });
});

afterAll(async () => {
  await session?.close();
  await service?.close();
  await rm(home, { recursive: true, force: true });
});

const memoryFile = () => join(home, "memory.json");
const SERVERS: readonly Reference[] = [
  {
    server: "everything",
    slug: "everything",
    tools: 13,
    flags: ["--trust"],
    read: { tool: "get-sum", args: () => ({ a: 2, b: 40 }), expected: { text: "The sum of 2 and 40 is 42." } },
    write: {
      tool: "gzip-file-as-resource",
      args: () => ({ name: "a.gz", data: "data:text/plain;base64,bWlsaw==", outputType: "resource" }),
      check: async () => {},
    },
  },
  {
    server: "filesystem",
    slug: "files",
    tools: 14,
    flags: ["--trust"],
    args: () => [home],
    read: {
      tool: "read_text_file",
      args: () => ({ path: join(home, "note.txt") }),
      expected: { content: "milk" },
    },
    write: {
      tool: "write_file",
      args: () => ({ path: join(home, "new.txt"), content: "bread" }),
      check: async () => expect(await readFile(join(home, "new.txt"), "utf8")).toBe("bread"),
    },
  },
  {
    server: "memory",
    slug: "memory",
    tools: 9,
    flags: ["--trust", "--env", "MEMORY_FILE_PATH"],
    env: () => ({ MEMORY_FILE_PATH: memoryFile() }),
    read: { tool: "read_graph", args: () => ({}), expected: { entities: [], relations: [] } },
    write: {
      tool: "create_entities",
      args: () => ({ entities: [{ name: "Ada", entityType: "person", observations: ["likes milk"] }] }),
      check: async () => expect(await readFile(memoryFile(), "utf8")).toContain("Ada"),
    },
  },
  {
    // Not trusted: what it calls a read is a write here, and asks.
    server: "sequential-thinking",
    slug: "thinking",
    tools: 1,
    write: {
      tool: "sequentialthinking",
      args: () => ({ thought: "One.", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }),
      check: async () => {},
    },
  },
];

describe.each(SERVERS)("the $server server", (reference) => {
  const { server, slug, read, write } = reference;
  const program = findServer(server);
  const args = () => reference.args?.() ?? [];
  const run = async (tool: string, values: object): Promise<ToolOutcome> => {
    calls += 1;
    return session.call({ callId: `call-${calls}`, toolName: `${slug}_${tool}`, arguments: values });
  };

  test("is added by one command, and its tools are listed", async () => {
    const command = ["--", ...startOffline(program), ...args()];
    const added = await runSvc(
      ["--json", "add", "mcp", slug, "--yes", "--data", service.dataDir, ...(reference.flags ?? []), ...command],
      home,
      { env: reference.env?.() ?? {} },
    );
    expect(added.code, added.stderr).toBe(0);
    expect(JSON.parse(added.stdout)).toMatchObject({ added: slug, actions: reference.tools, connected: true });
    await waitForTool(service, `${slug}_${write.tool}`);
    const listed = await call(`${service.url}/api/tools?integration=${slug}&limit=200`, { key: service.apiKey });
    expect(listed.json.tools).toHaveLength(reference.tools);
  }, 60_000);

  test("its schemas reach the plugin byte for byte", async () => {
    const tools = await askServer(program, args());
    expect(tools).toHaveLength(reference.tools);
    await session.catalog.sync();
    for (const { name, inputSchema, line } of tools) {
      const said = JSON.stringify(inputSchema);
      expect(line).toContain(`"inputSchema":${said}`);
      const described = await call(`${service.url}/api/tools/${slug}_${name}`, { key: service.apiKey });
      expect(described.text).toContain(`"inputSchema":${said}`);
      expect(JSON.stringify((await session.catalog.find(`${slug}_${name}`))?.inputSchema)).toBe(said);
    }
  });

  if (read !== undefined) {
    test("a read runs without asking anybody", async () => {
      const asked = approve.requests.length;
      const outcome = await run(read.tool, read.args());
      expect(outcome, JSON.stringify(outcome)).toMatchObject({ status: "succeeded" });
      expect(outcome.result).toEqual(read.expected);
      expect(approve.requests).toHaveLength(asked);
    });
  }

  test("a write is approved by a human, and done", async () => {
    const asked = approve.requests.length;
    const outcome = await run(write.tool, write.args());
    expect(outcome, JSON.stringify(outcome)).toMatchObject({ status: "succeeded" });
    expect(approve.requests.slice(asked)).toMatchObject([{ tool: `${slug}_${write.tool}`, arguments: write.args() }]);
    await write.check();
  });

  test("killed, it is started again by itself, and works", async () => {
    const [pid, ...others] = await findChildren(process.pid, program);
    expect(others).toEqual([]);
    process.kill(pid ?? 0, "SIGKILL");
    await expect.poll(() => findChildren(process.pid, program), { timeout: 30_000 }).not.toContain(pid);
    await expect.poll(() => findChildren(process.pid, program), { timeout: 30_000 }).toHaveLength(1);
    const again = read ?? write;
    expect(await run(again.tool, again.args())).toMatchObject({ status: "succeeded" });
    const [connection] = await service.service.connections.list(slug);
    expect(connection?.state).toBe("healthy");
  }, 90_000);

  test("offers what was agreed to, still", async () => {
    const reviewed = await runSvc(["review", slug, "--data", service.dataDir], home);
    expect(reviewed.stdout).toMatch(/offers what you agreed to\.\n$/);
  });
});
