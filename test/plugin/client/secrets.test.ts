import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { inspect } from "node:util";
import { MockAgent } from "undici";
import { afterEach, expect, test } from "vitest";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import { catchError, startRecordingServer } from "./recording-server.ts";

const CANARY = "svc_live_CANARY7f3a9";
const TOKEN = "v1.CANARYtokenpart1.CANARYtokenpart2";
const VERIFIER = "CANARYverifier0123456789";
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** Everything a log line, a crash report or a debugger would show of a value. */
function show(value: unknown): string {
  const error = value instanceof Error ? `${value.message}\n${value.stack}\n${JSON.stringify(value)}` : "";
  return `${inspect(value, { depth: 12, showHidden: true, getters: true })}\n${error}`;
}

const body = {
  contentType: "application/json",
  contentLength: 10,
  // biome-ignore lint/correctness/useYield: a stream that fails before its first byte
  async *open(): AsyncGenerator<Uint8Array> {
    throw new Error(`reading with ${CANARY} failed`);
  },
};

/** Calls that carry each kind of secret. */
async function collectFailures(client: SvcClient): Promise<unknown[]> {
  const url = `${client.baseUrl}/api/files/ingest?token=${TOKEN}`;
  const headers = { authorization: `Bearer ${TOKEN}` };
  const bytes = {
    contentType: "text/plain",
    contentLength: 2,
    open: async function* () {
      yield Buffer.from("ab");
    },
  };
  const calls = [
    () => client.listTools({}, { timeoutMs: 100 }),
    () => client.executeTool("a", { arguments: { note: CANARY } }, { timeoutMs: 100 }),
    () => client.executeTool("a", body, { timeoutMs: 100 }),
    () => client.callMcp({ method: "tools/list" }, { timeoutMs: 100 }),
    () => client.ingestFile({ url, method: "POST", headers, body: bytes }, { timeoutMs: 100 }),
    () => client.exchangePairing("CANARYsession", VERIFIER, { timeoutMs: 100 }),
    () => client.pollBootstrap(`${client.baseUrl}/poll/CANARYsession?token=${TOKEN}`, { timeoutMs: 100 }),
    () => client.listTools({}, { signal: AbortSignal.abort(new Error(CANARY)) }),
  ];
  const failures: unknown[] = [];
  for (const call of calls) failures.push(await catchError(call));
  return failures;
}

const open = (baseUrl: string) => {
  const client = new SvcClient({ baseUrl, apiKey: CANARY, sleep: async () => {} });
  cleanups.push(() => client.close());
  return client;
};

async function listenTcp(onSocket: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    cleanups.push(() => socket.destroy());
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Services that fail in every way, most of them echoing what they were sent. */
const SERVICES: Readonly<Record<string, () => Promise<string>>> = {
  "that is not there": async () => "http://127.0.0.1:1",
  "that hangs up": () => listenTcp((socket) => socket.once("data", () => socket.destroy())),
  "that never answers": () => listenTcp(() => {}),
  "that echoes the request as garbage": () => listenTcp((socket) => socket.once("data", (data) => socket.end(data))),
  "that echoes the request as HTML": () =>
    listenTcp((socket) =>
      socket.once("data", (data) =>
        socket.end(`HTTP/1.1 502 Bad\r\ncontent-type: text/html\r\n\r\n<pre>${data}</pre>`),
      ),
    ),
  "that echoes the request as an error": async () => {
    const server = await startRecordingServer((request) => ({ status: 400, json: { error: JSON.stringify(request) } }));
    cleanups.push(server.close);
    return server.url;
  },
  "that echoes the request as an envelope": async () => {
    const server = await startRecordingServer((request) => ({
      status: 401,
      json: {
        ok: 1,
        status: "failed",
        error_code: "x",
        message: JSON.stringify(request),
        hint: `curl ${inspect(request)}`,
      },
    }));
    cleanups.push(server.close);
    return server.url;
  },
  "that redirects the key to another host": async () => {
    const server = createServer((request, response) => {
      response.writeHead(307, { location: `https://elsewhere.example/?key=${request.headers["x-svc-api-key"]}` });
      response.end("moved");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanups.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  },
};

test.each(Object.entries(SERVICES))("no failure of a service %s shows a secret", async (name, start) => {
  const client = open(await start());
  // A service that answers with an envelope gives no thrown failure for the calls that hand answers back as values.
  const failures = name.includes("as an e") ? await collectThrown(client) : await collectFailures(client);
  for (const failure of [...failures, client]) {
    const shown = show(failure);
    expect(shown).not.toContain("CANARY");
    expect(shown).not.toContain("elsewhere.example/?");
  }
});

/** The same without the calls that hand a refusal back as a value. */
async function collectThrown(client: SvcClient): Promise<unknown[]> {
  return [
    await catchError(() => client.listTools()),
    await catchError(() => client.describeTool("a")),
    await catchError(() => client.startFlow({ flowTemplate: "a" })),
    await catchError(() => client.pollBootstrap(`${client.baseUrl}/poll/CANARYsession?token=${TOKEN}`)),
    await catchError(() =>
      client.ingestFile({
        url: `${client.baseUrl}/api/files/ingest?t=${TOKEN}`,
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}` },
        body: { contentType: "text/plain", contentLength: 0, open: async function* () {} },
      }),
    ),
    await catchError(() => client.exchangePairing("CANARYsession", VERIFIER)),
  ];
}

test("failures of undici itself do not carry the key along", async () => {
  const agent = new MockAgent();
  agent.disableNetConnect();
  cleanups.push(() => agent.close());
  const client = new SvcClient({
    baseUrl: "https://svc.example",
    apiKey: CANARY,
    dispatcher: agent,
    sleep: async () => {},
  });
  const failure = Object.assign(new Error(`boom ${CANARY}`), { code: "ECONNRESET", request: { key: CANARY } });
  agent.get("https://svc.example").intercept({ path: "/api/tools" }).replyWithError(failure).times(3);
  expect(show(await catchError(() => client.listTools()))).not.toContain("CANARY");
  // Nothing is intercepted for this one: MockAgent's own refusal names the request.
  expect(show(await catchError(() => client.describeTool("a")))).not.toContain("CANARY");
  expect(show(client)).not.toContain("CANARY");
});
