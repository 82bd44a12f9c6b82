import { spawn } from "node:child_process";
import { once } from "node:events";

/** A finished process. */
export interface ProcessRun {
  /** Exit code, or -1 when a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process that is still running, with everything it has printed. */
export interface WatchedProcess {
  readonly pid: number;
  /** Both streams so far, in the order they came. */
  readonly output: () => string;
  /** Resolves with the match once the output so far matches; rejects with the output when the process ends first. */
  waitFor(pattern: RegExp): Promise<RegExpMatchArray>;
  type(text: string): void;
  endInput(): void;
  kill(signal: NodeJS.Signals): void;
  readonly done: Promise<ProcessRun>;
}

/** What a process is started with. */
export interface WatchOptions {
  /** The whole environment of the process. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Milliseconds after which the process is killed; default: never. */
  readonly timeoutMs?: number;
  /** True kills what the process has started too. Default false. */
  readonly withChildren?: boolean;
}

/** Starts a process and gathers its output. */
export function watchProcess(file: string, args: readonly string[], options: WatchOptions): WatchedProcess {
  const { env, cwd, timeoutMs, withChildren = false } = options;
  const child = spawn(file, args, {
    env,
    stdio: ["pipe", "pipe", "pipe"],
    detached: withChildren,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const kill = (signal: NodeJS.Signals) => {
    // A negative id means the group that a detached process leads.
    const isRunning = child.exitCode === null && child.signalCode === null;
    if (withChildren && child.pid !== undefined && isRunning) process.kill(-child.pid, signal);
    else child.kill(signal);
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => kill("SIGKILL"), timeoutMs);
  const texts = { stdout: "", stderr: "", both: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
      texts.both += text;
      child.emit("printed");
    });
  }
  child.stdin.on("error", () => {});
  const done = once(child, "close").then(([code]): ProcessRun => {
    clearTimeout(timer);
    return { code: typeof code === "number" ? code : -1, stdout: texts.stdout, stderr: texts.stderr };
  });
  done.catch(() => {});
  return {
    pid: child.pid ?? -1,
    output: () => texts.both,
    async waitFor(pattern) {
      for (;;) {
        const match = texts.both.match(pattern);
        if (match !== null) return match;
        const ended = await Promise.race([once(child, "printed").then(() => false), done.then(() => true)]);
        if (ended && !pattern.test(texts.both)) throw new Error(`${file} ended without ${pattern}:\n${texts.both}`);
      }
    },
    type: (text) => void child.stdin.write(text),
    endInput: () => void child.stdin.end(),
    kill,
    done,
  };
}
