import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems hand out by themselves, to listeners on port 0 and to outgoing connections. */
const PORTS = { from: 20_000, to: 32_000 } as const;
const TRIES = 50;
const given = new Set<number>();

/**
 * A port of loopback where nobody listens, and which nobody gets by chance before it is used or while what listens there
 * is started again.
 */
export async function findFreePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(PORTS.from, PORTS.to);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`No port from ${PORTS.from} to ${PORTS.to} is free.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
