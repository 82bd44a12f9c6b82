import { isIP } from "node:net";
import { connect } from "node:tls";
import type { MailServer } from "./server-settings.ts";

/** With the wait for a greeting less than a form waits for its app. */
const HANDSHAKE_MS = 2000;

/** Milliseconds of silence after which a server that should greet first is taken to wait for something else. */
export const GREETING_MS = 6000;

/**
 * True for a server that takes a TLS handshake where none was begun. Only the handshake is made: no certificate is judged, and
 * nothing is sent.
 */
export function speaksTls({ host, port }: Pick<MailServer, "host" | "port">): Promise<boolean> {
  return new Promise((resolve) => {
    // An address is no name that a handshake may carry.
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = connect({ host, port, ...name, rejectUnauthorized: false });
    const end = (speaks: boolean) => {
      socket.destroy();
      resolve(speaks);
    };
    socket.setTimeout(HANDSHAKE_MS, () => end(false));
    socket.once("secureConnect", () => end(true));
    socket.once("error", () => end(false));
    socket.once("close", () => resolve(false));
  });
}
