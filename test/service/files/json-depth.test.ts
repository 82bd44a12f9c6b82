import { afterAll, beforeAll, expect, test } from "vitest";
import { isTooDeep, MAX_JSON_DEPTH } from "../../../src/service/files/body-limits.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { call } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";

const nest = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

test("counts objects and arrays, however deep", () => {
  expect(isTooDeep(JSON.parse(nest(MAX_JSON_DEPTH + 1)))).toBe(false);
  expect(isTooDeep(JSON.parse(nest(MAX_JSON_DEPTH + 2)))).toBe(true);
  expect(isTooDeep(JSON.parse("[".repeat(500_000) + "]".repeat(500_000)))).toBe(true);
  for (const value of [1, null, "a", [], {}, undefined]) expect(isTooDeep(value)).toBe(false);
});

let service: TestService;
const logged: unknown[] = [];

beforeAll(async () => {
  const log = (entry: { level: string }) => entry.level === "error" && logged.push(entry);
  service = await startTestService({ integrations: [createLab().integration], log });
  await service.service.connections.add({ integration: "lab", label: "L", settings: {} });
});
afterAll(() => service.close());

test.each([
  [
    "/api/executions",
    (deep: string) => `{"integration_id":"lab","action_id":"look","input":${deep},"idempotency_key":"k"}`,
  ],
  ["/api/tools/lab_look/execute", (deep: string) => `{"arguments":${deep}}`],
  ["/api/flows/start", (deep: string) => `{"flowTemplate":"x","input":${deep}}`],
  ["/api/mcp", (deep: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${deep}}`],
])("a body that nests too deep for %s is refused and does no harm", async (path, wrap) => {
  for (const depth of [300, 5000, 40_000]) {
    const reply = await call(`${service.url}${path}`, { method: "POST", key: service.apiKey, body: wrap(nest(depth)) });
    expect([path, depth, reply.status]).toEqual([path, depth, 400]);
    expect(reply.text).toContain("deeper than 256 levels");
  }
  expect(logged).toEqual([]);
});
