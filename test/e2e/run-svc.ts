import { inject } from "vitest";
import { type ProcessRun, type WatchedProcess, watchProcess } from "./watch-process.ts";

/** Starts `svc`, as the package has it, with its own home and nothing else of the caller's environment that it reads. */
export function startSvc(args: readonly string[], home: string, env: Record<string, string> = {}): WatchedProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SVC_|XDG_|NO_COLOR$|FORCE_COLOR$)/.test(name));
  return watchProcess(process.execPath, [inject("program"), ...args], {
    env: { ...Object.fromEntries(inherited), SVC_HOME: home, ...env },
  });
}

/** Runs `svc` to its end; `input` is typed and then closed. */
export async function runSvc(
  args: readonly string[],
  home: string,
  { input = "", env = {} }: { input?: string; env?: Record<string, string> } = {},
): Promise<ProcessRun> {
  const running = startSvc(args, home, env);
  running.type(input);
  running.endInput();
  return running.done;
}
