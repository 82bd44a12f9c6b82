import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { prepareOpenApi } from "../../src/apps/openapi/prepare-openapi.ts";
import { serveMcp } from "../../src/plugin/runtimes/mcp/serve-mcp.ts";
import { openSourceAdmin } from "../../src/service/added/open-source-admin.ts";
import { parseExactly } from "../../src/shared/base/exact-number.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { startMockApi } from "../apps/openapi/mock-api.ts";
import { runSvc } from "../e2e/run-svc.ts";
import { closeAll, closeLater } from "../plugin/calls/open-test-session.ts";
import { waitForTool } from "../service/added/wait-for-tool.ts";
import { openBrowser } from "../service/http/pages/browser.ts";
import { call } from "../service/http-calls.ts";
import { makeHost } from "./contract.ts";
import type { Door, Turn } from "./door.ts";
import { DOORS } from "./doors.ts";

/** Numbers that a double would change go through every door with all their digits: to the app, its answer, and the card. */

const SENT = "9007199254740993";
const ANSWERED = "9007199254740995";
const ROUNDED = 9007199254740992;
/** Runtimes that parse the JSON of a model before we see it. */
const PARSES_FIRST = [
  ...["LangChain", "LangChain with the approval middleware", "ToolNode of LangGraph"],
  ...["AI SDK", "OpenAI Agents SDK", "OpenClaw"],
];

let service: TestService;
let api: Awaited<ReturnType<typeof startMockApi>>;
let folder: string;

const schema = { type: "object", properties: { n: { type: "integer", format: "int64" } }, required: ["n"] };
const paths = {
  "/put": {
    post: { operationId: "put", requestBody: { required: true, content: { "application/json": { schema } } } },
  },
  "/get/{n}": {
    get: { operationId: "get", parameters: [{ name: "n", in: "path", required: true, schema: schema.properties.n }] },
  },
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-exact-"));
  api = await startMockApi();
  api.behave({ body: `{"id":${ANSWERED}}` });
  service = await startTestService();
  const document = join(folder, "exact.json");
  const servers = [{ url: api.url }];
  await writeFile(
    document,
    JSON.stringify({ openapi: "3.0.3", info: { title: "Exact", version: "1" }, servers, paths }),
  );
  const place = { slug: "exact", document, name: undefined, baseUrl: undefined, isPrivate: true, takesToken: false };
  const { source } = await prepareOpenApi(place);
  const admin = await openSourceAdmin({ dataDir: service.dataDir });
  await admin.add(source, { connection: { label: "Exact", settings: {} } });
  await admin.close();
  await waitForTool(service, "exact_put");
}, 60_000);

beforeEach(() => {
  api.seen.length = 0;
});
afterEach(closeAll);
afterAll(async () => {
  await service?.close();
  await api?.close();
  await rm(folder, { recursive: true, force: true });
});

const readSent = () => api.seen.map(({ path, body }) => path.replace("/v1", "") + body.toString());
const made = [`/put{"n":${SENT}}`];

async function approveAll(door: Awaited<ReturnType<Door["open"]>>, first: Turn) {
  const { saved, questions, told } = first;
  if (questions.length === 0) return { card: "", told };
  const turn = await door.resume(
    saved,
    questions.map(() => "approve" as const),
  );
  return { card: questions.join("\n"), told: [...told, ...turn.told] };
}

test.each(DOORS.filter(({ approvals }) => approvals === undefined))("through $name", async (door) => {
  const host = { ...(await makeHost(service)), apps: ["exact"] };
  const open = await closeLater(await door.open(host));
  const play = async (id: string, n: unknown) =>
    approveAll(open, await open.start([{ id, name: "exact_put", args: { n } }]));
  if (PARSES_FIRST.includes(door.name)) {
    const rounded = await play("rounded", ROUNDED);
    expect(rounded.card).toBe("");
    expect(rounded.told.join("\n")).toContain("n is too large a number");
    expect(readSent()).toEqual([]);
  }
  const { card, told } = await play("exact", PARSES_FIRST.includes(door.name) ? SENT : parseExactly(SENT));
  expect(card).toContain(`n: ${SENT}`);
  expect(readSent()).toEqual(made);
  // The clients of these two parse by themselves.
  if (!["svc mcp", "/api/mcp"].includes(door.name))
    expect(told.join("\n")).toMatch(new RegExp(`id[\\\\"]*:${ANSWERED}`));
});

const headers = { "content-type": "application/json" };
const post = (path: string, body: string) =>
  call(`${service.url}${path}`, { method: "POST", key: service.apiKey, headers, body });

