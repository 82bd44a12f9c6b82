import { createServer, request as forward } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** One request that went through. */
interface Passed {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

/** A proxy before a real service that can lose answers after the service has done its work, and requests before. */
export interface LossyProxy {
  readonly url: string;
  readonly passed: Passed[];
  /** Loses the answers of the next `count` POST requests whose path starts with `prefix`. */
  lose(prefix: string, count: number): void;
  /** Loses the next `count` POST requests whose path starts with `prefix` before they reach the service. */
  drop(prefix: string, count: number): void;
  close(): Promise<void>;
}

/** Starts a proxy to `target` on a free port of the loopback address. */
export async function startLossyProxy(target: string): Promise<LossyProxy> {
  const passed: Passed[] = [];
  let losing = { prefix: "", count: 0, isBefore: false };
  const server = createServer((incoming, outgoing) => {
    void text(incoming).then((body) => {
      const { method = "GET", url: path = "/", headers } = incoming;
      passed.push({ method, path, body });
      const isLost = method === "POST" && losing.count > 0 && path.startsWith(losing.prefix);
      if (isLost) losing = { ...losing, count: losing.count - 1 };
      if (isLost && losing.isBefore) {
        incoming.socket.destroy();
        return;
      }
      const sent = forward(
        new URL(path, target),
        { method, headers: { ...headers, host: new URL(target).host } },
        (answer) => {
          void text(answer).then((answered) => {
            if (isLost) incoming.socket.destroy();
            else outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(answered);
          });
        },
      );
      sent.on("error", () => incoming.socket.destroy());
      sent.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    lose: (prefix, count) => {
      losing = { prefix, count, isBefore: false };
    },
    drop: (prefix, count) => {
      losing = { prefix, count, isBefore: true };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
