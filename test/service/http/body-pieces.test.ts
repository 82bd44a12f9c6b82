import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { lendPieces } from "../../../src/service/files/lend-pieces.ts";
import { readBodyPieces } from "../../../src/service/http/body-pieces.ts";

const SIZE = 3 * 1024 * 1024;
const body = Buffer.from(Array.from({ length: SIZE }, (_, at) => (at * 31) & 255));

/** Gives a request whose body is `body`, cut after `sent` bytes. */
async function receive<T>(sent: number, use: (incoming: IncomingMessage) => Promise<T>): Promise<T> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = request({ port, host: "127.0.0.1", method: "POST", headers: { "content-length": SIZE } });
  client.on("error", () => undefined);
  try {
    client.write(body.subarray(0, sent), () => sent < SIZE && setImmediate(() => client.destroy()));
    const [incoming] = (await once(server, "request")) as [IncomingMessage];
    return await use(incoming);
  } finally {
    client.destroy();
    server.closeAllConnections();
    server.close();
  }
}

it("reads the whole body, also slowly, and gives each piece back when the next is asked for", async () => {
  const read = await receive(SIZE, async (incoming) => {
    const pieces: Uint8Array[] = [];
    const copies: Buffer[] = [];
    for await (const piece of lendPieces(readBodyPieces(incoming))) {
      pieces.push(piece);
      copies.push(Buffer.from(piece));
      await new Promise(setImmediate);
    }
    return { pieces, copies };
  });
  expect(Buffer.concat(read.copies).equals(body)).toBe(true);
  expect(Math.max(...read.copies.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024);
  expect(read.pieces.every(({ length }) => length === 0)).toBe(true);
});

it("throws when the connection ends before the body does", async () => {
  const reading = receive(SIZE / 2, async (incoming) => {
    let size = 0;
    for await (const piece of readBodyPieces(incoming)) size += piece.length;
    return size;
  });
  await expect(reading).rejects.toThrow();
});

it("ends a wait that was given up", async () => {
  await receive(1000, async (incoming) => {
    const pieces = readBodyPieces(incoming);
    await pieces.next();
    const waiting = pieces.next().catch(() => ({ done: true }));
    await pieces.return?.(undefined);
    expect(await waiting).toMatchObject({ done: true });
    expect(incoming.listenerCount("data")).toBe(0);
  });
});
