import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

/** One request that a receiver got. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server that takes notes, as an ntfy server or a receiver of webhooks does. */
export interface Receiver {
  /** Without a slash at the end. */
  readonly url: string;
  readonly received: Received[];
  /** What the next requests are answered with; `hang` never answers. Default 200. */
  answer: number | "hang";
  close(): Promise<void>;
}

/** Starts a receiver on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    received.push({ path: request.url ?? "", headers: request.headers, body: Buffer.concat(parts).toString("utf8") });
    if (receiver.answer === "hang") return;
    response.writeHead(receiver.answer, receiver.answer === 302 ? { location: "/elsewhere" } : {}).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: 200,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return receiver;
}

/** Longest age of a signed request, in seconds, as the specification recommends. */
const TOLERANCE_SECONDS = 300;

/**
 * Checks a request as a receiver does who has only read the Standard Webhooks specification.
 *
 * @param now seconds since the epoch
 */
export function isSignedBy(secret: string, { headers, body }: Received, now: number): boolean {
  const id = String(headers["webhook-id"]);
  const timestamp = String(headers["webhook-timestamp"]);
  if (!/^\d+$/.test(timestamp) || Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS || id.includes("."))
    return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest();
  return String(headers["webhook-signature"])
    .split(" ")
    .map((signature) => signature.split(","))
    .some(([version, text = ""]) => {
      const sent = Buffer.from(text, "base64");
      return version === "v1" && sent.length === expected.length && timingSafeEqual(sent, expected);
    });
}
