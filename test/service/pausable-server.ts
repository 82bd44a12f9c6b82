import type { Server } from "node:http";
import { findFreePort } from "./free-port.ts";

/** A server that may stop listening, and listen again at the same address. */
export interface PausableServer {
  readonly port: number;
  /** Stops listening and ends every connection; nothing happens when it does not listen. */
  stop(): Promise<void>;
  /** Listens again; nothing happens when it does. */
  resume(): Promise<void>;
  /** The same as `stop`. */
  close(): Promise<void>;
}

/** Lets a server listen on loopback, on a port that nobody else gets while it is stopped. */
export async function listenPausably(server: Server): Promise<PausableServer> {
  const port = await findFreePort();
  const resume = async () => {
    if (!server.listening) await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  };
  const stop = async () => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  await resume();
  return { port, stop, resume, close: stop };
}
