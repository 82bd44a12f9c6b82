import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renderOutcome, type ToolOutcome } from "../../../src/plugin/calls/outcome.ts";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import {
  closeAll,
  closeLater,
  openTestSession,
  sayYes,
  type TestSession,
} from "../../plugin/calls/open-test-session.ts";
import { createTool } from "../../plugin/calls/scripted-service.ts";
import { UNSEEN } from "../look.ts";
import { packBombs } from "./bombs.ts";
import { type Attack, type HostileServer, pour, raw, startHostileServer } from "./hostile-server.ts";

/** What a hostile service can do to the bytes of an answer. */

const KEY = `svc_live_${"k".repeat(32)}`;
const MIB = 1024 * 1024;
/** Largest answer these clients take; the service sends without end. */
const MAX_REPLY = 2 * MIB;
/** More than a client takes in: what is on its way in socket buffers of the system. */
const ON_THE_WAY = 8 * MIB;
const EXECUTE = "/api/tools/probe_read/execute";

let server: HostileServer;
/** Another host: nothing may ever arrive there. */
let elsewhere: HostileServer;
let session: TestSession;
/** The same with little patience. */
let hurried: TestSession;

beforeAll(async () => {
  server = closeLater(await startHostileServer());
  elsewhere = closeLater(await startHostileServer("127.0.0.2"));
  server.say("/api/tools/probe_read", { tool: createTool("probe_read", "read") });
  server.say("/api/tools/probe_write", { tool: createTool("probe_write", "write") });
  session = await open(5_000);
  hurried = await open(150);
});
afterAll(closeAll);

async function open(timeoutMs: number): Promise<TestSession> {
  const client = closeLater(
    new SvcClient({
      baseUrl: server.url,
      apiKey: KEY,
      timeoutMs,
      maxReplyBytes: MAX_REPLY,
      sleep: async () => undefined,
    }),
  );
  return openTestSession(server, { client, answer: sayYes });
}

