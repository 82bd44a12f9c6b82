import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openSourceAdmin, type SourceAdmin } from "../../src/service/added/open-source-admin.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc } from "../e2e/run-svc.ts";
import { findUsable } from "../service/added/find-usable.ts";
import { waitForTool } from "../service/added/wait-for-tool.ts";
import { call, execute } from "../service/http-calls.ts";

/** Levels that the owner gives to single actions of an added app, or to all that match a pattern. */

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Wiki" },
  servers: [{ url: "https://wiki.example.org" }],
  paths: {
    "/search": { post: { operationId: "search_pages", summary: "Finds pages." } },
    "/pages": { get: { operationId: "list_pages", summary: "Lists pages." } },
    "/page": {
      put: { operationId: "put_page", summary: "Writes a page." },
      delete: { operationId: "delete_page", summary: "Deletes a page." },
    },
  },
};

let service: TestService;
let admin: SourceAdmin;
let home: string;
const logged: string[] = [];

beforeAll(async () => {
  service = await startTestService({ log: ({ message }) => logged.push(message) });
  admin = await openSourceAdmin({ dataDir: service.dataDir });
  home = await mkdtemp(join(tmpdir(), "svc-levels-"));
  await writeFile(join(home, "wiki.json"), JSON.stringify(DOCUMENT));
});

afterEach(() => admin.remove("wiki"));

afterAll(async () => {
  await admin.close();
  await service.close();
  await rm(home, { recursive: true, force: true });
});

const svc = (args: readonly string[], input?: string) =>
  runSvc([...args, "--data", service.dataDir], home, input === undefined ? {} : { input });
const add = (...flags: string[]) => svc(["add", "openapi", "wiki", join(home, "wiki.json"), "--yes", ...flags]);

async function readLevels(): Promise<Record<string, string>> {
  const { content } = await findUsable(admin, "wiki");
  return Object.fromEntries(content.actions.map(({ id, level }) => [id, level]));
}

test("levels are set while an app is added: shown before the question, and used by the service", async () => {
  const run = await add("--level", "search_*=read", "--level", "list_pages=admin", "--level", "drop_*=delete");
  expect(run.code, run.stderr).toBe(0);
  expect(run.stdout).toContain("Wiki (wiki): 4 actions: 1 read, 1 write, 1 delete, 1 admin.\n");
  expect(run.stdout).toContain("Note: Levels set by you: search_*=read, list_pages=admin, drop_*=delete.\n");
  expect(run.stdout).toContain("Note: No action matches drop_*=delete; it counts for actions that come later.\n");
  await waitForTool(service, "wiki_search_pages");
  const { json } = await call(`${service.url}/api/tools/wiki_search_pages`, { key: service.apiKey });
  expect(json.tool).toMatchObject({ accessLevel: "read", requiresConfirmation: false, policyReason: null });
  expect((await execute(service, "wiki_list_pages")).status).toBe(412);
});

test("an app that takes the place of another keeps its levels, unless others are given", async () => {
  await add("--level", "search_*=read");
  const { definition } = await findUsable(admin, "wiki");
  await add("--replace");
  expect(await readLevels()).toMatchObject({ search_pages: "read", put_page: "write" });
  expect((await findUsable(admin, "wiki")).definition).toEqual(definition);
  await add("--replace", "--level", "put_page=read");
  expect(await readLevels()).toMatchObject({ search_pages: "write", put_page: "read" });
});

test.each(["search_*", "search_*=reed", "search pages=read", "=read"])(
  "%j is refused before anything is read",
  async (rule) => {
    const run = await svc(["add", "openapi", "wiki", join(home, "none.json"), "--yes", "--level", rule]);
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(`"${rule}" sets no level.`);
    expect(run.stderr).toContain("read, write, delete, admin");
  },
);

test("svc review shows the level of each action and where it comes from", async () => {
  await add("--level", "search_*=read");
  const run = await svc(["review", "wiki"]);
  expect(run.stdout.split("\n")).toEqual([
    expect.stringMatching(/^ {2}wiki_search_pages {2}read {4}search_\*=read, set by command \d{4}-\d\d-\d\d$/),
    "  wiki_list_pages    read    HTTP method",
    "  wiki_put_page      write   HTTP method",
    "  wiki_delete_page   delete  HTTP method",
    "Levels set by you: search_*=read.",
    "Wiki offers what you agreed to.",
    "",
  ]);
  const json = JSON.parse((await svc(["review", "wiki", "--json"])).stdout);
  expect(json).toMatchObject({ slug: "wiki", proposal: null, trusted: true });
  expect(json.rules).toEqual([
    { pattern: "search_*", level: "read", setIn: "command", setAt: expect.stringMatching(/^20\d\d-/) },
  ]);
  expect(json.actions).toContainEqual({
    name: "wiki_put_page",
    title: "Writes a page.",
    effect: "write",
    from: "mark",
  });
});