test("over HTTP, and on the page of the log", async () => {
  const body = `{"arguments":{"n":${SENT}},"confirmed":true}`;
  const answer = await post("/api/tools/exact_put/execute", body);
  expect(answer.text).toContain(`{"id":${ANSWERED}}`);
  await post("/api/tools/exact_get/execute", `{"arguments":{"n":"${SENT}"}}`);
  await post("/api/tools/exact_get/execute", `{"arguments":{"n":-${SENT}}}`);
  expect(readSent()).toEqual([...made, `/get/-${SENT}`]);
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const { text: log } = await browser.open(`${service.url}/log`);
  const [, id] = /href="\/log\/([\w-]+)"/.exec(log.slice(log.indexOf(SENT))) ?? [];
  const stored = await call(`${service.url}/api/executions/${id}`, { key: service.apiKey });
  expect(stored.text).toContain(ANSWERED);
  const { text } = await browser.open(`${service.url}/log/${id}`);
  expect(text).toContain(SENT);
  expect(text).toContain(ANSWERED);
});

test("through svc call, a process of its own", async () => {
  const home = await mkdtemp(join(folder, "call-"));
  const env = { SVC_API_KEY: service.apiKey, SVC_BASE_URL: service.url };
  const run = await runSvc(["call", "exact_put", "--args", `{"n":${SENT}}`], home, { input: "a\n", env });
  expect(run.stdout + run.stderr).toContain(`n: ${SENT}`);
  expect(run.stdout).toContain(ANSWERED);
  const read = await runSvc(["--json", "call", "exact_get", "--args", `{"n":${SENT}}`], home, { env });
  expect(read.stdout).toMatch(new RegExp(`"id": ?${ANSWERED}`));
  expect(readSent()).toEqual([...made, `/get/${SENT}`]);
});

test("through /api/mcp", async () => {
  const params = `{"name":"svc.execute","arguments":{"integration_id":"exact","action_id":"get","input":{"n":${SENT}}}}`;
  const body = (text: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${text}}`;
  const answer = await post("/api/mcp", body(params));
  expect(answer.text).toContain(ANSWERED);
  expect(readSent()).toEqual([`/get/${SENT}`]);
});

test("through flows: in a template, in an input, and in what later steps see", async () => {
  await mkdir(join(service.dataDir, "templates"), { recursive: true });
  const step = (key: string, n: string) => `{"key":"${key}","call":"exact_get","arguments":{"n":${n}}}`;
  const steps = [step("first", SENT), step("second", '"{{steps.first.id}}"')].join(",");
  const template = `{"name":"Exact","description":"Keeps digits.","steps":[${steps}]}`;
  await writeFile(join(service.dataDir, "templates", "exact.json"), template);
  const { text } = await post("/api/flows/start", '{"flowTemplate":"exact","input":{}}');
  expect(readSent(), text).toEqual([`/get/${SENT}`, `/get/${ANSWERED}`]);
});

test("through an approval of a flow, and on its page", async () => {
  await mkdir(join(service.dataDir, "templates"), { recursive: true });
  const steps = `{"key":"ask","approve":"Put it?"},{"key":"put","call":"exact_put","arguments":{"n":${SENT}}}`;
  const template = `{"name":"Asked","description":"Asks first.","steps":[${steps}]}`;
  await writeFile(join(service.dataDir, "templates", "asked.json"), template);
  const started = await post("/api/flows/start", '{"flowTemplate":"asked","input":{}}');
  expect(readSent(), started.text).toEqual([]);
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const { flowId } = JSON.parse(started.text);
  expect((await browser.open(`${service.url}/flows/${flowId}`)).text).toContain(SENT);
  await post(`/api/flows/${flowId}/approve`, "{}");
  await expect.poll(readSent, { timeout: 10_000 }).toEqual(made);
});

test("through the lines of svc mcp", async () => {
  const [input, output, stop] = [new PassThrough(), new PassThrough(), new AbortController()];
  const { home, stateDir, baseUrl, apiKey } = await makeHost(service);
  const session = { baseUrl, apiKey, stateDir, mediaRoots: [home] };
  const rest = { version: "1", tools: ["exact_get"], maxToolTokens: 0, waitMs: 0, log: () => {} };
  const serving = serveMcp({ session, ...rest, input, output, signal: stop.signal });
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  const ask = async (id: number, method: string, params: string) => {
    input.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`);
    for (;;) {
      const { value } = await lines.next();
      if (String(value).includes(`"id":${id}`)) return String(value);
    }
  };
  const client = '"capabilities":{},"clientInfo":{"name":"test","version":"1"}';
  await ask(1, "initialize", `{"protocolVersion":"2025-06-18",${client}}`);
  const answer = await ask(2, "tools/call", `{"name":"exact_get","arguments":{"n":${SENT}}}`);
  expect(answer.split(ANSWERED)).toHaveLength(3);
  expect(readSent()).toEqual([`/get/${SENT}`]);
  stop.abort();
  await serving;
});
