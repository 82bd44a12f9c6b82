import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import type { RequestBody } from "../../../src/plugin/client/request.ts";
import { SvcError } from "../../../src/shared/errors.ts";
import { readGolden } from "../../contract/read-golden.ts";
import { catchError, startRecordingServer } from "./recording-server.ts";

const ENVELOPE = readGolden("resources/envelope-succeeded");
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function listen(server: Server | TcpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function openClient(baseUrl: string, timeoutMs?: number): SvcClient {
  const client = new SvcClient({ baseUrl, apiKey: "svc_live_sockets", timeoutMs, sleep: async () => {} });
  cleanups.push(() => client.close());
  return client;
}

/** A body of `size` bytes in chunks, which remembers how often it was opened and whether each stream was ended. */
function createBody(size: number, failAfter?: { bytes: number; error: Error }) {
  const seen = { opened: 0, finished: 0, produced: 0 };
  const body: RequestBody = {
    contentType: "application/json",
    contentLength: size,
    async *open() {
      seen.opened += 1;
      try {
        for (let sent = 0; sent < size; ) {
          if (failAfter && sent >= failAfter.bytes) throw failAfter.error;
          const chunk = Buffer.alloc(Math.min(64 * 1024, size - sent), 0x20);
          sent += chunk.length;
          seen.produced = sent;
          yield chunk;
        }
      } finally {
        seen.finished += 1;
      }
    },
  };
  return { body, seen };
}

describe("streamed bodies", () => {
  test("go out with their length, whole, and anew for each call", async () => {
    const server = await startRecordingServer(() => ({ json: ENVELOPE }));
    cleanups.push(server.close);
    const client = openClient(server.url);
    const { body, seen } = createBody(300_000);
    // A body that undici sends again by itself would arrive empty the second time; ours is opened per request.
    for (let call = 1; call <= 2; call += 1) {
      expect(await client.executeTool("drive_upload_file", body)).toMatchObject({ kind: "envelope", status: 200 });
    }
    expect(server.requests.map(({ body }) => body.length)).toEqual([300_000, 300_000]);
    expect(server.requests.map(({ headers }) => headers["content-length"])).toEqual(["300000", "300000"]);
    expect(server.requests.map(({ headers }) => headers["transfer-encoding"])).toEqual([undefined, undefined]);
    expect(seen).toMatchObject({ opened: 2, finished: 2 });
  });

  test("that fail end as their own error, and the service never has a complete request", async () => {
    const events: string[] = [];
    const server = createServer((request, response) => {
      request.on("data", () => {});
      request.on("end", () => events.push("complete"));
      request.on("aborted", () => events.push("aborted"));
      request.on("close", () => response.end());
    });
    const client = openClient(await listen(server));
    const refusal = new SvcError("media_refused", "attachments[0] changed", { field: "attachments[0]" });
    const { body, seen } = createBody(900_000, { bytes: 400_000, error: refusal });
    expect(await catchError(() => client.executeTool("drive_upload_file", body))).toBe(refusal);
    await expect.poll(() => events).toEqual(["aborted"]);
    expect(seen).toMatchObject({ opened: 1, finished: 1 });
  });

  test("that fail before their first byte send nothing at all", async () => {
    const server = await startRecordingServer(() => ({ json: ENVELOPE }));
    cleanups.push(server.close);
    const refusal = new SvcError("file_missing", "gone", { field: "file" });
    const { body } = createBody(10, { bytes: 0, error: refusal });
    expect(await catchError(() => openClient(server.url).executeTool("a", body))).toBe(refusal);
    expect(server.requests).toEqual([]);
  });

  test("of another length than announced are not a valid request", async () => {
    const server = await startRecordingServer(() => ({ json: ENVELOPE }));
    cleanups.push(server.close);
    for (const contentLength of [99_999, 100_001]) {
      const body = { ...createBody(100_000).body, contentLength };
      const error = await catchError(() => openClient(server.url).executeTool("a", body));
      expect(error).toMatchObject({ code: "unreachable", sent: true });
    }
    expect(server.requests).toEqual([]);
  });

  test("are not opened when nobody listens", async () => {
    const { body, seen } = createBody(1000);
    const error = await catchError(() => openClient("http://127.0.0.1:1").executeTool("a", body));
    expect(error).toMatchObject({ code: "unreachable", sent: false });
    expect(seen.opened).toBe(0);
  });

  test("answered early hand the answer over", async () => {
    const server = createServer((request, response) => {
      request.on("error", () => {});
      response.writeHead(413, { "content-type": "application/json" });
      response.end('{"error":"too large"}');
    });
    const { body, seen } = createBody(50_000_000);
    const reply = await openClient(await listen(server)).executeTool("a", body);
    expect(reply).toEqual({ kind: "bare", status: 413, error: "too large" });
    await expect.poll(() => seen.finished).toBe(1);
    server.closeAllConnections();
  });

  test("a service that stops reading cannot hold the call", async () => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.pause();
      cleanups.push(() => socket.destroy());
    });
    const { body, seen } = createBody(200_000_000);
    const error = await catchError(async () => openClient(await listen(server), 2_000).executeTool("a", body));
    expect(error).toMatchObject({ code: "timeout", sent: true });
    expect(seen.produced).toBeLessThan(200_000_000);
    await expect.poll(() => seen.finished).toBe(1);
  });

  test("a service that reads slowly but steadily gets more time than one answer may take", async () => {
    const server = createServer((request, response) => {
      let size = 0;
      request.on("data", (chunk: Buffer) => {
        const piece = Math.floor(size / 4_000_000);
        size += chunk.length;
        if (Math.floor(size / 4_000_000) === piece) return;
        request.pause();
        setTimeout(() => request.resume(), 500);
      });
      request.on("end", () => response.end(JSON.stringify(ENVELOPE)));
    });
    // Eight pauses are longer than the limit, each single one is far below it.
    const { body } = createBody(32_000_000);
    const reply = await openClient(await listen(server), 3_000).executeTool("a", body);
    expect(reply).toMatchObject({ status: 200 });
  });
});

