import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createScriptedApprover } from "../../../src/plugin/calls/ask/scripted-approver.ts";
import { createToolSession, type ToolSession } from "../../../src/plugin/calls/session.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { waitForTool } from "../../service/added/wait-for-tool.ts";
import { runSvc } from "../run-svc.ts";
import { findProgram, startOffline } from "./find-servers.ts";

/** Eight MCP servers by others, each added by one command and called once, without a network. */

let service: TestService;
let home: string;
let session: ToolSession;

beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "svc-more-servers-")));
  await writeFile(join(home, "note.txt"), "milk");
  await writeFile(join(home, "a.drawio"), '<mxfile><diagram name="Shopping"><mxGraphModel/></diagram></mxfile>');
  await mkdir(join(home, "repository"));
  service = await startTestService();
  const approve = createScriptedApprover(["approve"]);
  session = await createToolSession({ baseUrl: service.url, apiKey: service.apiKey, mediaRoots: [home], approve });
});

afterAll(async () => {
  await session?.close();
  await service?.close();
  await rm(home, { recursive: true, force: true });
});

interface Server {
  readonly program: string;
  readonly tool: string;
  readonly args: () => object;
  /** What the answer holds. */
  readonly answer: RegExp;
  readonly words?: () => readonly string[];
  readonly env?: () => Record<string, string>;
  readonly check?: () => Promise<void>;
}

const thought = { thought: "One.", thought_number: 1, total_thoughts: 1, next_thought_needed: false };
const ada = { name: "Ada", entityType: "person", observations: ["likes milk"] };

const SERVERS: readonly (readonly [slug: string, server: Server])[] = [
  [
    "folder",
    {
      program: "@agent-infra/mcp-server-filesystem/dist/index.cjs",
      words: () => ["--allowed-directories", home],
      ...{ tool: "read_file", args: () => ({ path: join(home, "note.txt") }), answer: /milk/ },
    },
  ],
  [
    "bank",
    {
      program: "@allpepper/memory-bank-mcp/dist/main/index.js",
      env: () => ({ MEMORY_BANK_ROOT: home }),
      ...{ tool: "memory_bank_write", args: () => ({ projectName: "shop", fileName: "a.md", content: "bread" }) },
      answer: /written successfully/,
      check: async () => expect(await readFile(join(home, "shop", "a.md"), "utf8")).toBe("bread"),
    },
  ],
  [
    "calc",
    {
      program: "@coo-quack/calc-mcp/dist/index.js",
      ...{ tool: "math", args: () => ({ expression: "2*21" }), answer: /42/ },
    },
  ],
  [
    "git",
    {
      program: "@cyanheads/git-mcp-server/dist/index.js",
      ...{ tool: "git_init", args: () => ({ path: join(home, "repository") }), answer: /repository/ },
    },
  ],
  [
    "drawing",
    {
      program: "@drawio/mcp/src/index.js",
      ...{ tool: "list_pages", args: () => ({ path: join(home, "a.drawio") }), answer: /Shopping/ },
    },
  ],
  [
    "graph",
    {
      program: "@itseasy21/mcp-knowledge-graph/dist/index.js",
      env: () => ({ MEMORY_FILE_PATH: join(home, "graph.jsonl") }),
      ...{ tool: "create_entities", args: () => ({ entities: [ada] }), answer: /Ada/ },
    },
  ],
  [
    "thinking",
    {
      program: "mcp-sequentialthinking-tools/dist/index.js",
      ...{ tool: "sequentialthinking_tools", args: () => ({ available_mcp_tools: ["a"], ...thought }), answer: /1/ },
    },
  ],
  [
    "time",
    {
      program: "time-mcp/dist/index.js",
      ...{ tool: "days_in_month", args: () => ({ date: "2026-02-01" }), answer: /28/ },
    },
  ],
];

test.each(SERVERS)(
  "%s",
  async (slug, { program, tool, args, answer, words, env, check }) => {
    const variables = env?.() ?? {};
    const flags = Object.keys(variables).flatMap((name) => ["--env", name]);
    const command = ["--", ...startOffline(findProgram(program)), ...(words?.() ?? [])];
    const add = ["--json", "add", "mcp", slug, "--yes", "--data", service.dataDir, ...flags, ...command];
    const added = await runSvc(add, home, { env: variables });
    expect(added.code, added.stderr).toBe(0);
    await waitForTool(service, `${slug}_${tool}`);
    const outcome = await session.call({ callId: slug, toolName: `${slug}_${tool}`, arguments: args() });
    expect(outcome, JSON.stringify(outcome)).toMatchObject({ status: "succeeded" });
    expect(JSON.stringify(outcome.result)).toMatch(answer);
    await check?.();
  },
  120_000,
);
