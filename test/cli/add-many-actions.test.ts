import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { describeActions } from "../../src/cli/commands/add-source.ts";
import { createTerminal } from "../../src/cli/terminal.ts";
import { openSourceAdmin } from "../../src/service/added/open-source-admin.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc } from "../e2e/run-svc.ts";

/** A person agrees to what an app may do, so every action that may do something is on the screen, however many. */

const WRITES = 3;
const DELETES = 200;
const READS = 30;

let service: TestService;
let home: string;

beforeAll(async () => {
  service = await startTestService();
  home = await mkdtemp(join(tmpdir(), "svc-add-"));
  await writeFile(join(home, "store.json"), JSON.stringify(createDocument()));
});

afterEach(async () => {
  const admin = await openSourceAdmin({ dataDir: service.dataDir });
  for (const { slug } of await admin.list()) await admin.remove(slug);
  await admin.close();
});

afterAll(async () => {
  await service.close();
  await rm(home, { recursive: true, force: true });
});

/** Deletes are first, as a hostile document would hide them anywhere. */
function createDocument() {
  const make = (method: string, verb: string, count: number) =>
    Array.from({ length: count }, (_, index) => {
      const operationId = `${verb}_${index}`;
      return [`/${operationId}`, { [method]: { operationId, summary: `Does ${operationId}` } }] as const;
    });
  const paths = [...make("delete", "drop", DELETES), ...make("get", "look", READS), ...make("post", "put", WRITES)];
  return {
    openapi: "3.1.0",
    info: { title: "Store" },
    servers: [{ url: "https://store.example.org/v1" }],
    paths: Object.fromEntries(paths),
  };
}

const add = (flags: readonly string[], input?: string) =>
  runSvc(
    ["add", "openapi", "store", join(home, "store.json"), "--data", service.dataDir, ...flags],
    home,
    input === undefined ? {} : { input },
  );

test("every action that is not a read has a line before the question, the last of them those that do most harm", async () => {
  const { stdout } = await add([], "n\n");
  const lines = stdout.split("\n");
  const listed = lines.filter((line) => /^ {2}store_/.test(line));
  expect(listed).toHaveLength(WRITES + DELETES);
  expect(listed[0]).toBe("  store_put_0     write   Does put_0");
  expect(listed[WRITES]).toBe("  store_drop_0    delete  Does drop_0");
  expect(listed.at(-1)).toBe("  store_drop_199  delete  Does drop_199");
  expect(lines[0]).toBe(`Store (store): ${READS + WRITES + DELETES} actions: 30 read, 3 write, 200 delete.`);
});

test("reads are counted, and the first of them named", async () => {
  const { stdout } = await add([], "n\n");
  expect(stdout).toContain("\n  30 read: store_look_0, store_look_1, ");
  expect(stdout).toContain("store_look_11 and 18 more; --json names them all.\n");
  expect(stdout).not.toContain("store_look_12");
});

test("--json names every action with its effect", async () => {
  const run = await add(["--yes", "--json"]);
  expect(run.code, run.stderr).toBe(0);
  const { actions, tools } = JSON.parse(run.stdout);
  expect(actions).toBe(READS + WRITES + DELETES);
  expect(tools).toHaveLength(actions);
  expect(tools).toContainEqual({ name: "store_look_29", title: "Does look_29", effect: "read" });
  expect(tools).toContainEqual({ name: "store_drop_199", title: "Does drop_199", effect: "delete" });
});

test("no line is longer than the terminal", () => {
  const stdout: NodeJS.WriteStream = Object.assign(Object.create(process.stdout), { isTTY: true, columns: 60 });
  const terminal = createTerminal({ stdout, stderr: stdout, env: { NO_COLOR: "1" }, json: false });
  const make = (id: string, level: "read" | "write") => ({
    id,
    level,
    title: "Looks at a thing and tells what it is like, in every respect",
    description: "",
    requiresConfirmation: false,
    idempotent: false,
    inputSchema: { type: "object" },
    scopes: [],
    call: null,
  });
  const reads = Array.from({ length: 9 }, (_, index) => make(`look_${index}`, "read"));
  const actions = [make("put", "write"), ...reads];
  const content = { description: "", category: "", scopes: [], actions, settingsForm: [] };
  const lines = describeActions(terminal, { slug: "store", content }).join("\n").split("\n");
  expect(lines.filter((line) => line.length > 60)).toEqual([]);
  expect(lines[1]).toMatch(/^ {4}store_look_/);
  expect(lines.at(-1)).toMatch(/^ {2}store_put {2}write {3}Looks at a thing .*…$/);
});
