import { createRequire } from "node:module";
import { stripVTControlCharacters } from "node:util";
import type { WatchedProcess } from "../../watch-process.ts";
import { findOpenClaw } from "./find-openclaw.ts";
import type { HostState } from "./isolated-state.ts";

/** A command that thinks a person sits before it. */
export interface TerminalProcess extends Pick<WatchedProcess, "output" | "waitFor" | "type"> {
  /** Exit code. */
  readonly done: Promise<number>;
}

/** The part of the host's own terminal package that is used here. */
interface PtyPackage {
  spawn(
    file: string,
    args: readonly string[],
    options: { cols: number; rows: number; cwd: string; env: Readonly<Record<string, string>> },
  ): {
    write(text: string): void;
    kill(signal: string): void;
    onData(listen: (text: string) => void): void;
    onExit(listen: (end: { exitCode: number }) => void): void;
  };
}

/** Wide, so that no link is broken into lines. */
const COLUMNS = 400;
const TIMEOUT_MS = 300_000;

/** Starts a command of OpenClaw in a terminal, for what the host does for people only. Output is without colours. */
export function startInTerminal(state: HostState, args: readonly string[]): TerminalProcess {
  const program = findOpenClaw();
  if (program === undefined) throw new Error("OpenClaw is not installed. Run: npm run openclaw:install");
  const pty = createRequire(program)("@lydell/node-pty") as PtyPackage;
  const size = { cols: COLUMNS, rows: 50 };
  const terminal = pty.spawn(state.node, [program, ...args], { ...size, cwd: state.folder, env: state.env });
  const timer = setTimeout(() => terminal.kill("SIGKILL"), TIMEOUT_MS);
  let output = "";
  let look = () => {};
  terminal.onData((text) => {
    output += stripVTControlCharacters(text);
    look();
  });
  const ended = Promise.withResolvers<number>();
  terminal.onExit(({ exitCode }) => {
    clearTimeout(timer);
    ended.resolve(exitCode);
  });
  return {
    output: () => output,
    type: (text) => terminal.write(text),
    done: ended.promise,
    async waitFor(pattern) {
      for (;;) {
        const match = output.match(pattern);
        if (match !== null) return match;
        const printed = new Promise<boolean>((resolve) => {
          look = () => resolve(true);
        });
        const goesOn = await Promise.race([printed, ended.promise.then(() => false)]);
        if (!goesOn && !pattern.test(output)) throw new Error(`The command ended without ${pattern}:\n${output}`);
      }
    },
  };
}
