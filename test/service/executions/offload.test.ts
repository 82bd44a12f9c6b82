import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { call } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";

let service: TestService;

beforeEach(async () => {
  const { integration } = createLab();
  service = await startTestService({ integrations: [integration] });
  await service.service.connections.add({ integration: "lab", label: "L", settings: {} });
});
afterEach(() => service.close());

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  call(`${service.url}${path}`, { method: "POST", key: service.apiKey, headers, body: JSON.stringify(body) });
const canonical = (text: string, headers?: Record<string, string>) =>
  post("/api/executions", { integration_id: "lab", action_id: "look", input: { text } }, headers);
const optIn = { "x-svc-result": "offload" };

test("a large output is replaced only for a caller that opts in, and stays readable by its id", async () => {
  verifies("envelope.offload-opt-in", "decision.offload-header");
  const text = "é".repeat(40_000);
  const output = { args: { text }, connection: "L" };
  expect((await canonical(text)).json.output).toEqual(output);
  expect((await canonical(text, { "x-svc-result": "inline" })).json.output).toEqual(output);

  const { json } = await canonical(text, optIn);
  expect(json.output).toEqual({
    svc_result: "stored",
    execution_id: json.execution_id,
    bytes: Buffer.byteLength(JSON.stringify(output)),
    preview: JSON.stringify(output).slice(0, 2000),
  });
  const stored = await call(`${service.url}/api/executions/${json.execution_id}`, {
    key: service.apiKey,
    headers: optIn,
  });
  expect(stored.json.output).toEqual(output);

  const named = (await post("/api/tools/lab_look/execute", { arguments: { text } }, optIn)).json;
  expect(named.result).toMatchObject({ svc_result: "stored", execution_id: named.canonical.execution_id });
  expect(named.data).toEqual(named.result);
  expect(named.canonical.output).toEqual(named.result);
});

test("64 kB stay, one byte more goes", async () => {
  const frame = JSON.stringify({ args: { text: "" }, connection: "L" }).length;
  const fits = await canonical("x".repeat(64 * 1024 - frame), optIn);
  expect(fits.json.output.connection).toBe("L");
  const over = await canonical("x".repeat(64 * 1024 - frame + 1), optIn);
  expect(over.json.output).toMatchObject({ svc_result: "stored", bytes: 64 * 1024 + 1 });
});