function callWith(attack: Attack, tool = "probe_read", caller = session): Promise<ToolOutcome> {
  server.on(`/api/tools/${tool}/execute`, attack);
  return caller.call({ callId: crypto.randomUUID(), toolName: tool, arguments: { text: "hello" } });
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Most memory for bytes that was taken while something ran, beyond what was taken before. */
async function measureBytes(run: () => Promise<unknown>): Promise<number> {
  collect();
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const watch = setInterval(() => {
    // Only what is held counts, not what nobody has collected yet.
    collect();
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 10);
  await run().finally(() => clearInterval(watch));
  return most;
}

const countCalls = () => server.requests.filter(({ path }) => path.endsWith("/execute")).length;

/** Harmless: an outcome in clear words, with nothing that was not said, and no key anywhere else. */
function expectRefused(outcome: ToolOutcome): void {
  expect(["failed", "unknown"]).toContain(outcome.status);
  const shown = renderOutcome(outcome);
  expect(shown).not.toMatch(UNSEEN);
  expect(shown).not.toContain(KEY);
  expect(shown).not.toMatch(/\bat .+:\d+:\d+|node_modules|undici/);
  expect(shown.length).toBeLessThan(2_000);
  expect(outcome.message).toMatch(/\w{3}/);
  expect(elsewhere.requests).toEqual([]);
  expect(elsewhere.sentBytes()).toBe(0);
}

const send =
  (headers: Readonly<Record<string, string>>, body: Buffer | string, status = 200): Attack =>
  (_request, response) => {
    response.writeHead(status, headers).end(body);
  };
const JSON_TYPE = { "content-type": "application/json" };

describe("an answer that unpacks to more than it is", () => {
  const bombs = packBombs();

  it.each(Object.entries(bombs))(
    "%s is refused, and little memory taken",
    async (_name, { encoding, bytes }) => {
      const attack = send({ ...JSON_TYPE, "content-encoding": encoding }, bytes);
      const most = await measureBytes(async () => expectRefused(await callWith(attack)));
      expect(most).toBeLessThan(48 * MIB);
      // Each of three tries may take its whole time while memory is collected all the time.
    },
    60_000,
  );

  it("a write whose answer is one may have happened, and is not made again", async () => {
    const { bytes, encoding } = bombs.gzip ?? expect.fail();
    const before = countCalls();
    const outcome = await callWith(send({ "content-encoding": encoding }, bytes), "probe_write");
    expectRefused(outcome);
    expect(outcome.status).toBe("unknown");
    expect(countCalls()).toBe(before + 1);
  });
});

describe("an answer without end", () => {
  it.each<[string, Attack, number]>([
    [
      "of body",
      (_request, response) => {
        response.writeHead(200, JSON_TYPE);
        pour(response, `[${"1,".repeat(32_000)}`);
      },
      MAX_REPLY,
    ],
    ["of white space", (_request, response) => pour(response.writeHead(200, JSON_TYPE), " ".repeat(64_000)), MAX_REPLY],
    [
      "of header lines",
      raw((socket) =>
        pour(
          socket.on("error", () => undefined),
          `x-a: ${"b".repeat(1_000)}\r\n`,
        ),
      ),
      0,
    ],
    [
      "of one header",
      raw((socket) => {
        socket.write("HTTP/1.1 200 OK\r\nx-a: ");
        pour(socket, "b".repeat(64_000));
      }),
      0,
    ],
    [
      "of trailers",
      raw((socket) => {
        socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n");
        pour(socket, `x-t: ${"b".repeat(1_000)}\r\n`);
      }),
      0,
    ],
  ])("%s is cut off", async (_name, attack, accepted) => {
    const before = server.sentBytes();
    expectRefused(await callWith(attack));
    // A read is tried three times.
    expect(server.sentBytes() - before).toBeLessThan(3 * (accepted + ON_THE_WAY));
  });

  it.each<[string, string]>([
    ["of status line", "HTTP/1.1 200 "],
    ["of chunk extensions", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;"],
  ])("%s ends at the time limit, and nothing of it is kept", async (_name, start) => {
    const attack = raw((socket) => {
      socket.write(start);
      pour(socket, "e".repeat(64_000));
    });
    const most = await measureBytes(async () => expectRefused(await callWith(attack, "probe_read", hurried)));
    expect(most).toBeLessThan(48 * MIB);
  });

  it.each<[string, (response: Parameters<Attack>[1]) => void]>([
    ["one byte at a time", (response) => response.write(" ")],
    ["as one early hint after the other", (response) => response.socket?.write("HTTP/1.1 103 Early Hints\r\n\r\n")],
    ["as one go-on after the other", (response) => response.socket?.write("HTTP/1.1 100 Continue\r\n\r\n")],
    ["that never begins", () => undefined],
  ])("%s ends at the time limit", async (_name, drip) => {
    const timers: NodeJS.Timeout[] = [];
    const attack: Attack = (_request, response) => void timers.push(setInterval(() => drip(response), 5));
    const outcome = await callWith(attack, "probe_read", hurried);
    for (const timer of timers) clearInterval(timer);
    expectRefused(outcome);
    expect(["timeout", "unreachable"]).toContain(outcome.code);
  });
});

describe("lengths and kinds that lie", () => {
  const body = '{"ok":true,"result":{"a":1}}';
  const http = (head: string, text = body) =>
    raw((socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${head}\r\n\r\n${text}`));

  it.each<[string, Attack]>([
    ["shorter than said", http("content-length: 500")],
    ["longer than allowed, as said", http("content-length: 99999999999")],
    ["a length below nothing", http("content-length: -1")],
    ["a length beyond numbers", http("content-length: 99999999999999999999999999")],
    ["two lengths", http("content-length: 5\r\ncontent-length: 28")],
    ["a length and chunks", http(`content-length: ${body.length}\r\ntransfer-encoding: chunked`)],
    ["a chunk of negative size", http("transfer-encoding: chunked", "-5\r\nhello\r\n0\r\n\r\n")],
    ["no HTTP at all", raw((socket) => socket.end("\u001b]0;pwned\u0007SSH-2.0-OpenSSH_9.9\r\n"))],
    ["another protocol", raw((socket) => socket.end("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\nabc"))],
    ["a status of four digits", raw((socket) => socket.end("HTTP/1.1 2000 OK\r\ncontent-length: 2\r\n\r\n{}"))],
    ["status 0", raw((socket) => socket.end("HTTP/1.1 000 OK\r\ncontent-length: 2\r\n\r\n{}"))],
    ["a header with a line of its own", http("x: a\r\n \u001b[2J: b\r\ncontent-length: 2", "{}")],
  ])("%s: refused in clear words", async (_name, attack) => {
    expectRefused(await callWith(attack));
  });

  it("JSON of any declared kind is read, anything else is not", async () => {
    for (const type of ["text/html", "image/png", "x".repeat(2_000), ""]) {
      expect(await callWith(send({ "content-type": type }, body))).toMatchObject({ status: "succeeded" });
    }
    for (const text of ["<html>\u001b[31mhi</html>", "{", '"text"', "[1]", "nul", `\u00ff\u00fe${body}`, "{}{}"]) {
      expectRefused(await callWith(send(JSON_TYPE, Buffer.from(text, "latin1"))));
    }
  });

  it("an answer nobody asked for is not taken for the next one", async () => {
    const forged = '{"ok":true,"result":"forged"}';
    const attack = raw((socket) => {
      const reply = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
      socket.write(reply(body) + reply(forged));
    });
    await callWith(attack);
    const second = await callWith(send(JSON_TYPE, body));
    expect(second.result).not.toBe("forged");
  });
});

describe("an answer that points elsewhere", () => {
  const places = () => [
    `${elsewhere.url}/api/tools`,
    elsewhere.url.replace("http://", "//"),
    `http://${new URL(server.url).host}@${new URL(elsewhere.url).host}/`,
    "file:///etc/passwd",
    "http://127.0.0.1:1/",
    "javascript:alert(1)",
    "data:application/json,{}",
    `${server.url}${EXECUTE}`,
    "/api/tools/probe_write/execute",
    "\u001b[2J",
    "a".repeat(2_000),
  ];

  it.each([300, 301, 302, 303, 304, 305, 307, 308])("with %i is not followed", async (status) => {
    for (const location of places()) {
      const before = countCalls();
      const shown = location.replaceAll(/[^\x20-\x7e]/g, "");
      const body = { ok: true, result: "redirected" };
      server.say(EXECUTE, body, status, { location: shown, refresh: `0; url=${shown}`, "content-location": shown });
      const outcome = await session.call({ callId: crypto.randomUUID(), toolName: "probe_read", arguments: {} });
      expectRefused(outcome);
      expect(outcome.message).toContain("redirects are never followed");
      expect(countCalls()).toBe(before + 1);
    }
  });

  it("by other headers is not followed either, and no cookie is kept", async () => {
    const headers = {
      refresh: `0; url=${elsewhere.url}`,
      link: `<${elsewhere.url}>; rel=preload`,
      "alt-svc": `h2="${new URL(elsewhere.url).host}"`,
      "set-cookie": "a=b",
      "www-authenticate": 'Basic realm="give me your password"',
    };
    server.say(EXECUTE, { ok: true, result: 1 }, 200, headers);
    for (const callId of ["1", "2"]) await session.call({ callId, toolName: "probe_read", arguments: {} });
    expect(server.requests.every((request) => request.headers.cookie === undefined)).toBe(true);
    expect(elsewhere.requests).toEqual([]);
  });
});

describe("waiting times", () => {
  it.each(["-5", "NaN", "Infinity", "1e9", "99999999999999999999", "Thu, 01 Jan 1970 00:00:00 GMT", "\u001b", "0x10"])(
    "retry-after %s holds nobody up",
    async (value) => {
      const waits: number[] = [];
      const client = new SvcClient({
        baseUrl: server.url,
        apiKey: KEY,
        timeoutMs: 5_000,
        sleep: async (ms) => void waits.push(ms),
      });
      const shown = value.replaceAll(/[^\x20-\x7e]/g, "x");
      server.say("/api/tools", { error: "later" }, 429, { "retry-after": shown });
      const error = await client.listTools().catch((caught: unknown) => caught);
      await client.close();
      expect(error).toMatchObject({ code: "service_failure", status: 429 });
      expect(waits.length).toBeLessThan(3);
      for (const wait of waits) expect(wait >= 0 && wait < 5_000).toBe(true);
      server.say("/api/tools", { error: "Not found" }, 404);
    },
  );
});
