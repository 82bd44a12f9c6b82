import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../../../service/free-port.ts";

/** A server that serves a temporary folder on a free port of loopback. */
export interface FileServer {
  readonly port: number;
  readonly folder: string;
  /** Stops it and removes the folder. */
  close(): Promise<void>;
}

/** How a server is started. */
interface ServerPlan {
  readonly command: readonly [program: string, ...args: string[]];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a server, and waits until it answers HTTP. */
export async function startServer(
  plan: (place: { readonly port: number; readonly folder: string }) => ServerPlan,
): Promise<FileServer> {
  const folder = mkdtempSync(join(tmpdir(), "svc-files-"));
  const port = await findFreePort();
  const { command, env } = plan({ port, folder });
  const [program, ...args] = command;
  const server = spawn(program, args, { cwd: folder, stdio: "ignore", env: { ...process.env, ...env } });
  const close = async () => {
    await end(server);
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; tries < 300 && server.exitCode === null; tries += 1) {
    const isThere = await fetch(`http://127.0.0.1:${port}/`).then(
      async (reply) => {
        await reply.body?.cancel();
        return true;
      },
      () => false,
    );
    if (isThere) return { port, folder, close };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await close();
  throw new Error(`${program} did not start.`);
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, "exit");
  server.kill("SIGTERM");
  await gone;
}
