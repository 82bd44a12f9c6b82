import { homedir } from "node:os";
import { join, win32 } from "node:path";
import { SvcError } from "../shared/errors.ts";
import type { Terminal } from "./terminal.ts";

/** Folders, environment, streams and abort signal of a command. */
export interface CliContext {
  readonly places: Places;
  readonly env: NodeJS.ProcessEnv;
  readonly terminal: Terminal;
  readonly input: NodeJS.ReadStream;
  /** The stream for people: stderr with `--json`. */
  readonly output: NodeJS.WriteStream;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
}

/** A command's body; the number is the exit code. */
export type RunCommand<Args extends unknown[]> = (context: CliContext, ...args: Args) => Promise<number>;

/** Makes a command's action from its body, which is loaded when the command runs. */
export type Run = <Args extends unknown[]>(
  load: () => Promise<RunCommand<Args>>,
) => (...args: unknown[]) => Promise<void>;

/** Folders of the command line. `SVC_HOME` moves them all. */
export interface Places {
  /** `config.json` and `credentials.json`. */
  readonly config: string;
  /** The embedded service's data, default of `svc serve --data`. */
  readonly service: string;
  /** Approval journal, remembered choices, stored results. */
  readonly state: string;
  /** Tool catalogue; may be deleted at any time. */
  readonly cache: string;
  /** The only media root if none is configured. */
  readonly media: string;
}

/** Folders under `SVC_HOME` when set, else under the XDG base directories. */
export function findPlaces(env: NodeJS.ProcessEnv, find: () => string = homedir): Places {
  if (env.SVC_HOME) return placesUnder(env.SVC_HOME);
  const home = findHome(find);
  const base = (name: string, fallback: string) => join(env[name] || join(home, fallback), "svc");
  const data = base("XDG_DATA_HOME", ".local/share");
  return {
    config: base("XDG_CONFIG_HOME", ".config"),
    service: join(data, "service"),
    media: join(data, "media"),
    state: base("XDG_STATE_HOME", ".local/state"),
    cache: base("XDG_CACHE_HOME", ".cache"),
  };
}

/** @throws SvcError `invalid_config` for a user without a home folder, as of a container */
function findHome(find: () => string): string {
  try {
    return find();
  } catch (cause) {
    const hint = "Set HOME, or SVC_HOME to a folder that svc may write to.";
    throw new SvcError("invalid_config", "This user has no home folder.", { field: "HOME", hint, cause });
  }
}

/** All folders below one, for `SVC_HOME` and the demo. */
export function placesUnder(home: string): Places {
  return {
    config: join(home, "config"),
    service: join(home, "service"),
    media: join(home, "media"),
    state: join(home, "state"),
    cache: join(home, "cache"),
  };
}

/**
 * Who may read a file that svc makes, as words: its owner alone. Windows knows no modes: a file has the rights of the folders
 * above it, and those outside of the profile often are everybody's.
 */
export function sayReaders(path: string, platform: NodeJS.Platform = process.platform, home = homedir): string {
  if (platform !== "win32") return "readable by you alone";
  const way = win32.relative(home(), path);
  const isInProfile = !way.startsWith("..") && !win32.isAbsolute(way);
  return isInProfile ? "readable by you alone" : "outside of your profile: other users of this machine may read it";
}
