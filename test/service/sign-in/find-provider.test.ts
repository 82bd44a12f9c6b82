import { createServer } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { findProvider } from "../../../src/service/connections/sign-in/find-provider.ts";
import { listenPausably } from "../pausable-server.ts";

/** Where an MCP server that does not say so lets its users sign in. */

const documents = new Map<string, object>();
const server = createServer((request, response) => {
  const found = documents.get(request.url ?? "");
  response.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
  response.end(JSON.stringify(found));
});
let listener: Awaited<ReturnType<typeof listenPausably>>;
let origin: string;

beforeAll(async () => {
  listener = await listenPausably(server);
  origin = `http://127.0.0.1:${listener.port}`;
});
beforeEach(() => documents.clear());
afterAll(() => listener.close());

const find = () => {
  const provider = { resource: `${origin}/mcp` };
  return findProvider({ provider, flow: "code", scopes: [], isPrivate: true, useToken: () => ({}) }, "Plans");
};

test("at the fixed places of its own origin, where nothing has metadata", async () => {
  expect(await find()).toMatchObject({
    resource: `${origin}/mcp`,
    hasIssuer: false,
    server: { authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token` },
  });
});

test("at the places that the metadata of its own origin name", async () => {
  documents.set("/.well-known/oauth-authorization-server", {
    issuer: origin,
    authorization_endpoint: `${origin}/sign-in/page`,
    token_endpoint: `${origin}/sign-in/token`,
  });
  expect(await find()).toMatchObject({
    hasIssuer: true,
    server: { authorization_endpoint: `${origin}/sign-in/page`, token_endpoint: `${origin}/sign-in/token` },
  });
});

test("nowhere, where the metadata of its own origin are those of another issuer", async () => {
  documents.set("/.well-known/oauth-authorization-server", {
    issuer: "https://other.example.org",
    authorization_endpoint: `${origin}/sign-in/page`,
    token_endpoint: `${origin}/sign-in/token`,
  });
  await expect(find()).rejects.toMatchObject({ code: "integration_misconfigured" });
});

test("with the scopes that a request can carry, of those that the metadata name", async () => {
  documents.set("/.well-known/oauth-protected-resource/mcp", {
    resource: `${origin}/mcp`,
    scopes_supported: ["read", "read", "files:write", "two words", 'quo"ted', "", "x".repeat(201), 7, "line\nend"],
  });
  expect(await find()).toMatchObject({ resourceScopes: ["read", "files:write"] });
});
