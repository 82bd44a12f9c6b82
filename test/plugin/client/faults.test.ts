import { MockAgent } from "undici";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import { readGolden } from "../../contract/read-golden.ts";
import { verifies } from "../../contract/verifies.ts";
import { catchError } from "./recording-server.ts";

const ORIGIN = "https://svc.example";
const LIST = readGolden("resources/tool-list-truncated");
let agent: MockAgent;
let waits: number[];
let client: SvcClient;

beforeEach(() => {
  agent = new MockAgent();
  agent.disableNetConnect();
  waits = [];
  client = new SvcClient({
    baseUrl: ORIGIN,
    apiKey: "svc_live_faults",
    dispatcher: agent,
    random: () => 0.5,
    now: () => Date.UTC(2026, 0, 5, 10, 0, 0),
    sleep: async (ms) => {
      waits.push(ms);
    },
  });
});
afterEach(async () => {
  agent.assertNoPendingInterceptors();
  await agent.close();
});

type Method = "GET" | "POST";
const on = (method: Method, path: string) => agent.get(ORIGIN).intercept({ method, path });
const onList = () => on("GET", "/api/tools");
const onExecute = () => on("POST", "/api/tools/drive_write/execute");
const execute = () => client.executeTool("drive_write", { arguments: { a: 1 } });
const failWith = (code: string) => Object.assign(new Error(`${code} happened`), { code });
const json = { headers: { "content-type": "application/json" } };

describe("the three shapes, told apart by body and not by status", () => {
  const ENVELOPE = readGolden("resources/envelope-needs-connection");
  const SUMMARY = readGolden("resources/summary-blocked-reauth");

  test.each([200, 400, 401, 402, 403, 404, 409, 412, 413, 422, 429, 500, 503])(
    "execute hands every shape back as a value at %i",
    async (status) => {
      verifies("execute.client", "errors.bare-accepted", "summary.accepted-by-plugin", "auth.client-refused-key");
      verifies("envelope.nullables-accepted", "envelope.ok-required-by-plugin");
      onExecute().reply(status, JSON.stringify(ENVELOPE), json);
      expect(await execute()).toEqual({ kind: "envelope", status, envelope: ENVELOPE });
      onExecute().reply(status, JSON.stringify(SUMMARY), json);
      expect(await execute()).toEqual({ kind: "summary", status, summary: SUMMARY });
      if (status === 200) return;
      onExecute().reply(status, JSON.stringify({ error: "no" }), json);
      expect(await execute()).toEqual({ kind: "bare", status, error: "no" });
    },
  );

  test.each([
    ["bare", { error: "Unauthorized" }, "unauthorized"],
    [
      "summary",
      { execution_id: null, status: "blocked", error_code: "unauthorized", message: "Bad key" },
      "unauthorized",
    ],
    ["envelope", { ok: false, error: { code: "unauthorized", message: "Bad key" } }, "unauthorized"],
    ["summary about a connection", SUMMARY, "service_failure"],
    ["envelope about a connection", { ok: false, error: { code: "needs_reauth", message: "x" } }, "service_failure"],
  ])("a 401 on a read is judged by its body: %s", async (_name, body, code) => {
    verifies("auth.client-refused-key");
    onList().reply(401, JSON.stringify(body), json);
    const error = await catchError(() => client.listTools());
    expect(error).toMatchObject({ code, status: 401, sent: true, retryable: false });
    if (code === "unauthorized")
      expect(error).toHaveProperty("hint", 'To go on, pair this device again: "svc pair --again".');
  });

  test("a failed read carries code, hint, next action and retryable of the answer", async () => {
    on("GET", "/api/actions/mail/x").reply(409, JSON.stringify(SUMMARY), json);
    expect(await catchError(() => client.getAction("mail", "x"))).toMatchObject({
      code: "service_failure",
      status: 409,
      serviceCode: "reauth_required",
      hint: "Reconnect mail, then send the request again.",
      nextAction: { tool: "svc.connect_app", input: { integration_id: "mail", force_reconnect: true } },
    });
    onList().reply(200, JSON.stringify({ error: "not today" }), json);
    expect(await catchError(() => client.listTools())).toMatchObject({ code: "service_failure", status: 200 });
  });

  test("a message begins with what failed, and ends with the request", async () => {
    const say = async (error: string) => {
      onList().reply(404, JSON.stringify({ error }), json);
      return (await catchError(() => client.listTools())) as Error;
    };
    expect((await say("There is nothing.")).message).toBe("There is nothing (GET /api/tools).");
    expect((await say("Nothing. Nowhere")).message).toBe("Nothing. Nowhere (GET /api/tools).");
    expect((await say("Nothing?")).message).toBe("Nothing? (GET /api/tools).");
  });

  test("a gateway's own JSON is a bare error", async () => {
    onExecute().reply(500, JSON.stringify({ message: "Internal server error" }), json);
    expect(await execute()).toEqual({ kind: "bare", status: 500, error: "Internal server error" });
    onExecute().reply(500, JSON.stringify({ error: { message: "nested" } }), json);
    expect(await execute()).toEqual({ kind: "bare", status: 500, error: "nested" });
  });

  test("an odd optional member does not hide that a write succeeded", async () => {
    const envelope = { ok: true, result: { id: 7 }, hint: 5, meta: "x", canonical: { display: 1 } };
    onExecute().reply(200, JSON.stringify(envelope), json);
    expect(await execute()).toEqual({ kind: "envelope", status: 200, envelope: { ok: true, result: { id: 7 } } });
    onExecute().reply(400, JSON.stringify({ ok: false, error: "just text" }), json);
    const reply = await execute();
    expect(reply).toMatchObject({ kind: "envelope", envelope: { error: { code: "unknown", message: "just text" } } });
  });

  test("a stored execution is returned whatever it says, a refused lookup is thrown", async () => {
    const failed = readGolden("resources/summary-failed");
    on("GET", "/api/executions/ex_8").reply(500, JSON.stringify(failed), json);
    expect(await client.getExecution("ex_8")).toEqual(failed);
    on("GET", "/api/executions/ex_9").reply(404, JSON.stringify({ error: "Execution not found" }), json);
    expect(await catchError(() => client.getExecution("ex_9"))).toMatchObject({ code: "service_failure", status: 404 });
  });

  test("a key refused in JSON-RPC clothes is an unauthorized error", async () => {
    const body = { jsonrpc: "2.0", id: null, error: { code: -32001, message: "Unauthorized" } };
    on("POST", "/api/mcp").reply(401, JSON.stringify(body), json);
    expect(await catchError(() => client.callMcp({ method: "tools/list" }))).toMatchObject({ code: "unauthorized" });
  });
});

