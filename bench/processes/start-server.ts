import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request } from "undici";

/** A server process of the bench. */
export interface Server {
  readonly url: string;
  readonly pid: number;
  /** Milliseconds from the start of the process to its first answer. */
  readonly startMs: number;
  /** Resident memory now, in MB; undefined where /proc does not tell. */
  memory(): Promise<number | undefined>;
  stop(): Promise<void>;
}

/** Starts a script that prints `Listening on URL`, and waits for its first answer on `path`. */
export async function startServer(args: readonly string[], path: string): Promise<Server> {
  const began = performance.now();
  const child = spawn(process.execPath, [...args], { stdio: ["ignore", "pipe", "inherit"] });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    const url = output.match(/Listening on (\S+)/)?.[1];
    if (url !== undefined) resolve(url);
  });
  child.once("exit", (code) => reject(new Error(`${args[0]} ended with ${code}`)));
  const url = await promise;
  const answer = await request(`${url}${path}`);
  await answer.body.dump();
  return {
    url,
    pid: child.pid ?? 0,
    startMs: performance.now() - began,
    async memory() {
      const status = await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => "");
      const kilobytes = status.match(/VmRSS:\s+(\d+)/)?.[1];
      return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
    },
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}
