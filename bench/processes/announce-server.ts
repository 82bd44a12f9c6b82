import type { Server } from "node:http";

/** Listens on a free port of loopback, prints the address for `startServer`, and ends on SIGTERM. */
export function announceServer(server: Server): void {
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && address !== null) console.log(`Listening on http://127.0.0.1:${address.port}`);
  });
  process.on("SIGTERM", () => {
    server.close();
    server.closeAllConnections();
  });
}
