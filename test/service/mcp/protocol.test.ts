import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { measureCpuTime } from "../../cpu-time.ts";
import { call } from "../http-calls.ts";
import { callTool, modernMeta, postMcp, sendLegacy, sendModern } from "./mcp-calls.ts";

let service: TestService;
const logged: unknown[] = [];
const added: unknown[] = [];
/** Forms that hold each other: the validator tries all of them at each level. */
const forms = Array.from({ length: 6 }, () => ({ type: "object", properties: { part: { $ref: "#/$defs/part" } } }));
beforeAll(async () => {
  service = await startTestService({
    log: (entry) => logged.push(entry),
    mcpExtras: {
      tools: [
        {
          name: "test_crash",
          description: "Fails in a way nobody planned.",
          inputSchema: { type: "object" },
          call: async () => {
            throw new Error("secret inside /home/somebody/key.pem");
          },
        },
        {
          name: "test_add",
          description: "Takes parts that may hold parts.",
          inputSchema: {
            type: "object",
            properties: {
              part: { $ref: "#/$defs/part" },
              name: { type: "string", pattern: "^[a-z]+$" },
              word: { type: "string", pattern: "^(ab)\\1$" },
              file: {
                properties: { name: { type: "string" }, mimetype: { type: "string" }, s3key: { type: "string" } },
              },
              list: { type: "array", uniqueItems: true },
            },
            $defs: { part: { anyOf: forms } },
          },
          call: async (args) => {
            added.push(args);
            return { content: [], structuredContent: {} };
          },
        },
      ],
      prompts: [],
      resources: [],
    },
  });
});
afterAll(() => service.close());

describe("arguments of a tool", () => {
  test("that would take too long to check are refused, and do not block the service", async () => {
    let part = {};
    for (let depth = 0; depth < 8; depth += 1) part = { part };
    const spent = measureCpuTime();
    const { isError, structuredContent } = await callTool(service, "test_add", { part });
    expect([isError, structuredContent.error_code]).toEqual([true, "validation_error"]);
    expect(structuredContent.message).toMatch(/^part: (takes too long to check$|expected )/);
    expect(spent()).toBeLessThan(5_000);
    expect(added).toEqual([]);
  });

  test("are told what is wrong in one line", async () => {
    const { structuredContent } = await callTool(service, "test_add", { name: "UP" });
    expect(structuredContent.details).toEqual([expect.stringMatching(/^name: /)]);
    expect((await callTool(service, "test_add", { name: "low" })).isError).toBeUndefined();
  });

  test("match its schema to the letter when it is called, however long they are", async () => {
    added.length = 0;
    const file = { name: "a.txt", mimetype: "text/plain", s3key: "sta_1" };
    const wrong = {
      name: ["UP".repeat(1_000)],
      word: ["aba"],
      file: [{ ...file, name: 1 }],
      list: [Array(600).fill("a")],
    };
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        const { isError, structuredContent } = await callTool(service, "test_add", { [field]: value });
        expect([field, isError, structuredContent.error_code]).toEqual([field, true, "validation_error"]);
      }
    }
    expect(added).toEqual([]);
    await callTool(service, "test_add", { name: "low".repeat(1_000), word: "abab", file, list: ["a", "b"] });
    expect(added).toHaveLength(1);
  });
});

