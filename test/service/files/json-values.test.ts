import { describe, expect, test } from "vitest";
import { createValueGuard, MAX_JSON_VALUES } from "../../../src/service/files/body-limits.ts";
import { startTestService } from "../../../src/testing.ts";
import { call } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";

/** True when the text passes in pieces of `size` bytes. */
function passes(text: string, size = text.length): boolean {
  const bytes = Buffer.from(text);
  const guard = createValueGuard();
  try {
    for (let at = 0; at < bytes.length; at += size) guard(bytes.subarray(at, at + size));
    return true;
  } catch {
    return false;
  }
}

describe("counting the values of a body", () => {
  const list = (length: number) => JSON.stringify(Array.from({ length }, () => 1));

  test("ends at the first one too many, however they are held", () => {
    expect(passes(list(MAX_JSON_VALUES))).toBe(true);
    expect(passes(list(MAX_JSON_VALUES + 1))).toBe(false);
    expect(passes("[".repeat(MAX_JSON_VALUES + 1))).toBe(false);
    expect(passes(JSON.stringify(Array.from({ length: MAX_JSON_VALUES }, () => ({}))))).toBe(false);
  });

  test.each([
    ["commas", ","],
    ["brackets", "[{"],
    ["quotes", '",'],
    ["backslashes", "\\"],
    ["backslashes before quotes", '\\",'],
    ["two of them", '\\\\",['],
  ])("takes %s in strings for text, in pieces of any size", (_what, text) => {
    const body = JSON.stringify({ [text.repeat(30)]: text.repeat(60_000), b: [text, `${text}\\`, 1] });
    for (const size of [1, 2, 3, 7, 64, body.length]) {
      expect(passes(body, size)).toBe(true);
      // What follows is structure again.
      expect(passes(body + ",".repeat(MAX_JSON_VALUES), size)).toBe(false);
    }
  });
});

test("a request with 500,000 members is refused before it is looked at, on every route that takes one", async () => {
  const service = await startTestService({ integrations: [createLab().integration] });
  const members = Object.fromEntries(Array.from({ length: 500_000 }, (_, at) => [`k${at}`, 1]));
  const some = Object.fromEntries(Object.entries(members).slice(0, MAX_JSON_VALUES + 1));
  const wrap = { jsonrpc: "2.0", id: 1, method: "tools/call" };
  const canonical = { integration_id: "lab", action_id: "look", input: members };
  for (const [path, body] of [
    ["/api/tools/lab_look/execute", { arguments: members }],
    ["/api/tools/lab_look/execute", members],
    ["/api/executions", canonical],
    ["/api/mcp", { ...wrap, params: { name: "svc.execute", arguments: canonical } }],
    ["/api/flows/start", { flowTemplate: "any", input: some }],
  ] as const) {
    const reply = await call(`${service.url}${path}`, {
      method: "POST",
      key: service.apiKey,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect([reply.status, reply.json], path).toEqual([
      400,
      { error: "The request body holds more than 50000 values. Send fewer in one request." },
    ]);
  }
  await service.close();
});
