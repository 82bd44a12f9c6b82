import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { call } from "../http-calls.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ integrations: [] });
});
afterAll(() => service.close());

/** Sends bytes as they are and returns the whole answer. */
function sendRaw(text: string): Promise<string> {
  const socket = connect(Number(new URL(service.url).port), "127.0.0.1");
  socket.write(text);
  return new Promise((resolve, reject) => {
    let answer = "";
    socket.on("data", (data) => {
      answer += String(data);
    });
    socket.once("error", reject);
    socket.once("close", () => resolve(answer));
  });
}

describe("the Host header", () => {
  test.each(["evil.example", "127.0.0.1:1", "127.0.0.1", "169.254.169.254", "localhost.evil.example"])(
    "%s is refused",
    async (host) => {
      const answer = await sendRaw(`GET /api/tools HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain(`under ${service.url}. A paired device follows it with: svc move ${service.url}`);
    },
  );

  test("localhost is the same service", async () => {
    const { port } = new URL(service.url);
    const answer = await sendRaw(`GET /health HTTP/1.1\r\nHost: LOCALHOST:${port}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

test("idle connections are kept longer than our client uses them", async () => {
  const { port } = new URL(service.url);
  const { headers } = await fetch(`${service.url}/health`);
  expect(headers.get("keep-alive")).toBe("timeout=65");
  const answer = await sendRaw(`GET /health HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
  expect(answer).toMatch(/^connection: close\r$/im);
});

describe("other web sites", () => {
  test.each([
    ["a foreign origin", { origin: "https://evil.example" }],
    ["an opaque origin", { origin: "null" }],
    ["a cross-site fetch", { "sec-fetch-site": "cross-site" }],
    ["a same-site fetch", { "sec-fetch-site": "same-site" }],
  ] as [string, Record<string, string>][])("cannot start a pairing: %s", async (_what, headers) => {
    const { status } = await call(`${service.url}/api/plugin/pair/start`, { method: "POST", headers, body: "{}" });
    expect(status).toBe(403);
  });

  test("the own origin may", async () => {
    const headers = { origin: service.url, "sec-fetch-site": "same-origin" };
    const { status } = await call(`${service.url}/api/plugin/pair/start`, { method: "POST", headers, body: "{}" });
    expect(status).toBe(200);
  });
});

describe("addresses", () => {
  test.each(["/api/nope", "/api", "/api/tools/a/b/c", "/nope"])("404 bare: %s", async (path) => {
    const { status, json } = await call(`${service.url}${path}`, { key: service.apiKey });
    expect([status, Object.keys(json)]).toEqual([404, ["error"]]);
  });

  test.each([
    ["DELETE", "/health", "GET"],
    ["GET", "/api/plugin/pair/start", "POST"],
    ["PUT", "/api/files/ingest", "POST"],
    ["GET", "/api/tools/lab_put/execute", "POST"],
    ["POST", "/api/plugin/pair/sessions/x", "GET"],
  ])("405 bare with Allow: %s %s", async (method, path, allow) => {
    const { status, json, headers } = await call(`${service.url}${path}`, { method, key: service.apiKey });
    expect([status, Object.keys(json), headers.allow]).toEqual([405, ["error"], allow]);
  });

  test("a browser gets a page instead", async () => {
    const { status, text } = await call(`${service.url}/nope`, { headers: { accept: "text/html,*/*" } });
    expect(status).toBe(404);
    expect(text).toContain("There is no such page");
  });
});

describe("bodies of small routes", () => {
  const start = () => `${service.url}/api/plugin/pair/start`;

  test("a declared length above the limit is refused unread", async () => {
    const { host } = new URL(service.url);
    const answer = await sendRaw(
      `POST /api/plugin/pair/start HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 9999999\r\n\r\n{`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*\{"error":/);
  });

  test("an undeclared length is counted", async () => {
    const { host } = new URL(service.url);
    const chunk = `4000\r\n${" ".repeat(0x4000)}\r\n`;
    const answer = await sendRaw(
      `POST /api/plugin/pair/start HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}0\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*\{"error":/);
  });

  test.each([
    ["broken JSON", "{"],
    ["an array", "[]"],
    ["a string", '"a"'],
    ["no UTF-8", Buffer.from([0x22, 0xff, 0x22])],
  ] as [string, string | Buffer][])("400 bare: %s", async (_what, body) => {
    const { status, json } = await call(start(), { method: "POST", body });
    expect([status, Object.keys(json)]).toEqual([400, ["error"]]);
  });
});
