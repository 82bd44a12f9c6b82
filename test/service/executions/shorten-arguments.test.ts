import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { shortenArguments } from "../../../src/service/executions/outcome.ts";
import { type OpenService, openService } from "../../../src/service/open-service.ts";
import { useTempFolder } from "../files/temp-folder.ts";
import { call } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";

test.each([undefined, null, "x", 7, [], {}, { text: "é".repeat(19_000), list: [1, { a: [null] }] }])(
  "what the log can show is kept whole",
  (args) => {
    expect(JSON.parse(shortenArguments(args))).toEqual(args ?? null);
  },
);

test("a long text keeps its beginning", () => {
  const shown = JSON.parse(shortenArguments({ title: "Plan", text: "x".repeat(8_000_000), last: true }));
  expect(shown).toEqual({ title: "Plan", text: `${"x".repeat(2000)}… 7998000 more characters`, last: true });
});

test.each([
  ["many entries", Array.from({ length: 500_000 }, (_, index) => index)],
  ["many names", Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`name${index}`, true]))],
  ["long names", Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}`.repeat(40_000), 1]))],
  ["many texts", Array.from({ length: 1000 }, () => "y".repeat(5000))],
  ["lists in lists", Array.from({ length: 1000 }, () => Array.from({ length: 1000 }, () => [{}]))],
  ["letters that JSON writes long", { text: "\u0001".repeat(100_000) }],
])("%s are cut", (_name, args) => {
  const json = shortenArguments(args);
  expect(json.length).toBeLessThan(60_000);
  expect(json).toContain("more");
  expect(Object.keys(JSON.parse(json)).length).toBeGreaterThan(0);
});

test("half a character is not left over", () => {
  expect(shortenArguments({ text: `${"x".repeat(1999)}${"😀".repeat(20_000)}` })).toContain("x… 40000 more characters");
});

describe("a refused call of the canonical endpoint", () => {
  const folder = useTempFolder();
  let service: OpenService;
  beforeEach(async () => {
    service = await openService({ dataDir: folder(), port: 0, integrations: [createLab().integration] });
    await service.connections.add({ integration: "lab", label: "Lab", settings: {} });
  });
  afterEach(() => service.close());

  test.each([
    ["a long text of the wrong type", { count: "x".repeat(4_000_000) }],
    [
      "many names that are not known",
      Object.fromEntries(Array.from({ length: 49_000 }, (_, i) => [`unknown_${i}`, i])),
    ],
    ["many list entries of the wrong type", { list: Array.from({ length: 49_000 }, () => 1) }],
    ["a long name", { ["n".repeat(4_000_000)]: 1 }],
  ])("leaves little behind: %s", async (_name, input) => {
    const { apiKey } = await service.keys.issue({ accountId: service.accountId, label: "Test", client: null });
    const reply = await call(`${service.url}/api/executions`, {
      method: "POST",
      key: apiKey,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ integration_id: "lab", action_id: "look", input }),
    });
    expect(reply.json).toMatchObject({ status: "failed", error_code: "validation_error" });
    const rows = await service.store.selectFrom("executions").selectAll().execute();
    expect(rows.map(({ status }) => status)).toEqual(["refused"]);
    expect(JSON.stringify(rows).length).toBeLessThan(100_000);
  });
});