describe("connections that break", () => {
  test.each([
    ["before the headers", ""],
    ["inside the headers", "HTTP/1.1 200 OK\r\ncontent-le"],
    ["inside the body", 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"ok":'],
    ["with something that is not HTTP", "SSH-2.0-OpenSSH_9.9\r\n"],
  ])("%s leave the outcome of a write open", async (_name, text) => {
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections += 1;
      socket.on("error", () => {});
      socket.once("data", () => socket.end(text));
    });
    const client = openClient(await listen(server));
    const error = await catchError(() => client.executeTool("a", { arguments: {} }));
    expect(error).toMatchObject({ code: "unreachable", sent: true });
    expect(connections).toBe(1);
    expect(await catchError(() => client.listTools())).toMatchObject({ code: "unreachable" });
    expect(connections).toBe(4);
  });
});

describe("time", () => {
  test.each([
    ["never answers", () => {}],
    ["never ends its body", (write: (text: string) => void) => write('{"ok":true')],
  ])("a service that %s times out", async (_name, act) => {
    const server = createServer((_request, response) => {
      response.on("error", () => {});
      act((text) => response.write(text));
    });
    const url = await listen(server);
    cleanups.push(() => server.closeAllConnections());
    const client = openClient(url);
    const error = await catchError(() => client.executeTool("a", {}, { timeoutMs: 1_000 }));
    expect(error).toMatchObject({ code: "timeout", sent: true, retryable: true });
    expect(await catchError(() => client.listTools({}, { timeoutMs: 1_000 }))).toMatchObject({ code: "timeout" });
  });
});

