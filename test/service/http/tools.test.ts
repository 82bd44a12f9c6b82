import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Action, Integration } from "../../../src/apps/port/integration.ts";
import { toolDescriptionSchema, toolListSchema, toolSearchSchema } from "../../../src/shared/wire/tool.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { call, type Reply } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";

const { integration: lab } = createLab();

/** An app with many tools, listed before `lab` in the alphabet. */
const crowd: Integration = {
  ...lab,
  slug: "crowd",
  name: "Crowd",
  description: "Many alike.",
  actions: Array.from({ length: 230 }, (_, index): Action => {
    const action = lab.actions[0];
    if (action === undefined) throw new Error("The lab has no actions.");
    return { ...action, id: `act_${String(229 - index).padStart(3, "0")}`, title: "Act", description: "Acts." };
  }),
};

let service: TestService;
const get = (path: string): Promise<Reply> => call(`${service.url}${path}`, { key: service.apiKey });

beforeAll(async () => {
  service = await startTestService({ integrations: [lab, crowd] });
  await service.service.connections.add({ integration: "lab", label: "First", settings: {} });
});
afterAll(() => service.close());

describe("GET /api/tools", () => {
  test("is sorted by integration, then name, and has no schemas", async () => {
    verifies("tools.list.reply", "tools.list.sorted", "tools.list.no-schemas", "tools.list.integration-null");
    const { json } = await get("/api/tools?limit=200");
    const { tools } = toolListSchema.parse(json);
    const named = tools.filter((tool) => tool.name !== null);
    expect(named.map((tool) => tool.name)).toEqual([...named.map((tool) => tool.name ?? "")].sort());
    expect(named.every((tool) => tool.inputSchema === null)).toBe(true);
    expect(json.integration).toBeNull();
  });

  test.each([
    ["", 50],
    ["?limit=", 50],
    ["?limit=abc", 50],
    ["?limit=7", 7],
    ["?limit=7.9", 7],
    ["?limit=0", 1],
    ["?limit=-4", 1],
    ["?limit=201", 200],
    ["?limit=99999999999999999999", 200],
  ])("limit %s gives a page of %i and a notice that is not counted", async (query, size) => {
    verifies("tools.list.limit", "tools.list.count", "tools.list.total", "tools.list.truncation-notice");
    verifies("decision.limit-clamped", "decision.notice-shape", "limits.tools-page");
    const { json } = await get(`/api/tools${query}`);
    expect(json).toMatchObject({ count: size, total: 234, truncated: true });
    expect(json.tools).toHaveLength(size + 1);
    const notice = json.tools.at(-1);
    expect(notice).toMatchObject({ name: null, integration: null, inputSchema: null });
    expect(notice.description).toContain(String(234 - size));
  });

  test.each(["lab", "LAB", "%20lab%20"])("narrows to integration %s without a notice", async (slug) => {
    verifies("tools.list.integration-filter", "tools.list.not-truncated");
    const { json } = await get(`/api/tools?integration=${slug}`);
    expect(json).toMatchObject({ count: 4, total: 4, truncated: false, integration: "lab" });
    expect(json.tools.map((tool: { name: string }) => tool.name)).toEqual([
      "lab_fail",
      "lab_look",
      "lab_put",
      "lab_wait",
    ]);
  });

  test("an unknown integration has no tools", async () => {
    const { status, json } = await get("/api/tools?integration=nope");
    expect([status, json.tools, json.total]).toEqual([200, [], 0]);
  });

  test("tells connected from unconnected apps", async () => {
    const state = async (slug: string) =>
      (await get(`/api/tools?integration=${slug}&limit=1`)).json.tools[0].canonical.default_connection_state;
    expect([await state("lab"), await state("crowd")]).toEqual(["healthy", "not_connected"]);
  });
});

