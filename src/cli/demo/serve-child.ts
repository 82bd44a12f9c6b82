import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { SvcError } from "../../errors.ts";

/** A `svc serve` process started by the demo. */
export interface ServedChild {
  readonly url: string;
  /** One-time link that signs a browser in. */
  readonly signInUrl: string;
  /** Asks it to stop and waits until it has. */
  stop(): Promise<void>;
}

/** Longest wait for the address and the sign-in link, in milliseconds. */
const START_LIMIT_MS = 30_000;

/** Starts the real `svc serve` on a data folder and a free port, and reads its address and sign-in link from what it prints. */
export async function startServe(dataDir: string): Promise<ServedChild> {
  // This file's own ending tells whether sources or the built package run.
  const bin = fileURLToPath(new URL(`../../bin${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url));
  const child = fork(bin, ["serve", "--port", "0", "--data", dataDir], {
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const stop = () => stopChild(child);
  try {
    const { url, signInUrl } = await readAddresses(child);
    return { url, signInUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function readAddresses(child: ChildProcess): Promise<{ url: string; signInUrl: string }> {
  const errors: string[] = [];
  child.stderr?.setEncoding("utf8").on("data", (text: string) => errors.push(text));
  let url: string | undefined;
  const timer = setTimeout(() => child.kill(), START_LIMIT_MS);
  try {
    for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
      url ??= line.match(/^Listening on (\S+)/)?.[1];
      const signInUrl = line.match(/^Sign in: (\S+)/)?.[1];
      if (url !== undefined && signInUrl !== undefined) {
        child.stdout?.resume();
        return { url, signInUrl };
      }
    }
  } finally {
    clearTimeout(timer);
  }
  throw new SvcError("unreachable", `The service did not start. ${errors.join("").trim()}`);
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
