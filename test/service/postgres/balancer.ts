import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

/** Hands requests to one port after another. */
export interface Balancer {
  readonly url: string;
  /** Ports of the nodes. */
  readonly ports: number[];
  close(): Promise<void>;
}

/** Starts a balancer that goes on to the next node only when the first does not take the connection. */
export async function startBalancer(): Promise<Balancer> {
  const ports: number[] = [];
  let turn = 0;

  async function receive(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    // Kept whole, so that it can be sent to a second node when the first is gone.
    forward(incoming, outgoing, { body: await buffer(incoming), tries: 1 });
  }

  function forward(incoming: IncomingMessage, outgoing: ServerResponse, o: { body: Buffer; tries: number }): void {
    const port = ports[turn++ % ports.length];
    const { method, url: path, headers } = incoming;
    const passed = request({ host: "127.0.0.1", port, method, path, headers, agent: false });
    passed.on("response", (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.on("error", () => outgoing.destroy()).pipe(outgoing);
    });
    passed.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED" && o.tries < ports.length)
        forward(incoming, outgoing, { ...o, tries: o.tries + 1 });
      else if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end();
    });
    passed.end(o.body);
  }

  const server = createServer((incoming, outgoing) => void receive(incoming, outgoing)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The balancer has no port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    ports,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
