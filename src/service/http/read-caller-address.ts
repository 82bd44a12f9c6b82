import type { HttpBindings } from "@hono/node-server";

/**
 * Network address a request came from. Behind a proxy it is the proxy's: what a caller claims about itself counts for
 * nothing here.
 */
export function readCallerAddress({ incoming }: HttpBindings): string {
  return incoming.socket.remoteAddress?.replace(/^::ffff:/, "") ?? "unknown";
}