describe("a request as the API document shows it", () => {
  test("is answered with its id and a result, as JSON", async () => {
    verifies("mcp.rpc", "mcp.rpc-response", "mcp.tools-list");
    const reply = await postMcp(service, { jsonrpc: "2.0", id: "abc", method: "tools/list" });
    expect(reply.status).toBe(200);
    expect(reply.headers["content-type"]).toBe("application/json");
    expect(reply.headers["mcp-session-id"]).toBeUndefined();
    expect(Object.keys(reply.json).sort()).toEqual(["id", "jsonrpc", "result"]);
    expect(reply.json).toMatchObject({ jsonrpc: "2.0", id: "abc" });
    expect(reply.json.result).not.toHaveProperty("resultType");
  });

  test.each([1, 0, "", "x", null])("may have the id %j", async (id) => {
    verifies("mcp.rpc-request");
    const { status, json } = await postMcp(service, { jsonrpc: "2.0", id, method: "ping" });
    expect({ status, json }).toEqual({ status: 200, json: { jsonrpc: "2.0", id, result: {} } });
  });

  test("needs no Accept header and no content type", async () => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const reply = await call(`${service.url}/api/mcp`, { method: "POST", key: service.apiKey, body });
    expect(reply.json).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  });

  test.each([
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2025-03-26", "2025-03-26"],
    ["1999-01-01", "2025-11-25"],
    ["2026-07-28", "2025-11-25"],
  ])("initialize with %s agrees on %s", async (asked, agreed) => {
    verifies("mcp.initialize");
    const clientInfo = { name: "test", version: "1" };
    const { json } = await sendLegacy(service, "initialize", { protocolVersion: asked, capabilities: {}, clientInfo });
    expect(json.result.protocolVersion).toBe(agreed);
    const extensions = { "io.modelcontextprotocol/skills": {} };
    expect(json.result.capabilities).toEqual({ tools: {}, prompts: {}, resources: {}, extensions });
    expect(json.result.serverInfo).toMatchObject({ name: "localhost/svc", version: "1.0.0" });
    expect(json.result.instructions).toContain("svc.search");
  });

  test.each([
    ["an unknown method", "nonsense/method", {}, -32601],
    ["a tool that is not there", "tools/call", { name: "svc.nothing" }, -32602],
    ["a call without a name", "tools/call", {}, -32602],
    ["arguments that are a text", "tools/call", { name: "svc.search", arguments: "mail" }, -32602],
    ["a prompt that is not there", "prompts/get", { name: "nothing" }, -32602],
    ["a prompt without its argument", "prompts/get", { name: "do_with_my_apps" }, -32602],
    ["a resource that is not there", "resources/read", { uri: "svc://nothing" }, -32002],
    ["a cursor", "tools/list", { cursor: "x" }, -32602],
    ["a request state", "tools/call", { name: "svc.whoami", requestState: "x" }, -32602],
    ["a tool that crashes", "tools/call", { name: "test_crash" }, -32603],
    ["a method of a feature that is off", "logging/setLevel", { level: "info" }, -32601],
  ])("gets %s refused at HTTP 200", async (_what, method, params, code) => {
    verifies("mcp.rpc-error");
    const { status, json } = await sendLegacy(service, method, params);
    expect(status).toBe(200);
    expect(Object.keys(json).sort()).toEqual(["error", "id", "jsonrpc"]);
    expect(json.error).toMatchObject({ code, message: expect.any(String) });
    expect(JSON.stringify(json)).not.toMatch(/secret|somebody|\bat /);
  });

  test("says nothing of an unplanned failure but logs it", async () => {
    await sendLegacy(service, "tools/call", { name: "test_crash" });
    expect(logged.at(-1)).toMatchObject({ level: "error", cause: expect.any(Error) });
  });

  test("is refused for a version that does not exist", async () => {
    const headers = { "mcp-protocol-version": "2031-01-01" };
    const { status, json } = await postMcp(service, { jsonrpc: "2.0", id: 1, method: "tools/list" }, headers);
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ code: -32600, data: { requested: "2031-01-01" } });
  });
});

describe("messages that are no request", () => {
  test.each([
    ["broken JSON", "{", -32700, null],
    ["a batch", "[]", -32600, null],
    ["a batch of one", JSON.stringify([{ jsonrpc: "2.0", id: 1, method: "ping" }]), -32600, null],
    ["a text", '"ping"', -32600, null],
    ["another version", { jsonrpc: "1.0", id: 7, method: "ping" }, -32600, 7],
    ["no version", { id: 7, method: "ping" }, -32600, 7],
    ["no method", { jsonrpc: "2.0", id: 7 }, -32600, 7],
    ["an answer", { jsonrpc: "2.0", id: 7, result: {} }, -32600, 7],
    ["a method that is a number", { jsonrpc: "2.0", id: 7, method: 1 }, -32600, 7],
    ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "ping" }, -32600, null],
    ["an id that is a fraction", { jsonrpc: "2.0", id: 1.5, method: "ping" }, -32600, null],
    [
      "params deeper than a pit",
      `{"jsonrpc":"2.0","id":7,"method":"ping","params":${'{"a":'.repeat(300)}1${"}".repeat(300)}}`,
      -32600,
      null,
    ],
    ["params that are a list", { jsonrpc: "2.0", id: 7, method: "ping", params: [] }, -32600, 7],
  ])("%s is refused", async (_what, body, code, id) => {
    verifies("decision.mcp-unreadable-400");
    const { status, json } = await postMcp(service, body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ jsonrpc: "2.0", id, error: { code } });
  });

  test.each(["notifications/initialized", "notifications/cancelled", "unheard/of"])(
    "the notification %s is taken without a word",
    async (method) => {
      verifies("decision.mcp-notification-202");
      const { status, text } = await postMcp(service, { jsonrpc: "2.0", method });
      expect({ status, text }).toEqual({ status: 202, text: "" });
    },
  );

  test("a body above the limit is refused unread", async () => {
    const headers = { "content-length": String(9 * 1024 * 1024) };
    const url = `${service.url}/api/mcp`;
    const body = Buffer.alloc(9 * 1024 * 1024, " ");
    const { status, json } = await call(url, { method: "POST", key: service.apiKey, headers, body });
    expect(status).toBe(413);
    expect(json).toEqual({ error: expect.any(String) });
  });
});

