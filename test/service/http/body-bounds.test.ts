import { connect, type Socket } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { listen } from "../../../src/service/http/listen.ts";
import { renderBare } from "../../../src/service/http/render-outcome.ts";
import { KEYLESS_BODY, readJsonObject } from "../../../src/service/http/request.ts";
import { OAUTH_PATHS } from "../../../src/service/oauth/create-provider.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { createLab } from "../lab-integration.ts";

const MIB = 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 0x20);
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** Opens a connection and collects what comes back; a reset counts as an end. */
function open(port: number): { socket: Socket; answer(): string; closed: Promise<void> } {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (data) => {
    text += String(data);
  });
  socket.on("error", () => {});
  cleanups.push(() => socket.destroy());
  return { socket, answer: () => text, closed: new Promise((resolve) => socket.once("close", () => resolve())) };
}

function head(path: string, headers: Record<string, string | number>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines.join("")}\r\n`;
}

/** Refuses every request unread, but for `/in-time`, which answers at once, and `/read`, which reads. */
async function startRefusing(limits: { bytes: number; pauseMs: number; totalMs: number }) {
  const fetch = async (request: Request) => {
    if (request.url.endsWith("/in-time")) return new Response("ok");
    return renderBare(new ServiceError(401, "unauthorized", "No key.", { bare: true }));
  };
  const listener = await listen({ fetch, host: "127.0.0.1", port: 0, discardLimits: limits });
  cleanups.push(() => listener.close(0));
  return listener;
}

/** Writes as long as the other side takes it. */
function sendForEver(socket: Socket): { sent(): number } {
  let sent = 0;
  const write = () => {
    while (!socket.destroyed) {
      sent += PIECE.length;
      if (!socket.write(PIECE)) break;
    }
  };
  socket.on("drain", write);
  write();
  return { sent: () => sent };
}

describe("what is left of a refused body", () => {
  test("is taken up to a number of bytes, and its sender has had the answer", async () => {
    const { port } = await startRefusing({ bytes: 8 * MIB, pauseMs: 60_000, totalMs: 60_000 });
    const { socket, answer, closed } = open(port);
    socket.write(head("/any", { "content-length": 1024 * MIB }));
    const { sent } = sendForEver(socket);
    await closed;
    expect(answer()).toMatch(/^HTTP\/1\.1 401 [\s\S]*connection: close[\s\S]*\{"error":"No key\."\}$/i);
    // What the two socket buffers hold is sent but not taken.
    expect(sent()).toBeLessThan(64 * MIB);
    expect(sent()).toBeGreaterThan(8 * MIB);
  });

  test("is waited for no longer than a pause, or a total time", async () => {
    for (const times of [
      { pauseMs: 30, totalMs: 60_000 },
      { pauseMs: 60_000, totalMs: 30 },
    ]) {
      const { port } = await startRefusing({ bytes: 8 * MIB, ...times });
      const { socket, answer, closed } = open(port);
      socket.write(`${head("/any", { "content-length": 1024 })}x`);
      await closed;
      expect(answer()).toMatch(/^HTTP\/1\.1 401 [\s\S]*\{"error":"No key\."\}$/);
    }
  });

  test("does not hold up others, nor fill the memory", async () => {
    const { port } = await startRefusing({ bytes: 400 * MIB, pauseMs: 60_000, totalMs: 60_000 });
    const before = process.memoryUsage().rss;
    const { socket, closed } = open(port);
    socket.write(head("/any", { "content-length": 1024 * MIB }));
    sendForEver(socket);
    let answered = 0;
    let isOver = false;
    void closed.then(() => {
      isOver = true;
    });
    while (!isOver) {
      expect(await (await fetch(`http://127.0.0.1:${port}/in-time`)).text()).toBe("ok");
      answered += 1;
    }
    expect(answered).toBeGreaterThan(20);
    expect((process.memoryUsage().rss - before) / MIB).toBeLessThan(150);
  });

  test("ends with the connection still usable for a small body that came whole", async () => {
    const { port } = await startRefusing({ bytes: MIB, pauseMs: 60_000, totalMs: 60_000 });
    const { socket, answer } = open(port);
    for (let request = 1; request <= 2; request += 1) {
      socket.write(`${head("/any", { "content-length": 2 })}{}`);
      await vi.waitUntil(() => answer().split('{"error":"No key."}').length > request);
    }
    expect(answer()).not.toMatch(/connection: close/i);
  });
});

describe("a body that came with its headers", () => {
  async function startReading() {
    const fetch = (_request: Request, env: HttpBindings) => {
      // Read piece by piece it would be refused: a piece is waited for no longer than this.
      return readJsonObject(env, { limit: 20, rate: { minBytesPerSecond: 0, windowMs: 60_000, totalMs: 0 } }).then(
        (body) => Response.json({ members: Object.keys(body).length }),
        (error: ServiceError) => renderBare(error),
      );
    };
    const listener = await listen({ fetch, host: "127.0.0.1", port: 0 });
    cleanups.push(() => listener.close(0));
    return listener;
  }

  test("is read at once, and the connection takes the next", async () => {
    const { port } = await startReading();
    const { socket, answer } = open(port);
    for (let request = 1; request <= 3; request += 1) {
      socket.write(`${head("/read", { "content-length": 13 })}{"a":1,"b":2}`);
      await vi.waitUntil(() => answer().split('{"members":2}').length > request);
    }
    socket.write(head("/read", { "content-length": 0 }));
    await vi.waitUntil(() => answer().includes('{"members":0}'));
  });

  test.each([
    ["of a length that is said", `${head("/read", { "content-length": 24 })}{"a":"${"x".repeat(16)}"}`],
    [
      "in pieces of a length that nobody said",
      `${head("/read", { "transfer-encoding": "chunked" })}6\r\n{"a":"\r\n12\r\n${"x".repeat(16)}"}\r\n0\r\n\r\n`,
    ],
  ])("is refused above the limit: %s", async (_what, bytes) => {
    const { port } = await startReading();
    const { socket, answer } = open(port);
    socket.write(bytes);
    await vi.waitUntil(() => answer().includes("error"));
    expect(answer()).toMatch(/^HTTP\/1\.1 413 [\s\S]*larger than 20 bytes/);
  });
});

