import { type ProcessRun, type WatchedProcess, watchProcess } from "../../watch-process.ts";
import { findOpenClaw } from "./find-openclaw.ts";
import type { HostState } from "./isolated-state.ts";

/** A command of the host takes seconds, and minutes on a very busy machine. */
const TIMEOUT_MS = 300_000;

/** Starts a command of OpenClaw on a state; killed after `timeoutMs`, which is five minutes by default. */
export function startOpenClaw(
  state: HostState,
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; timeoutMs?: number | "never" } = {},
): WatchedProcess {
  const program = findOpenClaw();
  if (program === undefined) throw new Error("OpenClaw is not installed. Run: npm run openclaw:install");
  return watchProcess(state.node, [program, ...args], {
    env: { ...state.env, ...options.env },
    cwd: state.folder,
    ...(options.timeoutMs === "never" ? {} : { timeoutMs: options.timeoutMs ?? TIMEOUT_MS }),
    withChildren: true,
  });
}

/** Runs a command of OpenClaw to its end, with no input, whatever its exit code. */
export function runOpenClaw(
  state: HostState,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ProcessRun> {
  const running = startOpenClaw(state, args, { env });
  running.endInput();
  return running.done;
}

/** Runs a command of OpenClaw that must succeed and returns what it printed. @throws with both streams when it fails */
export async function mustRunOpenClaw(state: HostState, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runOpenClaw(state, args);
  if (code !== 0) throw new Error(`openclaw ${args.join(" ")} ended with code ${code}:\n${stdout}${stderr}`);
  return stdout;
}