describe("revision 2026-07-28", () => {
  const everything = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];

  test("is discovered, says who answers and how long the answer holds", async () => {
    verifies("decision.mcp-modern");
    const { status, json } = await sendModern(service, "server/discover");
    expect(status).toBe(200);
    expect(json.result).toMatchObject({
      resultType: "complete",
      supportedVersions: everything,
      capabilities: { tools: {}, prompts: {}, resources: {} },
      cacheScope: "private",
      ttlMs: expect.any(Number),
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "localhost/svc", version: "1.0.0" } },
    });
  });

  test.each(["tools/list", "prompts/list", "resources/list", "resources/templates/list"])(
    "marks %s as complete and private",
    async (method) => {
      const { json } = await sendModern(service, method);
      expect(json.result).toMatchObject({ resultType: "complete", cacheScope: "private", ttlMs: expect.any(Number) });
    },
  );

  test.each([
    ["an unknown method", "nonsense/method", {}, 404, -32601],
    ["a method it no longer has", "ping", {}, 404, -32601],
    ["the old handshake", "initialize", {}, 404, -32601],
    ["a stream", "subscriptions/listen", {}, 404, -32601],
    ["an unknown tool", "tools/call", { name: "svc.nothing" }, 400, -32602],
    ["an unknown resource", "resources/read", { uri: "svc://nothing" }, 400, -32602],
    ["a tool that crashes", "tools/call", { name: "test_crash" }, 500, -32603],
  ])("refuses %s with its own status", async (_what, method, params, status, code) => {
    const reply = await sendModern(service, method, params);
    expect({ status: reply.status, code: reply.json.error.code }).toEqual({ status, code });
  });

  const ask = (headers: Record<string, string>, body: object) =>
    postMcp(service, { jsonrpc: "2.0", id: 1, method: "tools/list", ...body }, headers);
  const good = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };

  test.each([
    ["no _meta", good, {}, -32602],
    [
      "no capabilities",
      good,
      { params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } } },
      -32602,
    ],
    ["no version header", { "mcp-method": "tools/list" }, { params: { _meta: modernMeta() } }, -32020],
    [
      "another version header",
      { ...good, "mcp-protocol-version": "2025-11-25" },
      { params: { _meta: modernMeta() } },
      -32020,
    ],
    ["another method header", { ...good, "mcp-method": "tools/call" }, { params: { _meta: modernMeta() } }, -32020],
    ["no method header", { "mcp-protocol-version": "2026-07-28" }, { params: { _meta: modernMeta() } }, -32020],
    ["a null id", good, { id: null, params: { _meta: modernMeta() } }, -32600],
  ])("refuses a request with %s", async (_what, headers, body, code) => {
    const reply = await ask(headers, body);
    expect({ status: reply.status, code: reply.json.error.code }).toEqual({ status: 400, code });
  });

  test("names what it speaks when asked for something else", async () => {
    const meta = { ...modernMeta(), "io.modelcontextprotocol/protocolVersion": "v999" };
    const { status, json } = await ask({ ...good, "mcp-protocol-version": "v999" }, { params: { _meta: meta } });
    expect(status).toBe(400);
    expect(json.error).toMatchObject({ code: -32022, data: { supported: everything, requested: "v999" } });
  });

  test("holds Mcp-Name against the body, also when it is encoded", async () => {
    const body = {
      method: "tools/call",
      params: { name: "svc.whoami", arguments: {}, _meta: modernMeta() },
    };
    const headers = { ...good, "mcp-method": "tools/call" };
    const encoded = `=?base64?${Buffer.from("svc.whoami").toString("base64")}?=`;
    expect((await ask({ ...headers, "mcp-name": "svc.whoami" }, body)).status).toBe(200);
    expect((await ask({ ...headers, "mcp-name": encoded }, body)).status).toBe(200);
    expect((await ask({ ...headers, "mcp-name": "svc.search" }, body)).json.error.code).toBe(-32020);
    expect((await ask(headers, body)).json.error.code).toBe(-32020);
  });
});

