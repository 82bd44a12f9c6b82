import { setTimeout as wait } from "node:timers/promises";
import type { WatchedProcess } from "../../watch-process.ts";
import type { HostState } from "./isolated-state.ts";
import { startOpenClaw } from "./run-openclaw.ts";

/** A running gateway. */
export interface Gateway {
  readonly url: string;
  readonly pid: number;
  /** Everything it has printed since it was started. */
  readonly output: () => string;
  /** Asks it to stop and waits until it has. */
  stop(): Promise<void>;
  /** Takes it away as a power cut would. */
  kill(): Promise<void>;
}

/** Longest time a gateway may take to answer: 10 seconds on two idle cores, two minutes on very busy ones. */
const START_MS = 300_000;
const POLL_MS = 100;

/**
 * Starts the gateway of a state and waits until it takes calls. A state that a stopped or killed gateway left behind
 * can be used again.
 */
export async function startGateway(state: HostState, env: Readonly<Record<string, string>> = {}): Promise<Gateway> {
  const running = startOpenClaw(state, ["gateway", "run", "--verbose"], { env, timeoutMs: "never" });
  const url = `http://127.0.0.1:${state.port}`;
  const end = async (signal: NodeJS.Signals) => {
    running.kill(signal);
    await running.done;
    process.off("exit", killNow);
  };
  const killNow = () => running.kill("SIGKILL");
  process.once("exit", killNow);
  try {
    await waitUntilReady(running, url);
  } catch (error) {
    await end("SIGKILL");
    throw error;
  }
  return { url, pid: running.pid, output: running.output, stop: () => end("SIGTERM"), kill: () => end("SIGKILL") };
}

async function waitUntilReady(running: WatchedProcess, url: string): Promise<void> {
  const deadline = AbortSignal.timeout(START_MS);
  // The port answers before calls are taken; the log says when they are.
  const ready = running.waitFor(/\[gateway\] ready/);
  ready.catch(() => {});
  await Promise.race([ready, wait(START_MS, undefined, { ref: false })]);
  for (;;) {
    if (await isHealthy(url)) return;
    if (deadline.aborted) throw new Error(`The gateway did not get ready:\n${running.output()}`);
    await wait(POLL_MS);
  }
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/healthz`)).ok;
  } catch {
    return false;
  }
}
