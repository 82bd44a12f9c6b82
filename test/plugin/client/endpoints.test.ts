import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import { readGolden, readGoldenObject } from "../../contract/read-golden.ts";
import { verifies } from "../../contract/verifies.ts";
import { catchError, type RecordingServer, startRecordingServer } from "./recording-server.ts";

const KEY = "svc_live_endpoints";
let server: RecordingServer;
let client: SvcClient;

beforeEach(async () => {
  server = await startRecordingServer(() => ({ json: {} }));
  client = new SvcClient({ baseUrl: `${server.url}/prefix/`, apiKey: KEY, sleep: async () => {} });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

interface Row {
  readonly call: () => Promise<unknown>;
  /** Method, path and query as the document writes them. */
  readonly line: string;
  readonly body?: unknown;
  readonly withKey?: false;
  readonly reply: string;
}

/** Every endpoint of the document: the exact request, and the golden answer that must come back parsed. */
const ROWS: Readonly<Record<string, Row>> = {
  listTools: {
    call: () => client.listTools({ integration: "drive", limit: 10 }),
    line: "GET /api/tools?integration=drive&limit=10",
    reply: "resources/tool-list-truncated",
  },
  "listTools without query": {
    call: () => client.listTools(),
    line: "GET /api/tools",
    reply: "resources/tool-list-truncated",
  },
  searchTools: {
    call: () => client.searchTools({ query: "new page & more", integration: "notes", limit: 5 }),
    line: "GET /api/tools/search?query=new+page+%26+more&integration=notes&limit=5",
    reply: "resources/tool-search",
  },
  execute: {
    call: () => client.execute({ integration_id: "notes", action_id: "search_pages", input: { q: "a" } }),
    line: "POST /api/executions",
    body: { integration_id: "notes", action_id: "search_pages", input: { q: "a" } },
    reply: "resources/summary-succeeded",
  },
  getExecution: {
    call: () => client.getExecution("ex/7"),
    line: "GET /api/executions/ex%2F7",
    reply: "resources/summary-succeeded",
  },
  listIntegrations: {
    call: () => client.listIntegrations({ query: "m", category: "mail", connected_only: true, page: 2, page_size: 20 }),
    line: "GET /api/integrations?query=m&category=mail&connected_only=true&page=2&page_size=20",
    reply: "resources/integrations",
  },
  listActions: {
    call: () => client.listActions({ integration_id: "mail", intent: "send" }),
    line: "GET /api/actions?integration_id=mail&intent=send",
    reply: "resources/actions",
  },
  getAction: {
    call: () => client.getAction("mail", "send_message"),
    line: "GET /api/actions/mail/send_message",
    reply: "resources/action-detail",
  },
  searchCatalog: {
    call: () => client.searchCatalog({ query: "mail", connected_only: false }),
    line: "GET /api/search?query=mail&connected_only=false",
    reply: "resources/catalog-search",
  },
  listFlowTemplates: {
    call: () => client.listFlowTemplates(),
    line: "GET /api/flows/templates",
    reply: "resources/flow-templates",
  },
  startFlow: {
    call: () => client.startFlow({ flowTemplate: "mail-to-pages", input: { maxResults: 5 }, triggerType: "agent" }),
    line: "POST /api/flows/start",
    body: { flowTemplate: "mail-to-pages", input: { maxResults: 5 }, triggerType: "agent" },
    reply: "resources/flow-start",
  },
  getFlow: { call: () => client.getFlow("fl_1"), line: "GET /api/flows/fl_1", reply: "resources/flow-view" },
  listFlows: {
    call: () => client.listFlows({ limit: 1000 }),
    line: "GET /api/flows?limit=100",
    reply: "resources/flow-list",
  },
  approveFlow: {
    call: () => client.approveFlow("fl_1", { stepKey: "approve" }),
    line: "POST /api/flows/fl_1/approve",
    body: { stepKey: "approve" },
    reply: "resources/flow-view",
  },
  resumeFlow: {
    call: () => client.resumeFlow("fl_1"),
    line: "POST /api/flows/fl_1/resume",
    reply: "resources/flow-view",
  },
  cancelFlow: {
    call: () => client.cancelFlow("fl_1"),
    line: "POST /api/flows/fl_1/cancel",
    reply: "resources/flow-view",
  },
  callMcp: {
    call: () => client.callMcp({ method: "tools/call", params: { name: "svc.search", arguments: { query: "mail" } } }),
    line: "POST /api/mcp",
    body: readGolden("resources/rpc-request"),
    reply: "resources/rpc-result",
  },
  "callMcp with an error": {
    call: () => client.callMcp({ id: "q", method: "x" }),
    line: "POST /api/mcp",
    body: { jsonrpc: "2.0", id: "q", method: "x" },
    reply: "resources/rpc-error",
  },
  getMcpListing: { call: () => client.getMcpListing(), line: "GET /api/mcp", reply: "resources/mcp-listing" },
  getServerCard: {
    call: () => client.getServerCard(),
    line: "GET /api/mcp/server-card",
    withKey: false,
    reply: "resources/server-card",
  },
  "getServerCard, well-known": {
    call: () => client.getServerCard({}, "/.well-known/mcp/server-card.json"),
    line: "GET /.well-known/mcp/server-card.json",
    withKey: false,
    reply: "resources/server-card",
  },
  startPairing: {
    call: () => client.startPairing({ deviceLabel: "desk", client: "cli" }),
    line: "POST /api/plugin/pair/start",
    body: { deviceLabel: "desk", client: "cli" },
    withKey: false,
    reply: "resources/pair-start",
  },
  "startPairing without body": {
    call: () => client.startPairing(),
    line: "POST /api/plugin/pair/start",
    body: {},
    withKey: false,
    reply: "resources/pair-start-minimal",
  },
  exchangePairing: {
    call: () => client.exchangePairing("st_1", "v_1"),
    line: "POST /api/plugin/pair/sessions/st_1/exchange",
    body: { verifier: "v_1" },
    withKey: false,
    reply: "resources/pair-exchange",
  },
  startBootstrap: {
    call: () => client.startBootstrap({ hostname: "desk" }),
    line: "POST /api/installer/bootstrap-sessions",
    body: { hostname: "desk" },
    withKey: false,
    reply: "resources/bootstrap-start",
  },
};

/** What the caller gets for a golden answer: the same value, except where execution answers are values of their own. */
function expectedValue(name: string, golden: unknown): unknown {
  return name === "execute" ? { kind: "summary", status: 200, summary: golden } : golden;
}

describe("one method per endpoint", () => {
  test.each(Object.entries(ROWS))("%s", async (name, row) => {
    verifies("tools.list.client", "tools.search.client", "auth.client-sends-key");
    verifies("tool.unknown-properties-kept", "tool.nullables-accepted");
    const golden = readGolden(row.reply);
    server.answer = () => ({ json: golden });
    expect(await row.call()).toEqual(expectedValue(name, golden));

    expect(server.requests).toHaveLength(1);
    const [request] = server.requests;
    const [method, path] = row.line.split(" ");
    expect(request).toMatchObject({ method, url: `/prefix${path}` });
    expect(request?.body === "" ? undefined : JSON.parse(request?.body ?? "")).toEqual(row.body);
    expect(request?.headers["x-svc-api-key"]).toBe(row.withKey === false ? undefined : KEY);
    expect(request?.headers).not.toHaveProperty("authorization");
    expect(request?.headers["content-type"]).toBe(row.body === undefined ? undefined : "application/json");
  });

  test("describeTool answers the tool itself, with its schema", async () => {
    verifies("tools.describe.client");
    const golden = readGoldenObject("resources/tool-description");
    server.answer = () => ({ json: golden });
    expect(await client.describeTool("drive_upload_file")).toEqual(golden.tool);
    expect(server.requests[0]).toMatchObject({ method: "GET", url: "/prefix/api/tools/drive_upload_file" });
  });

  test("describeTool says that a tool is unknown", async () => {
    verifies("tools.describe.client", "errors.bare-accepted");
    server.answer = () => ({ status: 404, json: { error: "Tool not found" } });
    const error = await catchError(() => client.describeTool("drive_nothing"));
    expect(error).toMatchObject({ code: "service_failure", status: 404, retryable: false });
    expect(error).toHaveProperty("message", expect.stringContaining("Tool not found"));
  });

  test("executeTool sends the documented body and answers the envelope", async () => {
    verifies("execute.client");
    const body = readGoldenObject("resources/tool-execute-request");
    const envelope = readGolden("resources/envelope-succeeded");
    server.answer = () => ({ json: envelope });
    expect(await client.executeTool("drive_upload_file", body)).toEqual({ kind: "envelope", status: 200, envelope });
    expect(server.requests[0]).toMatchObject({ method: "POST", url: "/prefix/api/tools/drive_upload_file/execute" });
    expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual(body);
  });

  test("pollBootstrap follows the address it was given, without a key", async () => {
    server.answer = () => ({ json: { session_id: "bs_1", status: "awaiting_approval" } });
    const reply = await client.pollBootstrap(`${server.url}/prefix/api/installer/bootstrap-sessions/bs_1?x=1`);
    expect(reply).toMatchObject({ status: "awaiting_approval" });
    expect(server.requests[0]).toMatchObject({ url: "/prefix/api/installer/bootstrap-sessions/bs_1?x=1" });
    expect(server.requests[0]?.headers).not.toHaveProperty("x-svc-api-key");
  });

  test("pollBootstrap refuses an address elsewhere and sends nothing", async () => {
    for (const url of ["https://evil.example/poll", `${server.url}/elsewhere`, "http://127.0.0.1:1/prefix/x"]) {
      expect(await catchError(() => client.pollBootstrap(url))).toMatchObject({ code: "pairing_failed", sent: false });
    }
    expect(server.requests).toEqual([]);
  });

  test("asks for at most 200 tools in one page", async () => {
    verifies("limits.client-tools-page");
    server.answer = () => ({ json: readGolden("resources/tool-list-truncated") });
    await client.listTools({ limit: 5000 });
    await client.listTools({ limit: 0 });
    await client.listTools({ limit: Number.NaN });
    expect(server.requests.map(({ url }) => url)).toEqual([
      "/prefix/api/tools?limit=200",
      "/prefix/api/tools?limit=1",
      "/prefix/api/tools",
    ]);
  });

  test.each([5000, 201, 101, 0, -3, 1.5, Number.POSITIVE_INFINITY, Number.NaN])(
    "asks no list for a limit of %s, but for one within its bounds",
    async (limit) => {
      const lists = [
        { most: 200, golden: "resources/tool-list-truncated", ask: () => client.listTools({ limit }) },
        { most: 200, golden: "resources/tool-search", ask: () => client.searchTools({ query: "a", limit }) },
        { most: 100, golden: undefined, ask: () => client.listFlows({ limit }) },
      ];
      for (const { most, golden, ask } of lists) {
        server.answer = () => ({ json: golden === undefined ? { flows: [] } : readGolden(golden) });
        await ask();
        const sent = new URL(server.requests.at(-1)?.url ?? "", server.url).searchParams.get("limit");
        if (sent !== null) expect([...Array(most + 1).keys()].slice(1).map(String)).toContain(sent);
      }
      expect(server.requests).toHaveLength(3);
    },
  );

  test("refuses names that would lead to another endpoint", async () => {
    for (const name of ["", ".", "..", "\ud800"]) {
      const error = await catchError(() => client.executeTool(name, {}));
      expect(error).toMatchObject({ code: "unsupported", field: "name", sent: false });
    }
    server.answer = () => ({ json: readGolden("resources/envelope-minimal") });
    await client.executeTool("../flows/start?x#y", {});
    expect(server.requests.map(({ url }) => url)).toEqual(["/prefix/api/tools/..%2Fflows%2Fstart%3Fx%23y/execute"]);
  });

  test("refuses arguments that JSON cannot carry", async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    for (const value of [cycle, 1n]) {
      const error = await catchError(() => client.executeTool("a", { arguments: { value } }));
      expect(error).toMatchObject({ code: "unsupported", sent: false });
    }
    expect(server.requests).toEqual([]);
  });
});

describe("without a key", () => {
  test("authenticated calls are refused before any request", async () => {
    verifies("auth.client-missing-key");
    const anonymous = new SvcClient({ baseUrl: server.url, apiKey: "  " });
    expect(anonymous.principal).toBe("anonymous");
    for (const call of [
      () => anonymous.listTools(),
      () => anonymous.executeTool("a", {}),
      () => anonymous.getMcpListing(),
    ]) {
      const error = await catchError(call);
      expect(error).toMatchObject({ code: "credentials_missing", sent: false });
      expect(error).toHaveProperty("hint", expect.stringContaining("Pair"));
    }
    expect(server.requests).toEqual([]);
    await anonymous.close();
  });

  test("a key that no header can carry is refused without being repeated", () => {
    for (const apiKey of ["svc_live_a b", "svc_live_a\nx: y", "svc_live_ä"]) {
      expect(() => new SvcClient({ baseUrl: server.url, apiKey })).toThrow(/^The API key holds characters/);
    }
  });

  test("the principal names base URL and key without showing them", () => {
    const make = (baseUrl: string, apiKey: string) => new SvcClient({ baseUrl, apiKey }).principal;
    expect(make("https://a.example", "k1")).toMatch(/^[0-9a-f]{16}$/);
    expect(make("https://a.example/", " k1\n")).toBe(make("https://a.example", "k1"));
    expect(make("https://a.example", "k2")).not.toBe(make("https://a.example", "k1"));
    expect(make("https://b.example", "k1")).not.toBe(make("https://a.example", "k1"));
  });
});

describe("the server card", () => {
  test("is revalidated by its ETag, per address", async () => {
    const card = readGolden("resources/server-card");
    server.answer = ({ headers }) =>
      headers["if-none-match"] === '"v1"'
        ? (_request, response) => response.writeHead(304).end()
        : { json: card, headers: { etag: '"v1"', "content-type": "application/mcp-server-card+json" } };
    expect(await client.getServerCard()).toEqual(card);
    expect(await client.getServerCard()).toEqual(card);
    expect(await client.getServerCard({}, "/.well-known/mcp/server-card.json")).toEqual(card);
    expect(server.requests.map(({ headers }) => headers["if-none-match"])).toEqual([undefined, '"v1"', undefined]);
  });

  test("a 304 that was not asked for is a bad response", async () => {
    server.answer = () => (_request, response) => response.writeHead(304).end();
    expect(await catchError(() => client.getServerCard())).toMatchObject({ code: "bad_response", status: 304 });
  });
});

describe("optional pairing endpoints", () => {
  test("a status endpoint is used where there is one", async () => {
    server.answer = () => ({ json: { status: "approved", displayCode: "AB" } });
    expect(await client.getPairingStatus("st_1")).toBe("approved");
    server.answer = () => ({ json: { session: { status: "denied" } } });
    expect(await client.getPairingStatus("st_1")).toBe("denied");
    expect(server.requests[0]).toMatchObject({ method: "GET", url: "/prefix/api/plugin/pair/sessions/st_1" });
  });

  test.each([404, 405])("a service without them (%i) is left alone", async (status) => {
    server.answer = () => ({ status, json: { error: "no such route" } });
    expect(await client.getPairingStatus("st_1")).toBeUndefined();
    await client.finalizePairing("st_1", "v_1");
    expect(server.requests[1]).toMatchObject({
      method: "POST",
      url: "/prefix/api/plugin/pair/sessions/st_1/finalize",
      body: '{"verifier":"v_1"}',
    });
  });
});