describe("a body that trickles", () => {
  /** Answers 200 with the length of the object, or the refusal. */
  async function startReading(rate: { minBytesPerSecond: number; windowMs: number; totalMs?: number }) {
    const fetch = (_request: Request, env: HttpBindings) =>
      readJsonObject(env, { rate }).then(
        (body) => Response.json({ members: Object.keys(body).length }),
        (error: ServiceError) => renderBare(error),
      );
    const listener = await listen({
      fetch,
      host: "127.0.0.1",
      port: 0,
      discardLimits: { bytes: MIB, pauseMs: 20, totalMs: 20 },
    });
    cleanups.push(() => listener.close(0));
    return listener;
  }

  test.each([
    ["below the rate", { minBytesPerSecond: 1024, windowMs: 40 }],
    ["for longer than a whole body may take", { minBytesPerSecond: 0, windowMs: 60_000, totalMs: 40 }],
  ])("%s is refused and cut", async (_what, rate) => {
    const { port } = await startReading(rate);
    const { socket, answer, closed } = open(port);
    socket.write(`${head("/read", { "content-length": 100 })}{`);
    await closed;
    expect(answer()).toMatch(/^HTTP\/1\.1 400 [\s\S]*arrived too slowly/);
  });

  test("but not slower than that is read", async () => {
    const { port } = await startReading({ minBytesPerSecond: 1, windowMs: 60_000, totalMs: 60_000 });
    const { socket, answer } = open(port);
    const body = '{"a":1}';
    socket.write(head("/read", { "content-length": body.length }));
    for (const byte of body) await new Promise<void>((resolve) => socket.write(byte, () => setImmediate(resolve)));
    await vi.waitUntil(() => answer().includes('{"members":1}'));
  });
});

describe("a service", () => {
  let service: TestService;
  const log: string[] = [];
  beforeEach(async () => {
    log.length = 0;
    service = await startTestService({
      integrations: [createLab().integration],
      log: ({ level, message, cause }) => log.push(`${level}: ${message} ${String(cause)}`),
    });
  });
  afterEach(() => service.close());

  const port = () => Number(new URL(service.url).port);
  const KEYLESS = [
    ["/api/plugin/pair/start", "application/json"],
    ["/api/plugin/pair/sessions/some/exchange", "application/json"],
    ["/api/installer/bootstrap-sessions", "application/json"],
    [OAUTH_PATHS.register, "application/json"],
    [OAUTH_PATHS.token, "application/x-www-form-urlencoded"],
    [OAUTH_PATHS.revoke, "application/x-www-form-urlencoded"],
  ] as const;

  test.each(KEYLESS)("waits 15 seconds for a body without a key: %s", async (path, type) => {
    expect(KEYLESS_BODY.rate?.totalMs).toBe(15_000);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { socket, closed } = open(port());
    let isClosed = false;
    void closed.then(() => {
      isClosed = true;
    });
    const before = vi.getTimerCount();
    const rest = { "content-type": type, "content-length": 9000, host: `127.0.0.1:${port()}` };
    socket.write(`${head(path, rest).replace("host: 127.0.0.1\r\n", "")}{`);
    while (vi.getTimerCount() === before) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(14_900);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    // The second step ends the wait for what is left after the answer.
    await vi.advanceTimersByTimeAsync(200);
    while (!isClosed) {
      await new Promise(setImmediate);
      await vi.advanceTimersByTimeAsync(5000);
    }
  });

  test("writes no line for a caller that breaks off its body", async () => {
    const paths = [
      "/api/tools/lab_look/execute",
      "/api/executions",
      "/api/mcp",
      "/api/flows/start",
      "/api/files/ingest",
      ...KEYLESS.map(([path]) => path),
    ];
    for (const key of [{}, { "x-svc-api-key": service.apiKey }]) {
      for (const path of paths) {
        const type = KEYLESS.find(([known]) => known === path)?.[1] ?? "application/json";
        const { socket, closed } = open(port());
        const names = { "content-type": type, "content-length": 9000, host: `127.0.0.1:${port()}`, ...key };
        socket.write(`${head(path, names).replace("host: 127.0.0.1\r\n", "")}{`);
        await vi.waitUntil(() => service.service.runningCalls() > 0);
        socket.destroy();
        await closed;
        await vi.waitUntil(() => service.service.runningCalls() === 0);
      }
    }
    // One more round of the service, in which a late line would be written.
    await fetch(`${service.url}/health`);
    expect(log).toEqual([]);
  });
});
