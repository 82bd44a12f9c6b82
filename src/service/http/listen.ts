import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { finished } from "node:stream/promises";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { errorCode } from "../../shared/base/error-code.ts";
import { SvcError } from "../../shared/errors.ts";
import { WholeAnswer } from "./whole-answer.ts";

/**
 * Slow requests must not hold connections for ever: headers within 15 s, a whole request within 10 minutes. Idle ones
 * are kept longer than clients use them: a service that was busy for some seconds would else close a connection on
 * which a request has just arrived, and nobody would know whether a write took effect.
 */
const SERVER_OPTIONS = { headersTimeout: 15_000, requestTimeout: 600_000, keepAliveTimeout: 65_000 } as const;

/** How long a stop waits for the rest of a request, in milliseconds: nothing has begun for it yet. */
const RECEIVE_MS = 5000;

/**
 * Serves a fetch handler on an open port.
 *
 * @throws SvcError `invalid_config`, field `port` or `host`, when the address cannot be used.
 */
export async function listen(o: {
  fetch: (request: Request, env: HttpBindings) => Response | Promise<Response>;
  host: string;
  port: number;
  discardLimits?: DiscardLimits;
}) {
  const server = createServer(SERVER_OPTIONS);
  // First of all listeners, so that a stop is known before an answer begins.
  const requests = watchRequests(server);
  server.on(
    "request",
    getRequestListener(
      async (request, env) => send(await o.fetch(request, env as HttpBindings), env as HttpBindings, o.discardLimits),
      { overrideGlobalObjects: false },
    ),
  );
  server.listen(o.port, o.host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw explainListenError(cause, o);
  }
  const { port } = server.address() as AddressInfo;
  return {
    port,
    /** How many requests are being received or answered now. */
    running: requests.count,
    /**
     * Takes no new connections, ends those without a request at once, gives running requests `graceMs` to finish, then
     * cuts them. Requests that are still incomplete after five seconds are cut then.
     */
    close: (graceMs: number) => closeServer(server, requests, graceMs),
  };
}

/** Node counts a connection without data as busy, and keeps connections that become idle after the stop. */
function watchRequests(server: Server) {
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
    /** Ends each connection as soon as no request is on it. */
    stop(): void {
      isStopping = true;
      for (const [socket, open] of connections) {
        if (open.size === 0) socket.destroy();
        for (const response of open) response.shouldKeepAlive = false;
      }
    },
    cutPartial(): void {
      for (const [socket, open] of connections) if ([...open].some(({ req }) => !req.complete)) socket.destroy();
    },
  };
}

async function closeServer(server: Server, requests: ReturnType<typeof watchRequests>, graceMs: number): Promise<void> {
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
  const refuse = (field: string, message: string, hint: string) =>
    new SvcError("invalid_config", message, { field, hint, cause });
  switch (errorCode(cause)) {
    case "EADDRINUSE": {
      const hint = "Stop the program that uses it, or choose another port; 0 takes any free one.";
      return refuse("port", `Port ${port} on ${host} is already in use.`, hint);
    }
    case "EACCES":
      return refuse("port", `This user may not open port ${port}.`, "Choose a port above 1023.");
    case "EADDRNOTAVAIL":
    case "ENOTFOUND": {
      const hint = "Use 127.0.0.1, or an address that this machine has.";
      return refuse("host", `${host} is not an address of this machine.`, hint);
    }
    default:
      return cause;
  }
}

/**
 * How much of a body that nobody reads is taken from its sender before the connection is cut, with the longest pause between
 * two pieces: more than the largest body of any route, and as long as a slow but willing sender needs to notice the answer.
 */
const DISCARD_LIMITS = { bytes: 256 * 1024 * 1024, pauseMs: 5000, totalMs: 30_000 };

type DiscardLimits = Readonly<typeof DISCARD_LIMITS>;

/**
 * Writes an answer that is whole; any other goes on to be streamed. An answer to a request that has not come whole is ended
 * after it: a connection that is closed with unread bytes in it is reset, and a reset throws away the answer that its
 * sender has not read yet. The rest of the body is read and dropped within `limits`; a longer one is cut.
 */
function send(
  answer: Response | WholeAnswer,
  { incoming, outgoing }: HttpBindings,
  limits: DiscardLimits = DISCARD_LIMITS,
): Response | Promise<Response> {
  const hasBody = answer instanceof WholeAnswer || answer.body !== null;
  if (hasBody && !isWhole(incoming)) return endAfterBody(answer, incoming, limits);
  if (!(answer instanceof WholeAnswer)) return answer;
  const fields = ["content-length", String(Buffer.byteLength(answer.whole))];
  for (const [name, value] of answer.headers) fields.push(name, value);
  outgoing.writeHead(answer.status, fields).end(answer.whole);
  return RESPONSE_ALREADY_SENT;
}

/** Gives an answer at once, and ends it only when its request has come whole. */
async function endAfterBody(
  answer: Response | WholeAnswer,
  incoming: HttpBindings["incoming"],
  limits: DiscardLimits,
): Promise<Response> {
  const bytes = answer instanceof WholeAnswer ? Buffer.from(answer.whole) : new Uint8Array(await answer.arrayBuffer());
  const headers = new Headers([...answer.headers]);
  // Without a length the sender would not know that it has the whole answer.
  headers.set("content-length", String(bytes.length));
  // Asks the sender to stop: the rest of its body is of no use.
  headers.set("connection", "close");
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(bytes),
      pull: async (controller) => {
        await discardBody(incoming, limits);
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status: answer.status, headers });
}

/** Node says that a request is complete a moment after it has put the last bytes of the body into its buffer. */
function isWhole({ complete, headers, readableLength }: HttpBindings["incoming"]): boolean {
  return complete || readableLength >= Number(headers["content-length"]);
}

/** Resolves when the body is over, or its connection. */
async function discardBody(incoming: HttpBindings["incoming"], limits: DiscardLimits): Promise<void> {
  let received = 0;
  const cut = () => void incoming.destroy();
  const total = setTimeout(cut, limits.totalMs);
  const pause = setTimeout(cut, limits.pauseMs);
  // Works beside a reader that left the body half-read, which neither `resume` nor `data` do.
  const drop = () => {
    for (let piece = incoming.read(); piece !== null; piece = incoming.read()) received += piece.length;
    if (received > limits.bytes) cut();
    else pause.refresh();
  };
  incoming.on("readable", drop);
  // Bytes that a reader left in the buffer bring no event.
  drop();
  await finished(incoming).catch(() => {});
  clearTimeout(total);
  clearTimeout(pause);
}
