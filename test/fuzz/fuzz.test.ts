import fc, { type Arbitrary } from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInIntegrations } from "../../src/apps/built-in.ts";
import type { Integration } from "../../src/apps/port/integration.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { verifies } from "../contract/verifies.ts";
import { call, execute, post } from "../service/http-calls.ts";
import { fromSchema } from "./arbitraries.ts";
import { type FuzzDocument, type FuzzOperation, readDocument } from "./document.ts";
import { CRASH, fuzzIntegration } from "./fuzz-integration.ts";
import { FUZZ_FACTOR, FUZZ_SECONDS, fuzzOptions } from "./fuzz-options.ts";
import { type Hints, requestsFor } from "./requests.ts";
import { createSender, type Sender } from "./send.ts";

/** Requests sent side by side; a failing batch is shrunk to the request that matters. */
const BATCH = 16;
const MAX_BATCHES = 300;
const BUDGET_MS = 48_000;

const integrations: readonly Integration[] = [fuzzIntegration, ...builtInIntegrations];

let service: TestService;
let sender: Sender;
let document: FuzzDocument;
let hints: Hints;
let toolHints: readonly Hints[];
const logged: string[] = [];

beforeAll(async () => {
  service = await startTestService({
    integrations,
    log: ({ level, message, cause }) => {
      const detail = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
      if (level === "error" && !detail.includes(CRASH)) logged.push(`${message} ${detail}`);
    },
  });
  await service.service.connections.add({ integration: "lab", label: "Lab", settings: {} });
  document = await readDocument(service.url);
  sender = createSender(service.url, [service.dataDir, CRASH]);
  hints = await gatherHints();
  toolHints = await gatherToolHints();
});
afterAll(async () => {
  await sender.close();
  await service.close();
});

const FILES = [
  { pointer: "p1", name: "a.txt", mimetype: "text/plain", md5: "0cc175b9c0f1b6a831c399e269772661", dataBase64: "YQ==" },
];

const get = async (path: string) => (await call(`${service.url}${path}`, { key: service.apiKey })).json;
const send = async (path: string, body: unknown) =>
  (await call(`${service.url}${path}`, { method: "POST", key: service.apiKey, body: JSON.stringify(body) })).json;

/** Values that exist in the running service. */
async function gatherHints(): Promise<Hints> {
  const ran = await Promise.all(["open", "put"].map((tool) => execute(service, `lab_${tool}`, { arguments: {} })));
  const id = ran.map((reply) => reply.json.canonical.execution_id).find((found) => found !== null);
  const pairing = (await post(`${service.url}/api/plugin/pair/start`)).json;
  const installer = (await post(`${service.url}/api/installer/bootstrap-sessions`)).json;
  const templates = (await get("/api/flows/templates")).templates.map(({ key }: { key: string }) => key);
  const flow = await send("/api/flows/start", { flowTemplate: templates[0], input: {} });
  return {
    id: fc.constantFrom(id, flow.flowId),
    flowTemplate: fc.constantFrom(...templates),
    token: fc.constantFrom(pairing.sessionToken, String(installer.poll_url).split("/").at(-1)),
    verifier: fc.constantFrom(pairing.verifier, "wrong"),
    files: fc.constantFrom([], FILES),
    category: fc.constantFrom("mail", "Files", "tests"),
    query: fc.constantFrom("send mail", "a file", "notes", "lab_open"),
    intent: fc.constantFrom("delete", "look for something"),
    supports_action: fc.constantFrom("open", "mail_search"),
    confirmed: fc.constantFrom(true, false),
    confirm: fc.constantFrom(true, false),
    idempotency_key: fc.stringMatching(/^[a-z]{1,2}$/),
    method: fc.constantFrom("initialize", "tools/list", "tools/call", "ping", "notifications/initialized"),
  };
}

