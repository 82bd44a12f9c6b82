import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { identifyServer } from "../../../src/service/mcp/server-card.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { call } from "../http-calls.ts";
import { sendLegacy } from "./mcp-calls.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ integrations: [] });
});
afterAll(() => service.close());

const PATHS = ["/api/mcp/server-card", "/.well-known/mcp/server-card.json"];

describe.each(PATHS)("%s", (path) => {
  const get = (headers: Record<string, string> = {}) => call(`${service.url}${path}`, { headers });

  test("answers anybody with the card", async () => {
    verifies(
      "mcp.card.required",
      "mcp.card.optional",
      "mcp.card.paths",
      "mcp.card.content-type",
      "auth.open-server-card",
    );
    const { status, headers, json } = await get({ origin: "https://scanner.example" });
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("application/mcp-server-card+json");
    expect(headers["cache-control"]).toBe("public, max-age=3600");
    expect(headers["access-control-allow-origin"]).toBe("*");
    expect(json).toMatchObject({
      $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
      name: "localhost/svc",
      version: "1.0.0",
      title: "svc",
      websiteUrl: service.url,
      remotes: [{ type: "streamable-http", url: `${service.url}/api/mcp` }],
    });
    expect(json.description.length).toBeLessThanOrEqual(100);
  });

  test("carries its version and the protocol versions it speaks", async () => {
    verifies("versioning.card-versions");
    const { json } = await get();
    expect(json.version).toMatch(/^\d+\.\d+\.\d+$/);
    const [remote] = json.remotes;
    expect(remote.supportedProtocolVersions).toEqual(
      expect.arrayContaining(["2025-03-26", "2025-11-25", "2026-07-28"]),
    );
  });

  test("carries no lists", async () => {
    verifies("mcp.card.no-lists");
    const { json } = await get();
    expect(Object.keys(json)).not.toEqual(expect.arrayContaining(["tools"]));
    expect(Object.keys(json).filter((key) => /tools|prompts|resources|capabilities/.test(key))).toEqual([]);
  });

  test("answers 304 to whoever has it", async () => {
    verifies("mcp.card.not-modified");
    const etag = String((await get()).headers.etag);
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const tag of [etag, `W/${etag}`, "*", `"other", ${etag}`]) {
      const reply = await get({ "if-none-match": tag });
      expect({ status: reply.status, text: reply.text, etag: reply.headers.etag }).toEqual({
        status: 304,
        text: "",
        etag,
      });
    }
    for (const tag of ['"other"', etag.slice(1, -1), ""]) {
      expect((await get({ "if-none-match": tag })).status, tag).toBe(200);
    }
  });

  test("may be asked for by scripts of other sites, and only read", async () => {
    const headers = { origin: "https://scanner.example", "access-control-request-method": "GET" };
    const preflight = await call(`${service.url}${path}`, { method: "OPTIONS", headers });
    expect(preflight.status).toBe(204);
    expect(preflight.headers["access-control-allow-headers"]).toContain("If-None-Match");
    expect((await call(`${service.url}${path}`, { method: "HEAD" })).text).toBe("");
    expect((await call(`${service.url}${path}`, { method: "POST", body: "{}" })).status).toBe(405);
  });
});

test("the card is the same on both paths and says what the handshake says", async () => {
  const [first, second] = await Promise.all(PATHS.map((path) => call(`${service.url}${path}`)));
  expect(first?.text).toBe(second?.text);
  const { json } = await sendLegacy(service, "initialize", { protocolVersion: "2025-11-25" });
  const { name, version } = json.result.serverInfo;
  expect(first?.json).toMatchObject({ name, version });
});

test.each([
  ["https://svc.example.org", "org.example.svc/svc"],
  ["http://127.0.0.1:8790", "localhost/svc"],
  ["http://[::1]:8790", "localhost/svc"],
  ["http://localhost:8790", "localhost/svc"],
])("%s is called %s", (url, name) => {
  expect(identifyServer(url).name).toBe(name);
});
