import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Schema, Validator } from "@cfworker/json-schema";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createScriptedApprover } from "../../../src/plugin/calls/ask/scripted-approver.ts";
import { createToolSession, type ToolSession } from "../../../src/plugin/calls/session.ts";
import { createArgumentGuard } from "../../../src/plugin/schema/repair/argument-guard.ts";
import { openSourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { startMockApi } from "../../apps/openapi/mock-api.ts";
import { findUsable } from "../../service/added/find-usable.ts";
import { waitForTool } from "../../service/added/wait-for-tool.ts";
import { call } from "../../service/http-calls.ts";
import { runSvc } from "../run-svc.ts";
import { GITHUB_DOCUMENT } from "./find-servers.ts";
import { makeSample } from "./make-sample.ts";
import { type ServedService, serveAndPair } from "./serve-and-pair.ts";

/** GitHub's whole OpenAPI document, imported beside a service that runs in a process of its own. */

// The upload of a release file has a server of its own, and is left out.
const OPERATIONS = 1217;
const TOKEN = "token-of-the-test";
const MB = 1024 * 1024;

let home: string;
let api: Awaited<ReturnType<typeof startMockApi>>;
let service: ServedService;
let session: ToolSession;
const approve = createScriptedApprover(["approve"]);

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-github-"));
  api = await startMockApi();
  service = await serveAndPair(home);
  session = await createToolSession({ baseUrl: service.url, apiKey: service.apiKey, mediaRoots: [home], approve });
}, 60_000);

afterAll(async () => {
  await session?.close();
  service?.process.kill("SIGTERM");
  await service?.process.done;
  await api?.close();
  await rm(home, { recursive: true, force: true });
});

/** Resident memory of the service's process now, and the most it ever had; bytes. */
async function readMemory({ process }: ServedService): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${process.pid}/status`, "utf8");
  const read = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
  return { now: read("VmRSS"), peak: read("VmHWM") };
}

const show = (bytes: number) => `${(bytes / MB).toFixed(0)} MB`;
const get = (path: string) => call(service.url + path, { key: service.apiKey });

test("every operation is imported by one command, in a process of its own", async () => {
  await get("/api/tools?limit=200");
  const before = await readMemory(service);
  const flags = ["--token", "--private", "--base-url", api.url, "--yes"];
  const added = await runSvc(["--json", "add", "openapi", "github", GITHUB_DOCUMENT, ...flags], home, {
    env: { SVC_GITHUB_ACCESS_TOKEN: TOKEN },
  });
  expect(added.code, added.stderr).toBe(0);
  const { actions, connected } = JSON.parse(added.stdout);
  expect([actions, connected]).toEqual([OPERATIONS, true]);
  await waitForTool(service, "github_meta_root");
  await get("/api/tools?integration=github&limit=200");
  const after = await readMemory(service);
  console.log(
    `GitHub: ${actions} operations imported. The service had ${show(before.now)} before, ${show(after.now)} after.`,
  );
  expect(added.stdout + added.stderr + service.process.output()).not.toContain(TOKEN);
}, 120_000);

test("the service needs no more memory for it than one that finds the actions stored", async () => {
  const imported = await readMemory(service);
  service.process.kill("SIGTERM");
  await service.process.done;
  service = await serveAndPair(home);
  await session.close();
  session = await createToolSession({ baseUrl: service.url, apiKey: service.apiKey, mediaRoots: [home], approve });
  await waitForTool(service, "github_meta_root");
  await get("/api/tools?integration=github&limit=200");
  const stored = await readMemory(service);
  console.log(
    `Peak of the service that took the import: ${show(imported.peak)}; of one started later: ${show(stored.peak)}.`,
  );
  // Reading the document needs some 400 MB.
  expect(imported.peak).toBeLessThan(stored.peak + 80 * MB);
}, 60_000);

test("every name is legal and one of a kind; every schema compiles and takes a sample", async () => {
  const admin = await openSourceAdmin({ dataDir: join(home, "service") });
  const source = await findUsable(admin, "github");
  await admin.close();
  const actions = source.content.actions;
  expect(new Set(actions.map(({ id }) => id)).size).toBe(OPERATIONS);
  let strict = 0;
  for (const { id, inputSchema } of actions) {
    expect(`github_${id}`).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    const validator = new Validator(inputSchema as Schema, "2020-12");
    const guard = createArgumentGuard(inputSchema);
    const sample = makeSample(inputSchema);
    const problems = validator
      .validate(sample)
      .errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`);
    expect(problems, `${id} ${JSON.stringify(sample)}`).toEqual([]);
    expect(guard(sample).problems, id).toEqual([]);
    if (inputSchema.required === undefined) continue;
    strict += 1;
    expect(validator.validate({}).valid, id).toBe(false);
    expect(guard({}).ok, id).toBe(false);
  }
  const levels = Map.groupBy(actions, ({ level }) => level);
  console.log(
    `${strict} of ${actions.length} operations have required arguments; levels: ${[...levels].map(([level, { length }]) => `${length} ${level}`).join(", ")}.`,
  );
  expect([...levels.keys()].sort()).toEqual(["delete", "read", "write"]);
}, 60_000);

test("reads go to the API with the token, and their answers come back", async () => {
  api.answer({ body: '{"full_name":"o/r","private":false}' }, { body: "[]" });
  const repo = await run("repos_get", { owner: "o", repo: "r" });
  expect(repo).toMatchObject({ status: "succeeded", result: { full_name: "o/r" } });
  const issues = await run("issues_list-for-repo", { owner: "o", repo: "r", state: "open", per_page: 5 });
  expect(issues).toMatchObject({ status: "succeeded", result: [] });
  expect(api.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "GET /v1/repos/o/r",
    "GET /v1/repos/o/r/issues?state=open&per_page=5",
  ]);
  expect(new Set(api.seen.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${TOKEN}`]));
  expect(approve.requests).toEqual([]);
});

test("a write is sent once, after a human has approved exactly it", async () => {
  api.seen.length = 0;
  api.answer({ status: 201, body: '{"number":7}' });
  const args = { owner: "o", repo: "r", title: "Door stuck", labels: ["bug"] };
  expect(await run("issues_create", args)).toMatchObject({ status: "succeeded", result: { number: 7 } });
  expect(approve.requests).toMatchObject([{ tool: "github_issues_create", arguments: args }]);
  expect(api.seen.map(({ method, path, body }) => [method, path, JSON.parse(body.toString())])).toEqual([
    ["POST", "/v1/repos/o/r/issues", { title: "Door stuck", labels: ["bug"] }],
  ]);
});

function run(action: string, args: object) {
  return session.call({ callId: action, toolName: `github_${action}`, arguments: args });
}
