import { createServer, request as forward, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { startTestService, type TestService } from "../../src/testing.ts";
import { findFreePort } from "../service/free-port.ts";

/** One request that reached the relay. */
interface Seen {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An answer in place of the service's. */
interface Made {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A real service whose public address is a relay that can answer in its place. */
export interface RelayedService extends TestService {
  readonly seen: Seen[];
  /** Called for each request; an answer it gives goes out instead of the service's. `pass` asks the service. */
  interfere: (request: Seen, pass: () => Promise<Made>) => Promise<Made | undefined> | Made | undefined;
}

/** Starts a service behind a relay. */
export async function startRelayedService(): Promise<RelayedService> {
  const port = await findFreePort();
  const seen: Seen[] = [];
  const hooks: Pick<RelayedService, "interfere"> = { interfere: () => undefined };
  const relay = createServer(async (incoming, outgoing) => {
    const { method = "GET", url: path = "/", headers } = incoming;
    const request = { method, path, headers, body: await text(incoming) };
    seen.push(request);
    const pass = () => passOn(request, port);
    const answer = (await hooks.interfere(request, pass)) ?? (await pass());
    outgoing.writeHead(answer.status, answer.headers).end(answer.body ?? "");
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  const publicUrl = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
  const service = await startTestService({ port, publicUrl });
  const close = async () => {
    relay.closeAllConnections();
    await new Promise((resolve) => relay.close(resolve));
    await service.close();
  };
  return Object.assign(hooks, service, { seen, close });
}

function passOn({ method, path, headers, body }: Seen, port: number): Promise<Made> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method, path, headers: { ...headers, connection: "close" } };
    forward(options, (answer) => {
      const { statusCode = 500, headers: answered } = answer;
      const { "transfer-encoding": _, "content-length": __, connection: ___, ...kept } = answered;
      text(answer).then(
        (content) => resolve({ status: statusCode, headers: kept as Record<string, string>, body: content }),
        reject,
      );
    })
      .on("error", reject)
      .end(body);
  });
}
