import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { connect, isIP } from "node:net";
import { afterEach } from "vitest";
import type { Network } from "../../../src/service/fetch/guarded-connector.ts";

/** A web server on loopback that a test puts behind any address it likes. */
export interface WebServer {
  readonly port: number;
  /** Requests in order, as `host path`. */
  readonly asked: string[];
  readonly headers: IncomingMessage["headers"][];
  handler: RequestListener;
}

/** Servers of one test, closed after it. */
export function useWebServers(): () => Promise<WebServer> {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });
  return async () => {
    const web: WebServer = { port: 0, asked: [], headers: [], handler: (_request, response) => response.end("bytes") };
    const server = createServer({ maxHeaderSize: 128 * 1024 }, (request, response) => {
      web.asked.push(`${request.headers.host} ${request.url}`);
      web.headers.push(request.headers);
      web.handler(request, response);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closers.push(async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    });
    const address = server.address();
    return Object.assign(web, { port: typeof address === "object" && address !== null ? address.port : 0 });
  };
}

/** Answers by path; everything else is 404. */
export function answerBy(
  routes: Readonly<Record<string, (response: ServerResponse, request: IncomingMessage) => unknown>>,
): RequestListener {
  return (request, response) => {
    const route = routes[request.url ?? ""];
    if (route === undefined) response.writeHead(404).end();
    else route(response, request);
  };
}

/** A redirect. */
export const redirectTo =
  (location: string, status = 302) =>
  (response: ServerResponse) =>
    response.writeHead(status, { location, "set-cookie": "s=1" }).end();

/** A network of names and addresses that ends on this machine. */
export interface FakeInternet {
  readonly network: Network;
  /** Answers for a name, one per lookup; the last one stays. */
  readonly names: Map<string, string[][]>;
  /** Port of the local server that plays an address. */
  readonly places: Map<string, number>;
  readonly lookups: string[];
  /** Addresses that were dialled. */
  readonly dials: string[];
}

/** Creates a {@link FakeInternet}. Its connector looks names up and skips literals as `net.connect` does, and speaks without TLS. */
export function createFakeInternet(): FakeInternet {
  const names = new Map<string, string[][]>();
  const places = new Map<string, number>();
  const lookups: string[] = [];
  const dials: string[] = [];
  const fail = (code: string) => Object.assign(new Error(`${code} 10.11.12.13`), { code });
  const network: Network = {
    async resolve(hostname) {
      lookups.push(hostname);
      const answers = names.get(hostname);
      const found = (answers !== undefined && answers.length > 1 ? answers.shift() : answers?.[0]) ?? undefined;
      if (found === undefined) throw fail("ENOTFOUND");
      return found.map((address) => ({ address, family: isIP(address) }));
    },
    buildConnector: (options) => (target, callback) => {
      const dial = (address: string) => {
        dials.push(address);
        const port = places.get(address);
        if (port === undefined) return callback(fail("ECONNREFUSED"), null);
        const socket = connect(port, "127.0.0.1");
        Object.defineProperty(socket, "remoteAddress", { value: address });
        socket.once("connect", () => callback(null, socket)).once("error", (error) => callback(error, null));
      };
      if (isIP(target.hostname) !== 0) return dial(target.hostname);
      const { lookup } = options as { lookup?: (name: string, o: { all: true }, done: Done) => void };
      lookup?.(target.hostname, { all: true }, (error, found) =>
        error === null ? dial(found[0]?.address ?? "") : callback(error, null),
      );
    },
  };
  return { network, names, places, lookups, dials };
}

type Done = (error: Error | null, found: { address: string }[]) => void;
