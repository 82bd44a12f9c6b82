import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

/** Answers one request as an attacker would. */
export type Attack = (request: IncomingMessage, response: ServerResponse) => void;

/** One request the server got. */
interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A service that means harm: for each path an attack, and an honest answer where there is none. */
export interface HostileServer {
  readonly url: string;
  readonly requests: HostileRequest[];
  /** Bytes that clients have taken, all sockets together. */
  sentBytes(): number;
  /** Answers requests whose path starts like this. */
  on(path: string, attack: Attack): void;
  /** Answers with this JSON text or value. */
  say(path: string, body: unknown, status?: number, headers?: Readonly<Record<string, string>>): void;
  close(): Promise<void>;
}

/** Starts the server on a free port of `host`, a loopback address. */
export async function startHostileServer(host = "127.0.0.1"): Promise<HostileServer> {
  const attacks = new Map<string, Attack>();
  const requests: HostileRequest[] = [];
  const sockets = new Set<Socket>();
  let closed = 0;
  const server = createServer((request, response) => {
    response.on("error", () => undefined);
    void readText(request).then((body) => {
      const { method = "GET", url: path = "/", headers } = request;
      requests.push({ method, path, headers, body });
      const found = [...attacks].filter(([start]) => path.startsWith(start)).sort(([a], [b]) => b.length - a.length)[0];
      if (found !== undefined) found[1](request, response);
      else answerJson(response, 404, { error: "Not found" });
    });
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      closed += socket.bytesWritten;
      sockets.delete(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    requests,
    sentBytes: () => closed + [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0),
    on: (path, attack) => attacks.set(path, attack),
    say: (path, body, status = 200, headers = {}) => {
      attacks.set(path, (_request, response) => answerJson(response, status, body, headers));
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    // The caller went away; what arrived is kept.
  }
  return Buffer.concat(chunks).toString("utf8");
}

function answerJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

/** Takes the socket from the server and writes what HTTP would not. */
export function raw(write: (socket: Socket) => void): Attack {
  return (_request, response) => {
    const socket = response.socket;
    if (socket !== null) write(socket);
  };
}

/** Writes until the client has enough; counts on backpressure, so that nothing piles up here. */
export function pour(socket: NodeJS.WritableStream & { readonly destroyed?: boolean }, chunk: string | Buffer): void {
  const more = () => {
    while (socket.destroyed !== true && socket.writable)
      if (!socket.write(chunk)) return void socket.once("drain", more);
  };
  more();
}
