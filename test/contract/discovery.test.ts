import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { isRecord, playExchange, type RawReply, readExchanges, sendWithKey } from "./golden-exchange.ts";
import { createProbe } from "./probe-integration.ts";
import { readMember } from "./probe-service.ts";
import { verifies } from "./verifies.ts";

let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());

const get = (path: string, from: TestService = service): Promise<RawReply> =>
  sendWithKey(from.url, from.apiKey, { method: "GET", path });

/** The tools of an answer, as plain objects. */
function readTools(reply: RawReply): Record<string, unknown>[] {
  const tools = readMember(reply, "tools");
  return Array.isArray(tools) ? tools.filter(isRecord) : [];
}

describe("golden exchanges of discovery", () => {
  test.each(readExchanges("discovery"))("$name", async (exchange) => {
    verifies(
      "tools.list.reply",
      "tools.list.truncation-notice",
      "tools.list.not-truncated",
      "tools.list.integration-null",
      "tools.search.reply",
      "tools.search.query-required",
      "tools.search.integration-filter",
      "tools.search.limit",
      "tools.describe.reply",
      "tools.describe.unknown",
      "tools.list.unauthorized",
      "tools.search.unauthorized",
      "tools.describe.unauthorized",
      "auth.bare-401",
      "errors.bare-guard",
      "decision.notice-shape",
      "tool.canonical",
    );
    await playExchange(service, exchange);
  });
});

describe("the tool list", () => {
  test("is sorted by integration, then name, and carries no schemas", async () => {
    verifies("tools.list.sorted", "tools.list.no-schemas", "tool.schema-placeholder-in-pages", "tool.description");
    const tools = readTools(await get("/api/tools?limit=200"));
    const keys = tools.map((tool) => `${tool.integration}\u0000${tool.name}`);
    expect(keys.length).toBeGreaterThan(5);
    expect(keys).toEqual([...keys].sort());
    for (const tool of tools) {
      expect(tool.inputSchema, String(tool.name)).toBeNull();
      expect(tool.description, String(tool.name)).toEqual(expect.any(String));
    }
  });

  test("names every tool by slug, underscore and action id", async () => {
    verifies("tool.name-from-slug-and-action", "tool.integration", "tool.name-null-only-on-notice");
    for (const tool of readTools(await get("/api/tools?limit=200"))) {
      const action = isRecord(tool.canonical) ? tool.canonical.action : undefined;
      const id = isRecord(action) ? action.action_id : action;
      expect(tool.name).toBe(`${tool.integration}_${id}`);
    }
  });

  test("counts the page and the whole, and narrows both to one integration", async () => {
    verifies("tools.list.count", "tools.list.total", "tools.list.integration-filter", "tools.list.limit");
    const all = await get("/api/tools?limit=200");
    const total = readTools(all).length;
    expect(all.body).toMatchObject({ count: total, total, truncated: false });

    const cut = await get("/api/tools?limit=2");
    expect(cut.body).toMatchObject({ count: 2, total, truncated: true });
    expect(readTools(cut).map((tool) => tool.name)).toEqual([
      ...readTools(all)
        .slice(0, 2)
        .map((t) => t.name),
      null,
    ]);
    expect(readTools(cut).at(-1)?.description).toContain(String(total - 2));

    const drive = await get("/api/tools?integration=drive&limit=200");
    const expected = readTools(all).filter((tool) => tool.integration === "drive");
    expect(readTools(drive).map((tool) => tool.name)).toEqual(expected.map((tool) => tool.name));
    expect(drive.body).toMatchObject({ count: expected.length, total: expected.length, integration: "drive" });
  });

  test("holds 50 tools by default and 200 at most; other limits are clamped or mean the default", async () => {
    verifies("limits.tools-page", "decision.limit-clamped");
    const { integration } = createProbe();
    const [action] = integration.actions;
    if (action === undefined) throw new Error("The probe has no action.");
    const actions = Array.from({ length: 230 }, (_, index) => ({ ...action, id: `echo_${1000 + index}` }));
    const large = await startTestService({ integrations: [{ ...integration, actions }] });
    try {
      const countFor = async (query: string) => readMember(await get(`/api/tools${query}`, large), "count");
      expect(await countFor("")).toBe(50);
      expect(await countFor("?limit=200")).toBe(200);
      expect(await countFor("?limit=201")).toBe(200);
      expect(await countFor("?limit=0")).toBe(1);
      expect(await countFor("?limit=-7")).toBe(1);
      expect(await countFor("?limit=many")).toBe(50);
      expect(await get("/api/tools?limit=999", large)).toMatchObject({
        body: { total: 230, truncated: true, count: 200 },
      });
    } finally {
      await large.close();
    }
  });
});

describe("the search", () => {
  test("matches names and descriptions", async () => {
    verifies("tools.search.matches-name", "tools.search.matches-description");
    const { integration } = createProbe();
    const [action] = integration.actions;
    if (action === undefined) throw new Error("The probe has no action.");
    const actions = [
      { ...action, id: "zebra", title: "First", description: "Counts stripes." },
      { ...action, id: "other", title: "Second", description: "Paints a giraffe." },
    ];
    const small = await startTestService({ integrations: [{ ...integration, actions }] });
    try {
      expect(readTools(await get("/api/tools/search?query=zebra", small))[0]?.name).toBe("probe_zebra");
      expect(readTools(await get("/api/tools/search?query=giraffe", small))[0]?.name).toBe("probe_other");
      expect((await get("/api/tools/search?query=submarine", small)).body).toMatchObject({ tools: [], count: 0 });
    } finally {
      await small.close();
    }
  });
});

describe("describe", () => {
  test("has the complete schema of every listed tool", async () => {
    verifies("tool.schema-full-in-describe");
    for (const { name } of readTools(await get("/api/tools?limit=200"))) {
      const tool = readMember(await get(`/api/tools/${name}`), "tool");
      expect(tool).toMatchObject({ name, inputSchema: { type: "object", properties: expect.any(Object) } });
    }
  });
});

describe("paths", () => {
  test("carry no version segment", async () => {
    verifies("versioning.no-path-segment");
    expect((await get("/api/tools")).status).toBe(200);
    expect((await get("/api/v1/tools")).status).toBe(404);
    expect((await get("/v1/api/tools")).status).toBe(404);
  });
});