describe("answers that are not the API's", () => {
  const HTML =
    "<html><head><title>502 Bad Gateway</title><script>let a</script></head><body><h1>nginx</h1></body></html>";

  test.each([
    ["an HTML page", 404, HTML, "502 Bad Gateway nginx"],
    ["truncated JSON", 200, '{"tools":[{"name":"a"', "JSON that is damaged or ends too early"],
    ["an empty body", 200, "", "an empty or unknown body"],
    ["bytes that are no text", 200, Buffer.from([0xff, 0xfe, 0x00, 0x80]), "unreadable text"],
    ["JSON of another API", 200, '{"items":{}}', "tools: Invalid input"],
    ["a JSON string", 200, '"ok"', "a body that does not fit"],
    ["null", 400, "null", "an empty or unknown body"],
  ])("%s is a bad response", async (_name, status, body, part) => {
    onList().reply(status, body, { headers: { "content-type": "text/html" } });
    const error = await catchError(() => client.listTools());
    expect(error).toMatchObject({ code: "bad_response", status, sent: true });
    expect(error).toHaveProperty("message", expect.stringContaining(part));
    expect(String(error)).not.toContain("<");
    expect(String(error).length).toBeLessThan(350);
  });

  test("execute says so too, and says that the request was sent", async () => {
    for (const [status, body] of [
      [502, HTML],
      [200, '{"ok":'],
      [200, '{"error":"no"}'],
      [200, "[]"],
    ] as const) {
      onExecute().reply(status, body);
      expect(await catchError(execute)).toMatchObject({ code: "bad_response", status, sent: true });
    }
  });

  test("an answer above the limit is not read to its end", async () => {
    const small = new SvcClient({ baseUrl: ORIGIN, apiKey: "k", dispatcher: agent, maxReplyBytes: 1000 });
    onList().reply(200, JSON.stringify({ tools: [], pad: "x".repeat(1000) }), json);
    const error = await catchError(() => small.listTools());
    expect(error).toMatchObject({ code: "bad_response" });
    expect(error).toHaveProperty("message", expect.stringContaining("over 1000 bytes"));
    onList().reply(200, "{}", { headers: { "content-length": "1001" } });
    expect(await catchError(() => small.listTools())).toMatchObject({ code: "bad_response" });
  });

  test.each([301, 302, 303, 307, 308])("a redirect (%i) is not followed", async (status) => {
    const location = "https://elsewhere.example/api/tools?token=secret";
    onList().reply(status, JSON.stringify({ error: "moved" }), { headers: { location } });
    const error = await catchError(() => client.listTools());
    expect(error).toMatchObject({ code: "bad_response", status });
    expect(error).toHaveProperty("message", expect.stringContaining("redirects to https://elsewhere.example;"));
    expect(String(error)).not.toContain("secret");
    onExecute().reply(status, JSON.stringify({ ok: true }), { headers: { location } });
    expect(await catchError(execute)).toMatchObject({ code: "bad_response", status });
  });
});

