import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A service in a process of its own, so that it can be killed. */
export interface ServedChild {
  readonly process: ChildProcess;
  readonly url: string;
  readonly apiKey: string;
}

const started: ChildProcess[] = [];

/** Starts a script that serves what its arguments name, and that prints one JSON line when it is ready. */
export async function serveChild(script: string, ...args: readonly string[]): Promise<ServedChild> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  for await (const line of createInterface({ input: child.stdout })) return { process: child, ...JSON.parse(line) };
  throw new Error("The child ended before it was ready.");
}

/** Takes it away as a power cut would; nothing happens when it is gone already. */
export const killChild = ({ process: child }: ServedChild): Promise<void> => kill(child);

/** Kills every child of this test file that still runs; call it in `afterEach`. */
export async function killChildren(): Promise<void> {
  await Promise.all(started.splice(0).map(kill));
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