describe("abort", () => {
  test("before a call sends nothing", async () => {
    const server = await startRecordingServer(() => ({ json: ENVELOPE }));
    cleanups.push(server.close);
    const error = await catchError(() =>
      openClient(server.url).executeTool("a", {}, { signal: AbortSignal.abort("secret reason") }),
    );
    expect(error).toMatchObject({ code: "aborted", sent: false });
    expect(server.requests).toEqual([]);
  });

  test("during a call ends it and its socket", async () => {
    const sockets: string[] = [];
    const controller = new AbortController();
    const server = createServer((request) => {
      request.socket.on("close", () => sockets.push("closed"));
      controller.abort();
    });
    const client = openClient(await listen(server));
    const error = await catchError(() => client.executeTool("a", {}, { signal: controller.signal }));
    expect(error).toMatchObject({ code: "aborted", sent: true });
    await expect.poll(() => sockets).toEqual(["closed"]);
  });

  test("during an upload ends its stream", async () => {
    const controller = new AbortController();
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.pause();
      cleanups.push(() => socket.destroy());
      controller.abort();
    });
    const { body, seen } = createBody(200_000_000);
    const client = openClient(await listen(server));
    const error = await catchError(() => client.executeTool("a", body, { signal: controller.signal }));
    expect(error).toMatchObject({ code: "aborted" });
    await expect.poll(() => seen.opened - seen.finished).toBe(0);
  });

  test("while a connection is still being made does not wait for it", async () => {
    // 192.0.2.0/24 is reserved for documentation: nobody answers, or the network says so at once.
    const client = new SvcClient({ baseUrl: "https://192.0.2.1", apiKey: "k", sleep: async () => {} });
    cleanups.push(() => client.close());
    const signal = AbortSignal.timeout(50);
    const error = await catchError(() => client.executeTool("a", {}, { signal }));
    expect(error).toMatchObject({ sent: false });
    expect(["aborted", "unreachable"]).toContain((error as SvcError).code);
  });

  test("while waiting for another try ends the wait", async () => {
    const server = await startRecordingServer(() => ({ status: 503, json: { error: "busy" } }));
    cleanups.push(server.close);
    const controller = new AbortController();
    const client = new SvcClient({
      baseUrl: server.url,
      apiKey: "k",
      sleep: () => {
        controller.abort();
        return new Promise(() => {});
      },
    });
    cleanups.push(() => client.close());
    expect(await catchError(() => client.listTools({}, { signal: controller.signal }))).toMatchObject({
      code: "aborted",
    });
    expect(server.requests).toHaveLength(1);
  });
});

describe("content encoding", () => {
  const text = Buffer.from(JSON.stringify(ENVELOPE));
  test.each([
    ["gzip", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["br", brotliCompressSync(text)],
    ["identity", text],
  ])("%s is undone", async (encoding, bytes) => {
    const server = await startRecordingServer(() => (_request, response) => {
      response.writeHead(200, { "content-encoding": encoding });
      response.end(bytes);
    });
    cleanups.push(server.close);
    expect(await openClient(server.url).executeTool("a", {})).toMatchObject({ envelope: ENVELOPE });
    expect(server.requests[0]?.headers["accept-encoding"]).toBe("gzip, deflate, br");
  });

  test.each([
    [
      "a small answer that unpacks to a huge one",
      "gzip",
      gzipSync(Buffer.alloc(40 * 1024 * 1024, 0x20)),
      "over 16777216",
    ],
    ["damaged data", "gzip", gzipSync(text).subarray(0, 30), "damaged gzip"],
    ["an encoding nobody asked for", "compress", text, "unknown content encoding"],
  ])("%s is a bad response", async (_name, encoding, bytes, part) => {
    const server = await startRecordingServer(() => (_request, response) => {
      response.writeHead(200, { "content-encoding": encoding });
      response.end(bytes);
    });
    cleanups.push(server.close);
    const error = await catchError(() => openClient(server.url).executeTool("a", {}));
    expect(error).toMatchObject({ code: "bad_response", sent: true });
    expect(error).toHaveProperty("message", expect.stringContaining(part));
  });
});

describe("close", () => {
  test("ends the client; later calls say so", async () => {
    const server = await startRecordingServer(() => ({ json: ENVELOPE }));
    cleanups.push(server.close);
    const client = openClient(server.url);
    await client.executeTool("a", {});
    await Promise.all([client.close(), client.close()]);
    const error = await catchError(() => client.executeTool("a", {}));
    expect(error).toMatchObject({ code: "aborted", sent: false });
    expect(server.requests).toHaveLength(1);
  });
});

test("a name below localhost stays on this machine, whatever name servers say", async () => {
  const base = await listen(createServer((_, response) => response.end(JSON.stringify({ tools: [] }))));
  const client = openClient(base.replace("127.0.0.1", "svc.localhost"));
  await expect(client.listTools()).resolves.toMatchObject({ tools: [] });
});