describe("GET /api/mcp", () => {
  test("lists everything without a handshake", async () => {
    verifies("mcp.listing");
    const { status, json, headers } = await call(`${service.url}/api/mcp`, { key: service.apiKey });
    expect(status).toBe(200);
    expect(headers.vary).toContain("Accept");
    expect(json).toMatchObject({ ok: true, transport: "streamable-http", endpoint: `${service.url}/api/mcp` });
    const listed = await sendLegacy(service, "tools/list");
    expect(json.tools).toEqual(listed.json.result.tools);
    expect(json.prompts.map((prompt: { name: string }) => prompt.name)).toContain("check_my_connections");
    expect(json.resources.map((resource: { uri: string }) => resource.uri)).toContain("skill://svc/SKILL.md");
  });

  test.each([
    ["text/event-stream", 405],
    ["text/event-stream, */*", 405],
    ["application/json, text/event-stream", 200],
    ["*/*", 200],
  ])("with Accept %s answers %i", async (accept, status) => {
    verifies("decision.mcp-no-stream-405");
    const reply = await call(`${service.url}/api/mcp`, { key: service.apiKey, headers: { accept } });
    expect(reply.status).toBe(status);
    if (status === 405) expect(reply.headers.allow).toBe("POST");
  });

  test("DELETE is not a method of it", async () => {
    const reply = await call(`${service.url}/api/mcp`, { method: "DELETE", key: service.apiKey });
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe("GET, POST");
  });
});

describe("without a live key", () => {
  test.each(["GET", "POST"])("%s answers 401 and says where to sign in", async (method) => {
    verifies("mcp.unauthorized");
    const body = method === "POST" ? { body: "{}" } : {};
    const none = await call(`${service.url}/api/mcp`, { method, ...body });
    expect({ status: none.status, json: none.json }).toEqual({ status: 401, json: { error: expect.any(String) } });
    const metadata = `resource_metadata="${service.url}/.well-known/oauth-protected-resource/api/mcp"`;
    expect(none.headers["www-authenticate"]).toBe(`Bearer ${metadata}, scope="openid"`);
    for (const authorization of ["Bearer svc_live_wrong", "Bearer nonsense", "Bearer a.b.c"]) {
      const wrong = await call(`${service.url}/api/mcp`, { method, headers: { authorization }, ...body });
      expect(wrong.status).toBe(401);
      expect(wrong.headers["www-authenticate"]).toBe(`Bearer error="invalid_token", ${metadata}, scope="openid"`);
    }
  });

  test("an unusable key is not saved by a token beside it", async () => {
    const headers = { "x-svc-api-key": "svc_live_wrong", authorization: `Bearer ${service.apiKey}` };
    expect((await call(`${service.url}/api/mcp`, { headers })).status).toBe(401);
  });
});

test("another web site is refused before its key is looked at", async () => {
  const reply = await postMcp(service, { jsonrpc: "2.0", id: 1, method: "ping" }, { origin: "https://evil.example" });
  expect(reply.status).toBe(403);
});

describe("prompts and resources", () => {
  test("are got and read", async () => {
    const prompt = await sendLegacy(service, "prompts/get", {
      name: "do_with_my_apps",
      arguments: { task: "Tidy up" },
    });
    expect(prompt.json.result.messages[0]).toMatchObject({ role: "user", content: { type: "text" } });
    expect(prompt.json.result.messages[0].content.text).toMatch(/^Tidy up\n/);
    const uri = "skill://svc/references/errors.md";
    const guide = await sendModern(service, "resources/read", { uri });
    expect(guide.json.result.contents[0]).toMatchObject({ uri, mimeType: "text/markdown" });
    expect(guide.json.result.contents[0].text).toContain("policy_blocked");
  });

  test("take only texts", async () => {
    const params = { name: "do_with_my_apps", arguments: { task: 7 } };
    expect((await sendLegacy(service, "prompts/get", params)).json.error.code).toBe(-32602);
  });
});
