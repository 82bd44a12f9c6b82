import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A port that stays the same while what is behind it changes. */
export interface Exchange {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Opens a port of loopback for a gateway that outlives the servers of one test file. What connects is passed on to the
 * port last named to `aimExchange`, and is cut off while there is none.
 */
export async function openExchange(): Promise<Exchange & { readonly controlPort: number }> {
  let target = 0;
  const open = new Set<Socket>();
  const pass = createServer((incoming) => {
    incoming.on("error", () => {});
    open.add(incoming);
    incoming.on("close", () => open.delete(incoming));
    if (target === 0) return void incoming.destroy();
    const outgoing = connect(target, "127.0.0.1");
    outgoing.on("error", () => incoming.destroy());
    incoming.on("close", () => outgoing.destroy());
    outgoing.on("close", () => incoming.destroy());
    incoming.pipe(outgoing).pipe(incoming);
  });
  const control = createServer((line) => {
    line.on("error", () => {});
    line.once("data", (text) => {
      target = Number(String(text));
      // Kept-alive connections would still lead to the old one.
      for (const socket of open) socket.destroy();
      line.end("ok");
    });
  });
  const port = await listen(pass);
  const controlPort = await listen(control);
  return {
    port,
    controlPort,
    async close() {
      target = 0;
      pass.close();
      control.close();
    },
  };
}

/** Lets an exchange of another process pass connections on to `port`; 0 cuts new ones off. */
export async function aimExchange(controlPort: number, port: number): Promise<void> {
  const line = connect(controlPort, "127.0.0.1");
  line.write(String(port));
  line.resume();
  await once(line, "close");
}

/** Lets a server listen on a free port of loopback. Returns the port. */
export async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port.");
  return address.port;
}