/** Names, arguments and a connection that belong together, one set for each action. */
async function gatherToolHints(): Promise<readonly Hints[]> {
  const connections = await service.service.connections.list();
  return integrations.flatMap(({ slug, actions }) =>
    actions.map((action) => {
      const args = fromSchema(action.inputSchema, { resolve: (schema) => schema });
      return {
        name: fc.constant(`${slug}_${action.id}`),
        integration: fc.constant(slug),
        integration_id: fc.constant(slug),
        action_id: fc.constantFrom(action.id, `${slug}_${action.id}`),
        arguments: args,
        input: args,
        connectionId: fc.constantFrom(...connections.filter((one) => one.integration === slug).map((one) => one.id)),
      };
    }),
  );
}

const keys = (apiKey: string): Arbitrary<Record<string, string>> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constant({ "x-svc-api-key": apiKey }) },
    { weight: 4, arbitrary: fc.constant({ authorization: `Bearer ${apiKey}` }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Record<string, string>>(
        {},
        { authorization: "Bearer x" },
        { "x-svc-api-key": "svc_live_x" },
      ),
    },
  );

describe("generated requests", () => {
  test("find no answer that the OpenAPI document does not describe", {
    timeout: FUZZ_SECONDS * 3000 + 30_000,
  }, async () => {
    const seen: string[] = [];
    // The quickest first: the time they leave goes to the others.
    const operations = document.operations.toSorted((a, b) => weigh(a) - weigh(b));
    const startedAt = performance.now();
    let weight = operations.reduce((sum, operation) => sum + weigh(operation), 0);
    for (const operation of operations) {
      const left = Math.max(1000, BUDGET_MS - (performance.now() - startedAt) / FUZZ_FACTOR);
      const statuses = await fuzz(operation, (left * weigh(operation)) / weight);
      weight -= weigh(operation);
      const count = [...statuses.values()].reduce((sum, one) => sum + one, 0);
      const shares = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${status} x${times}`);
      seen.push(`${operation.method} ${operation.path}: ${count} (${shares.join(", ")})`);
      expect(statuses.size, `${operation.path} was not reached`).toBeGreaterThan(0);
    }
    console.log(seen.join("\n"));
    expect(logged).toEqual([]);
  });
});

/** Share of the time: an operation that takes nothing has little to get wrong, one that executes has most. */
function weigh({ method, path, parameters }: FuzzOperation): number {
  if (method === "POST") return /execut/.test(path) ? 12 : 4;
  return parameters.some((parameter) => parameter.in !== "header") ? 2 : 0.5;
}

async function fuzz(operation: FuzzOperation, budgetMs: number): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const o = { keys: keys(service.apiKey) };
  const request = fc.oneof(
    ...toolHints.map((own) => requestsFor(operation, document, { ...o, hints: { ...hints, ...own } })),
  );
  const until = performance.now() + budgetMs * FUZZ_FACTOR;
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: BATCH, size: "max" }), async (batch) => {
      if (performance.now() > until && statuses.size > 0) return;
      const results = await Promise.all(batch.map((one) => sender.judge(operation, one)));
      for (const { status } of results) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const found = results.flatMap(({ status, problems }) => problems.map((problem) => `${status} ${problem}`));
      expect([...found, ...logged.splice(0)]).toEqual([]);
    }),
    fuzzOptions({ runs: MAX_BATCHES }),
  );
  return statuses;
}

describe("without a key", () => {
  test("every guarded path answers 401", async () => {
    verifies("auth.key-required");
    const guarded = document.operations.filter((operation) => operation.isGuarded);
    expect(guarded.length).toBeGreaterThan(15);
    for (const { method, path, check } of guarded) {
      const target = path.replaceAll(/\{[^}]+\}/g, "x");
      for (const headers of [
        {},
        { "x-svc-api-key": "" },
        { authorization: "Bearer svc_live_x" },
        { authorization: "Basic eDp5" },
      ]) {
        const reply = await call(`${service.url}${target}`, {
          method,
          headers,
          ...(method === "POST" && { body: "{}" }),
        });
        expect([path, reply.status]).toEqual([path, 401]);
        expect(check(401, String(reply.headers["content-type"]), reply.text)).toEqual([]);
      }
    }
  });
});
