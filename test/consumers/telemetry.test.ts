import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { OpenTelemetryApi } from "../../src/service/telemetry/telemetry.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { PACKAGE_ROOT } from "../package/read-package.ts";
import { call, execute } from "../service/http-calls.ts";
import { createLab } from "../service/lab-integration.ts";

/** A span as the real SDK hands it to an exporter. */
interface Span {
  readonly name: string;
  readonly kind: number;
  readonly status: { readonly code: number };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly parentSpanContext?: { readonly spanId: string };
  spanContext(): { readonly traceId: string; readonly spanId: string };
}

interface Sdk {
  readonly InMemorySpanExporter: new () => { getFinishedSpans(): Span[]; reset(): void };
  readonly SimpleSpanProcessor: new (exporter: unknown) => unknown;
  readonly NodeTracerProvider: new (o: {
    spanProcessors: unknown[];
  }) => { register(): void; shutdown(): Promise<void> };
}

const place = (name: string) => join(PACKAGE_ROOT, "test/consumers/node_modules", name);
const api: OpenTelemetryApi = await import(place("@opentelemetry/api/build/src/index.js"));
const sdk: Sdk = await import(place("@opentelemetry/sdk-trace-node/build/src/index.js"));

const exporter = new sdk.InMemorySpanExporter();
const provider = new sdk.NodeTracerProvider({ spanProcessors: [new sdk.SimpleSpanProcessor(exporter)] });
const CALLER = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
let service: TestService;

beforeAll(async () => {
  provider.register();
  service = await startTestService({ integrations: [createLab().integration], openTelemetry: api });
  await service.service.connections.add({ integration: "lab", label: "Secret account", settings: {} });
});
afterAll(async () => {
  await service.close();
  await provider.shutdown();
});
beforeEach(() => exporter.reset());

const find = (name: string) => exporter.getFinishedSpans().find((span) => span.name === name);

test("a request, its execution and the call of the app are spans of the trace that the caller names", async () => {
  await call(`${service.url}/api/tools/lab_look/execute`, {
    method: "POST",
    key: service.apiKey,
    headers: { "content-type": "application/json", traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01` },
    body: JSON.stringify({ arguments: { text: "Private milk" } }),
  });
  const [request, execution, app] = ["POST /api/tools/:name/execute", "execute_tool", "lab_look"].map(find);
  expect(request).toMatchObject({ kind: 1, parentSpanContext: { spanId: CALLER.spanId } });
  expect(request?.attributes).toEqual({
    "http.request.method": "POST",
    "http.route": "/api/tools/:name/execute",
    "http.response.status_code": 200,
  });
  expect(execution?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
  expect(execution?.attributes).toEqual({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "lab_look",
    "svc.app": "lab",
    "svc.outcome": "succeeded",
  });
  expect(app?.parentSpanContext?.spanId).toBe(execution?.spanContext().spanId);
  expect(app).toMatchObject({ kind: 2, attributes: { "svc.app": "lab" } });
  const spans = exporter.getFinishedSpans();
  expect(new Set(spans.map((span) => span.spanContext().traceId))).toEqual(new Set([CALLER.traceId]));
  expect(JSON.stringify(spans.map(({ name, attributes }) => [name, attributes]))).not.toMatch(
    /Private|Secret|con_|key_/,
  );
});

test("a failure is an error with its code, and a name that the caller made up is not kept", async () => {
  await execute(service, "lab_fail", { arguments: { how: "gone" } });
  expect(find("execute_tool")).toMatchObject({
    status: { code: 2 },
    attributes: { "svc.outcome": "failed", "error.type": "not_found" },
  });
  expect(find("lab_fail")?.status.code).toBe(2);
  exporter.reset();
  await execute(service, "made_up_name", {});
  expect(find("execute_tool")?.attributes).toMatchObject({ "svc.outcome": "blocked", "error.type": "tool_not_found" });
  expect(JSON.stringify(exporter.getFinishedSpans().map(({ attributes }) => attributes))).not.toContain("made_up");
});

test("requests at one time do not mix their spans", async () => {
  await Promise.all(Array.from({ length: 20 }, () => execute(service, "lab_look", { arguments: { text: "hello" } })));
  const spans = exporter.getFinishedSpans();
  const byTrace = Map.groupBy(spans, (span) => span.spanContext().traceId);
  expect(byTrace.size).toBe(20);
  for (const own of byTrace.values()) expect(own).toHaveLength(3);
});