describe("GET /api/tools/search", () => {
  test.each(["", "?query=", "?query=%20%20", "?integration=lab"])("400 bare: %s", async (query) => {
    verifies("tools.search.query-required");
    const { status, json } = await get(`/api/tools/search${query}`);
    expect([status, Object.keys(json)]).toEqual([400, ["error"]]);
  });

  test("matches names and descriptions", async () => {
    verifies("tools.search.reply", "tools.search.matches-name", "tools.search.matches-description");
    const byName = toolSearchSchema.parse((await get("/api/tools/search?query=lab_put")).json);
    expect(byName.tools[0]?.name).toBe("lab_put");
    const byDescription = await get("/api/tools/search?query=stores%20things");
    expect(byDescription.json.tools[0].name).toBe("lab_put");
    expect(byDescription.json).toMatchObject({ query: "stores things", integration: null });
  });

  test("narrows and limits", async () => {
    verifies("tools.search.integration-filter", "tools.search.limit");
    const { json } = await get("/api/tools/search?query=act&integration=crowd&limit=3");
    expect(json).toMatchObject({ count: 3, integration: "crowd" });
    expect((await get("/api/tools/search?query=act&integration=lab")).json.tools).toEqual([]);
  });
});

describe("GET /api/tools/{name}", () => {
  test("holds everything needed to call the tool", async () => {
    verifies("tools.describe.reply");
    const { tool } = toolDescriptionSchema.parse((await get("/api/tools/lab_put")).json);
    expect(tool).toMatchObject({
      name: "lab_put",
      integration: "lab",
      accessLevel: "write",
      requiresConfirmation: true,
      askBefore: ["Where does it go?"],
      inputSchema: { type: "object", required: ["title"] },
      canonical: {
        integration_id: "lab",
        action: { action_id: "put", input_summary: { required: ["title"], optional: ["file"] } },
        default_connection_state: "healthy",
      },
      connections: [{ label: "First", isDefault: false, state: "healthy" }],
    });
  });

  test.each(["nope", "LAB_PUT", "lab", "%00", "a".repeat(4000)])("404 bare: %s", async (name) => {
    verifies("tools.describe.unknown");
    const { status, json } = await get(`/api/tools/${name}`);
    expect([status, Object.keys(json)]).toEqual([404, ["error"]]);
  });
});

describe("keys", () => {
  const paths = ["/api/tools", "/api/tools/search?query=a", "/api/tools/lab_put"];
  const refused: [string, Record<string, string>][] = [
    ["none", {}],
    ["wrong", { "x-svc-api-key": "svc_live_wrong" }],
    ["empty", { "x-svc-api-key": "" }],
    ["without the prefix", { authorization: "Bearer abc" }],
    ["another scheme", { authorization: "Basic svc_live_abc" }],
  ];

  test.each(paths.flatMap((path) => refused.map(([what, headers]) => [path, what, headers] as const)))(
    "401 bare on %s: %s",
    async (path, _what, headers) => {
      verifies("auth.bare-401", "auth.key-required", "tools.list.unauthorized", "tools.search.unauthorized");
      verifies("tools.describe.unauthorized");
      const { status, json, headers: answered } = await call(`${service.url}${path}`, { headers });
      expect([status, Object.keys(json)]).toEqual([401, ["error"]]);
      expect(answered["www-authenticate"]).toContain("Bearer");
    },
  );

  test("both header forms work, and the own header wins", async () => {
    verifies("auth.header-own", "auth.header-bearer", "auth.key-prefix", "decision.own-header-wins");
    expect(service.apiKey).toMatch(/^svc_live_[A-Za-z0-9_-]{43}$/);
    const bearer = { authorization: `Bearer ${service.apiKey}` };
    const status = async (headers: Record<string, string>) =>
      (await call(`${service.url}/api/tools?limit=1`, { headers })).status;
    expect(await status({ "x-svc-api-key": service.apiKey })).toBe(200);
    expect(await status(bearer)).toBe(200);
    expect(await status({ ...bearer, "x-svc-api-key": "svc_live_wrong" })).toBe(401);
    expect(await status({ authorization: "Bearer svc_live_wrong", "x-svc-api-key": service.apiKey })).toBe(200);
  });
});