test("a level is raised at once, and lowered after a yes; the service follows, and says so in its log", async () => {
  await add();
  const raised = await svc(["review", "wiki", "--level", "list_*=write"]);
  expect(raised.code, raised.stderr).toBe(0);
  expect(raised.stdout).toContain("  wiki_list_pages  write   so far read\n");
  expect((await readLevels()).list_pages).toBe("write");

  const lower = ["review", "wiki", "--level", "*_page=read"];
  const refused = await svc(lower, "n\n");
  expect(refused.code).toBe(4);
  expect(refused.stdout).toMatch(/wiki_put_page +read +so far write\n {2}wiki_delete_page +read +so far delete\n/);
  expect(refused.stdout).toMatch(/Lower the level of 2 of them\? \[y\/N\] \nNothing was changed\.\n$/);
  expect((await svc(lower)).stderr).toContain("Nobody answered.");
  expect(await readLevels()).toMatchObject({ put_page: "write", delete_page: "delete" });

  await waitForTool(service, "wiki_put_page");
  const env = { SVC_BASE_URL: service.url, SVC_API_KEY: service.apiKey };
  expect((await runSvc(["tools", "--pin"], home, { env })).code).toBe(0);
  expect((await svc([...lower, "--level", "delete_page=own"], "y\n")).code).toBe(0);
  expect(await readLevels()).toMatchObject({ put_page: "read", delete_page: "delete", list_pages: "write" });
  const look = async () => (await call(`${service.url}/api/tools/wiki_put_page`, { key: service.apiKey })).json.tool;
  await expect.poll(look, { timeout: 30_000 }).toMatchObject({ accessLevel: "read", requiresConfirmation: false });
  const checked = await runSvc(["tools", "--check"], home, { env });
  expect(checked.stdout).toMatch(/changed +read +wiki_put_page: .* its effect \(write before, read now\)/);
  expect(logged.join("\n")).toMatch(/"wiki_put_page" has the level read now\. \*_page=read, set by command \d/);
}, 60_000);

test("a server's own marks are trusted after a yes, and no more after another", async () => {
  const server = fileURLToPath(new URL("../apps/mcp/fixture-server.ts", import.meta.url));
  await runSvc(
    [
      "add",
      "mcp",
      "wiki",
      "--yes",
      "--data",
      service.dataDir,
      "--level",
      "fail=admin",
      "--",
      process.execPath,
      server,
      home,
    ],
    home,
  );
  const untrusted = (await svc(["review", "wiki"])).stdout;
  expect(untrusted).toMatch(/ {2}wiki_look +write +The server says read, but is not trusted\n/);
  expect((await svc(["review", "wiki", "--trust"], "n\n")).code).toBe(4);
  expect((await readLevels()).look).toBe("write");
  expect((await svc(["review", "wiki", "--trust", "--yes"])).code).toBe(0);
  expect(await readLevels()).toMatchObject({ look: "read", note: "write", wipe: "delete", fail: "admin" });
  const trusted = (await svc(["review", "wiki"])).stdout;
  expect(trusted).toMatch(/ {2}wiki_look +read +The server says so\n/);
  expect(trusted).toMatch(/ {2}wiki_die +write +The server says nothing\n/);
  // What deletes would be a write again, which more programs may run.
  const asked = await svc(["review", "wiki", "--no-trust"], "y\n");
  expect(asked.code, asked.stderr).toBe(0);
  expect(asked.stdout).toContain("Lower the level of 1 of them? [y/N]");
  expect(await readLevels()).toMatchObject({ look: "write", wipe: "write", fail: "admin" });
}, 60_000);

test("only an MCP server has marks that can be trusted", async () => {
  await add();
  const run = await svc(["review", "wiki", "--trust"]);
  expect(run.code).toBe(2);
  expect(run.stderr).toContain("Wiki is not an MCP server");
});
