import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

beforeAll(async () => {
  service = await startTestService();
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
