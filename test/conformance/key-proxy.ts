import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { API_KEY_HEADER } from "../../src/shared/wire/constants.ts";

/** A proxy on a loopback port. */
export interface KeyProxy {
  readonly url: string;
  /** Begins to forward. */
  aim(target: { url: string; apiKey: string }): void;
  close(): Promise<void>;
}

/** Adds the API key to every request and changes nothing else: the conformance suite cannot send headers of its own. */
export async function openKeyProxy(): Promise<KeyProxy> {
  let target: { url: string; apiKey: string } | undefined;
  const server = createServer((incoming, outgoing) => {
    if (target === undefined) return void outgoing.writeHead(503).end();
    const { port } = new URL(target.url);
    const headers = { ...incoming.headers, [API_KEY_HEADER]: target.apiKey };
    const { method, url: path } = incoming;
    const forward = request({ host: "127.0.0.1", port, method, path, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    forward.on("error", () => outgoing.destroy());
    incoming.pipe(forward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    aim(next) {
      target = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