describe("retries of reads", () => {
  test.each([429, 502, 503, 504])("%i is tried again with jitter, three times at most", async (status) => {
    onList()
      .reply(status, JSON.stringify({ error: "busy" }), json)
      .times(3);
    expect(await catchError(() => client.listTools())).toMatchObject({
      code: "service_failure",
      status,
      retryable: true,
    });
    expect(waits).toEqual([250, 500]);
  });

  test.each([
    ["2", 2000],
    ["Mon, 05 Jan 2026 10:00:07 GMT", 7000],
    ["soon", 250],
  ])("Retry-After %s is honoured", async (value, wait) => {
    verifies("errors.retry-after-honoured");
    onList().reply(429, JSON.stringify({ error: "slow down" }), { headers: { "retry-after": value } });
    onList().reply(200, JSON.stringify(LIST), json);
    expect(await client.listTools()).toEqual(LIST);
    expect(waits).toEqual([wait]);
  });

  test("a Retry-After beyond the time of the call gives up at once and is reported", async () => {
    verifies("errors.retry-after-honoured");
    onList().reply(429, JSON.stringify({ error: "tomorrow" }), { headers: { "retry-after": "86400" } });
    const error = await catchError(() => client.listTools());
    expect(error).toMatchObject({ code: "service_failure", status: 429, retryAfterMs: 86_400_000 });
    expect(waits).toEqual([]);
  });

  test("an envelope that says trying again is useless is believed", async () => {
    const body = { ok: false, error: { code: "rate_limit_day", message: "Daily limit", retryable: false } };
    onList().reply(429, JSON.stringify(body), json);
    const error = await catchError(() => client.listTools());
    expect(error).toMatchObject({ serviceCode: "rate_limit_day", retryable: false });
    expect(waits).toEqual([]);
  });

  test.each([400, 401, 403, 404, 409, 500])("%i is not tried again", async (status) => {
    onList().reply(status, JSON.stringify({ error: "no" }), json);
    expect(await catchError(() => client.listTools())).toMatchObject({ status });
    expect(waits).toEqual([]);
  });

  test.each(["UND_ERR_SOCKET", "ECONNRESET", "ECONNREFUSED"])("%s is tried again", async (code) => {
    onList().replyWithError(failWith(code)).times(2);
    onList().reply(200, JSON.stringify(LIST), json);
    expect(await client.listTools()).toEqual(LIST);
    expect(waits).toEqual([250, 500]);
  });
});

describe("writes", () => {
  test.each(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT", "CERT_HAS_EXPIRED"])(
    "%s never left, so it is tried again and then reported as not sent",
    async (code) => {
      onExecute().replyWithError(failWith(code)).times(3);
      const error = await catchError(execute);
      expect(error).toMatchObject({ code: "unreachable", sent: false, retryable: true });
      expect(waits).toEqual([250, 500]);
    },
  );

  test.each(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE", "ETIMEDOUT", "UND_ERR_INFO"])(
    "%s may have left, so it is reported at once as sent",
    async (code) => {
      onExecute().replyWithError(failWith(code));
      expect(await catchError(execute)).toMatchObject({ code: "unreachable", sent: true });
      expect(waits).toEqual([]);
    },
  );

  test.each([429, 500, 502, 503])("%i is a value and never tried again", async (status) => {
    const envelope = readGolden("resources/envelope-rate-limited");
    onExecute().reply(status, JSON.stringify(envelope), { headers: { "retry-after": "3" } });
    expect(await execute()).toEqual({ kind: "envelope", status, envelope, retryAfterMs: 3000 });
    expect(waits).toEqual([]);
  });

  test("undici's own timeouts are timeouts", async () => {
    onExecute().replyWithError(failWith("UND_ERR_HEADERS_TIMEOUT"));
    expect(await catchError(execute)).toMatchObject({ code: "timeout", sent: true });
  });
});
