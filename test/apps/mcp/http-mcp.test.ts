import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { McpConnectError, type McpDefinition } from "../../../src/apps/mcp/connect-mcp.ts";
import { McpLink } from "../../../src/apps/mcp/mcp-link.ts";
import { prepareMcp } from "../../../src/apps/mcp/read-mcp-tools.ts";
import { openSourceAdmin, type SourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { waitForTool } from "../../service/added/wait-for-tool.ts";
import { execute } from "../../service/http-calls.ts";
import { startHttpMcpServer } from "./http-server.ts";

const TOKEN = "token-that-nobody-else-sees";

let server: Awaited<ReturnType<typeof startHttpMcpServer>>;
let other: Server;
const reachedOther: string[] = [];
let service: TestService;
let admin: SourceAdmin;
const logged: string[] = [];

beforeAll(async () => {
  server = await startHttpMcpServer();
  other = createServer((request, response) => {
    reachedOther.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.writeHead(200).end();
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  service = await startTestService({
    providerTimeoutMs: 10_000,
    log: ({ message, cause }) => logged.push(`${message} ${showAll(cause)}`),
  });
  admin = await openSourceAdmin({ dataDir: service.dataDir });
  const { source } = await prepareMcp(place(), SETTINGS, AbortSignal.timeout(30_000));
  await admin.add(source, { connection: { label: "Remote", settings: SETTINGS } });
  await waitForTool(service, "remote_look");
}, 60_000);

beforeEach(async () => {
  server.behave();
  server.seen.length = 0;
  reachedOther.length = 0;
  logged.length = 0;
  const { id } = await findConnection();
  await service.service.connections.update(id, { state: "healthy", settings: SETTINGS });
});

afterAll(async () => {
  await admin?.close();
  await service?.close();
  await server?.close();
  other?.close();
});

const SETTINGS = { Authorization: `Bearer ${TOKEN}` };

function place(): { slug: string; name: undefined; definition: McpDefinition } {
  const definition = { transport: "http", url: server.url, headers: ["Authorization"], isPrivate: true } as const;
  return { slug: "remote", name: undefined, definition: { ...definition, trusted: true } };
}

async function findConnection() {
  const [connection] = await service.service.connections.list("remote");
  if (connection === undefined) throw new Error("Nothing is connected.");
  return connection;
}

/** Everything an error holds, also what printing it would show. */
function showAll(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return `${cause.stack} ${JSON.stringify(cause)} ${showAll(cause.cause)}`;
}

const look = () => execute(service, "remote_look");
const note = (text: string) => execute(service, "remote_note", { arguments: { text }, confirmed: true });
const elsewhere = () => `http://127.0.0.1:${(other.address() as AddressInfo).port}/mcp`;

test("every request carries the connection's header, and nothing else does", async () => {
  expect((await look()).status).toBe(200);
  expect(server.seen.length).toBeGreaterThan(0);
  expect(new Set(server.seen.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${TOKEN}`]));
});

test.each([301, 302, 307, 308])("a redirect (%i) is refused, and its target sees nothing", async (status) => {
  server.behave({ status, headers: { location: elsewhere() } }, "everything");
  const refused = await look();
  expect(refused.json.error).toMatchObject({ code: "provider_error", retryable: false });
  expect(refused.json.error.message).toContain(`answered ${status}: it redirects to another address`);
  server.behave({ status, headers: { location: server.url.replace("/mcp", "/elsewhere") } });
  expect((await look()).json.error.code).toBe("provider_error");
  expect(reachedOther).toEqual([]);
});

test("a server that has forgotten the session gets a new one, and the write is made once", async () => {
  await look();
  const before = server.notes.length;
  server.sessions.clear();
  expect((await note("after")).json).toMatchObject({ ok: true });
  expect(server.notes.slice(before)).toEqual(["after"]);
  expect(server.seen.filter(({ asked }) => asked === "initialize")).toHaveLength(1);
});

test.each([
  ["ends", {}],
  ["breaks", { drop: true }],
] as const)(
  "a stream that %s without the answer leaves a write in doubt at once, and a read to be repeated",
  async (_how, how) => {
    await look();
    const headers = { "content-type": "text/event-stream" };
    const body =
      'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}\n\n';
    server.behave({ ...how, headers, body });
    expect((await note("doubtful")).json.error).toMatchObject({ code: "outcome_unknown", retryable: false });
    expect((await look()).json.error).toMatchObject({ code: "provider_unavailable", retryable: true });
    server.behave();
    expect((await look()).status).toBe(200);
  },
);

test.each([
  ["an event", "text/event-stream"],
  ["an answer of another kind", "text/html"],
])("%s without end is not collected", async (_what, type) => {
  await look();
  server.behave({ headers: { "content-type": type }, body: `data: ${"x".repeat(11 * 1024 * 1024)}`, open: true });
  expect((await note("endless")).json.error).toMatchObject({ code: "outcome_unknown" });
  server.behave();
  expect((await look()).status).toBe(200);
});

test("a token that is refused when the session is opened asks for a new sign-in, and is not tried again", async () => {
  await look();
  const { id } = await findConnection();
  await service.service.connections.update(id, { settings: { Authorization: "Bearer old-token-of-before" } });
  const body = '{"error":{"message":"old-token-of-before is revoked"}}';
  server.behave({ status: 401, headers: { "content-type": "application/json" }, body }, "everything");
  const refused = await look();
  expect(refused.json).toMatchObject({ error: { code: "needs_reauth" } });
  expect(refused.text).not.toContain("old-token-of-before");
  await vi.waitFor(async () => expect((await findConnection()).state).toBe("reauth_required"), { timeout: 30_000 });
  const asked = server.seen.length;
  expect((await look()).status).toBe(401);
  expect(server.seen).toHaveLength(asked);
  server.behave();
  await service.service.connections.update(id, { settings: SETTINGS, state: "healthy" });
  expect((await look()).status).toBe(200);
  expect(logged.join("\n")).toContain("refuses its credentials");
});

test("a refusal of settings that the owner has replaced meanwhile does not speak against the new ones", async () => {
  const { id } = await findConnection();
  await service.service.connections.update(id, { settings: { Authorization: "Bearer replaced-token" } });
  const told = Promise.withResolvers<void>();
  const headers = { "content-type": "application/json" };
  server.behave({ status: 401, headers, body: '{"error":{"message":"revoked"}}' }, "everything", told.promise);
  const late = look();
  await vi.waitFor(() => expect(server.seen).not.toEqual([]), { timeout: 30_000 });
  await service.service.connections.update(id, { state: "healthy", settings: SETTINGS });
  told.resolve();
  expect((await late).json).toMatchObject({ error: { code: "needs_reauth" } });
  server.behave();
  expect((await look()).status).toBe(200);
  expect((await findConnection()).state).toBe("healthy");
});

test("a session of settings that were replaced is ended though nobody calls", async () => {
  await look();
  const { id } = await findConnection();
  await service.service.connections.update(id, { settings: { Authorization: `Bearer ${TOKEN}-next` } });
  await vi.waitFor(() => expect(server.seen.at(-1)?.method).toBe("DELETE"), { timeout: 30_000, interval: 200 });
  expect(server.seen.at(-1)?.headers.authorization).toBe(`Bearer ${TOKEN}`);
});

test("a session of settings that were replaced does not speak for the new ones while a call still needs it", async () => {
  await look();
  const told = Promise.withResolvers<void>();
  server.behave({ status: 503, headers: {}, body: "" }, "calls", told.promise);
  server.seen.length = 0;
  const late = look();
  await vi.waitFor(() => expect(server.seen.at(-1)?.asked).toBe("tools/call"), { timeout: 30_000 });
  const { id } = await findConnection();
  // As another process says that shares the store.
  const settings = { Authorization: `Bearer ${TOKEN}-next` };
  await service.service.connections.update(id, { state: "error", settings });
  // Connections are looked at every five seconds.
  await delay(6_000);
  expect((await findConnection()).state).toBe("error");
  told.resolve();
  expect((await late).json.ok).toBe(false);
}, 30_000);

test("a link is closed at once where a server that does not answer is waited for by nobody", async () => {
  server.behave({ hang: true }, "everything");
  const down: unknown[] = [];
  const link = new McpLink(place().definition, SETTINGS, {
    onOpen: async () => {},
    onDown: (error) => down.push(error),
    onToolsChanged: () => {},
  });
  const opened = link.open().catch((error: unknown) => error);
  await vi.waitFor(() => expect(server.seen).not.toEqual([]), { timeout: 30_000 });
  await link.close(0);
  expect(await opened).toBeInstanceOf(McpConnectError);
  expect(down).toEqual([]);
}, 10_000);

test("a server that is down is in error, says so without advice to change settings, and comes back", async () => {
  const { id } = await findConnection();
  const settings = { Authorization: `Bearer ${TOKEN}-2` };
  await service.service.connections.update(id, { settings });
  await server.stop();
  expect((await look()).json.error).toMatchObject({ code: "provider_unavailable", retryable: true });
  await vi.waitFor(async () => expect((await findConnection()).state).toBe("error"), { timeout: 30_000 });
  const refused = await look();
  expect(refused.json.error.code).toBe("integration_misconfigured");
  expect(refused.json.error.message).toBe('"Remote" (Remote) does not work at the moment.');
  expect(refused.json.hint).toMatch(/down[\s\S]*try again/i);
  await server.resume();
  await vi.waitFor(async () => expect((await look()).status).toBe(200), { timeout: 30_000, interval: 250 });
});

test("no token is in any log", async () => {
  for (const status of [500, 403]) {
    server.behave({ status, body: `{"message":"${TOKEN}-${status} went wrong"}` }, "everything");
    const { id } = await findConnection();
    await service.service.connections.update(id, { settings: { Authorization: `Bearer ${TOKEN}-${status}` } });
    const reply = await look();
    expect(reply.json.ok).toBe(false);
    expect(reply.text).not.toContain(TOKEN);
  }
  await vi.waitFor(() => expect(logged.length).toBeGreaterThan(0), { timeout: 30_000 });
  expect(logged.join("\n")).not.toContain(TOKEN);
});

test("what is disconnected ends its session", async () => {
  await look();
  expect(server.sessions.size).toBeGreaterThan(0);
  const { id } = await findConnection();
  await service.service.connections.remove(id);
  await vi.waitFor(() => expect(server.seen.at(-1)?.method).toBe("DELETE"), { timeout: 30_000, interval: 200 });
  await admin.remove("remote");
});
