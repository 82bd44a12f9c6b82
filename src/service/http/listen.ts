import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { SvcError } from "../../errors.ts";

/** An open port. */
export interface Listener {
  readonly port: number;
  /** How many requests are being received or answered now. */
  running(): number;
  /**
   * Takes no new connections, ends those without a request at once, gives running requests `graceMs` to finish, then
   * cuts them; those that have not come whole after five seconds then.
   */
  close(graceMs: number): Promise<void>;
}

/**
 * Slow requests must not hold connections for ever: headers within 15 s, a whole request within 10 minutes. Idle ones
 * are kept longer than clients use them: a service that was busy for some seconds would else close a connection on
 * which a request has just arrived, and nobody would know whether a write took effect.
 */
const SERVER_OPTIONS = { headersTimeout: 15_000, requestTimeout: 600_000, keepAliveTimeout: 65_000 } as const;

/** How long a stop waits for the rest of a request, in milliseconds: nothing has begun for it yet. */
const RECEIVE_MS = 5000;

/**
 * Serves a fetch handler.
 *
 * @throws SvcError `invalid_config`, field `port` or `host`, when the address cannot be used.
 */
export async function listen(o: {
  fetch: (request: Request, env: HttpBindings) => Response | Promise<Response>;
  host: string;
  port: number;
}): Promise<Listener> {
  const server = createServer(SERVER_OPTIONS);
  // First of all listeners, so that a stop is known before an answer begins.
  const requests = watchRequests(server);
  server.on(
    "request",
    getRequestListener((request, env) => o.fetch(request, env as HttpBindings), { overrideGlobalObjects: false }),
  );
  server.listen(o.port, o.host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw explainListenError(cause, o);
  }
  const { port } = server.address() as AddressInfo;
  return { port, running: requests.count, close: (graceMs) => closeServer(server, requests, graceMs) };
}

/** The requests on each connection. */
interface Requests {
  count(): number;
  /** Ends each connection as soon as no request is on it. */
  stop(): void;
  /** Cuts requests that have not come whole. */
  cutPartial(): void;
}

/** Node itself takes a connection on which nothing came yet for a busy one, and keeps one that becomes idle later. */
function watchRequests(server: Server): Requests {
  const connections = new Map<Socket, Set<ServerResponse>>();
  let isStopping = false;
  server.on("connection", (socket) => {
    connections.set(socket, new Set());
    socket.once("close", () => connections.delete(socket));
  });
  server.on("request", ({ socket }, response) => {
    const open = connections.get(socket);
    open?.add(response);
    if (isStopping) response.shouldKeepAlive = false;
    response.once("close", () => {
      open?.delete(response);
      if (isStopping && open?.size === 0) socket.destroySoon();
    });
  });
  return {
    count: () => [...connections.values()].reduce((sum, open) => sum + open.size, 0),
    stop() {
      isStopping = true;
      for (const [socket, open] of connections) {
        if (open.size === 0) socket.destroy();
        for (const response of open) response.shouldKeepAlive = false;
      }
    },
    cutPartial() {
      for (const [socket, open] of connections) if ([...open].some(({ req }) => !req.complete)) socket.destroy();
    },
  };
}

async function closeServer(server: Server, requests: Requests, graceMs: number): Promise<void> {
  const closed = once(server, "close");
  server.close();
  requests.stop();
  const cuts = [
    setTimeout(() => requests.cutPartial(), RECEIVE_MS),
    setTimeout(() => server.closeAllConnections(), graceMs),
  ];
  await closed;
  for (const cut of cuts) clearTimeout(cut);
}

function explainListenError(cause: unknown, { host, port }: { host: string; port: number }): unknown {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "EADDRINUSE") {
    return new SvcError("invalid_config", `Port ${port} on ${host} is already in use.`, {
      field: "port",
      hint: "Stop the program that uses it, or choose another port; 0 takes any free one.",
      cause,
    });
  }
  if (code === "EACCES") {
    return new SvcError("invalid_config", `This user may not open port ${port}.`, {
      field: "port",
      hint: "Choose a port above 1023.",
      cause,
    });
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return new SvcError("invalid_config", `${host} is not an address of this machine.`, {
      field: "host",
      hint: "Use 127.0.0.1, or an address that this machine has.",
      cause,
    });
  }
  return cause;
}
