import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../src/bin.ts", import.meta.url));

/** A finished `svc` command. */
export interface SvcRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A `svc` command that is still running. */
export interface RunningSvc {
  /** Resolves with the match once the output so far matches; rejects with the output when the command ends first. */
  waitFor(pattern: RegExp): Promise<RegExpMatchArray>;
  type(text: string): void;
  endInput(): void;
  kill(signal: NodeJS.Signals): void;
  readonly done: Promise<SvcRun>;
}

/** Starts `svc` from the sources with its own home and nothing else of the caller's environment that it reads. */
export function startSvc(args: readonly string[], home: string, env: Record<string, string> = {}): RunningSvc {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SVC_|XDG_|NO_COLOR$|FORCE_COLOR$)/.test(name));
  const child = spawn(process.execPath, [BIN, ...args], {
    env: { ...Object.fromEntries(inherited), SVC_HOME: home, ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const done = once(child, "close").then(([code]): SvcRun => ({ code: Number(code), stdout, stderr }));
  return {
    async waitFor(pattern) {
      for (;;) {
        const match = stdout.match(pattern);
        if (match !== null) return match;
        const ended = await Promise.race([once(child.stdout, "data").then(() => false), done.then(() => true)]);
        if (ended && !pattern.test(stdout)) throw new Error(`svc ended without ${pattern}:\n${stdout}\n${stderr}`);
      }
    },
    type: (text) => void child.stdin.write(text),
    endInput: () => void child.stdin.end(),
    kill: (signal) => void child.kill(signal),
    done,
  };
}

/** Runs `svc` to its end; `input` is typed and then closed. */
export async function runSvc(
  args: readonly string[],
  home: string,
  { input = "", env = {} }: { input?: string; env?: Record<string, string> } = {},
): Promise<SvcRun> {
  const running = startSvc(args, home, env);
  running.type(input);
  running.endInput();
  return running.done;
}
