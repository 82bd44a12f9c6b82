import type { Places } from "./places.ts";
import type { Terminal } from "./terminal.ts";

/** Context of every command. */
export interface CliContext {
  readonly places: Places;
  readonly env: NodeJS.ProcessEnv;
  readonly terminal: Terminal;
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
}

/** A command's body; the number is the exit code. */
export type RunCommand<Args extends unknown[]> = (context: CliContext, ...args: Args) => Promise<number>;
