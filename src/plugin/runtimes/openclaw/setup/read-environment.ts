import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

const LINE_OF_ENV = /^[ \t]*(?:export[ \t]+)?(?<name>[A-Za-z_]\w*)[ \t]*=[ \t]*(?<value>.*?)[ \t\r]*$/gm;

/**
 * The plugin's part of the environment; the one place that reads it. The host takes variables over from a `.env`
 * file in the folder it is started in, which need not be the user's own: key and address from there do not count, and
 * media folders are not read from variables at all.
 */
export type Environment = Readonly<ReturnType<typeof readEnvironment>>;

type Variables = Readonly<Record<string, string | undefined>>;

/** Reads the environment of this process, or `env` of one started in `folder`. */
// biome-ignore lint/style/noProcessEnv: the entry's own place to read the environment
export function readEnvironment(env: Variables = process.env, folder = findFolder()) {
  const stateDir = findStateDir(env);
  const local = folder === undefined || folder === stateDir ? new Map() : readLocalVariables(folder);
  const read = (name: string) => (local.get(name) === env[name] ? undefined : env[name] || undefined);
  const apiKey = read("SVC_API_KEY");
  return {
    apiKey,
    /** The `SVC_API_KEY` that does not count: the host may still hand it out as its own. */
    foreignKey: apiKey === undefined ? env.SVC_API_KEY || undefined : undefined,
    baseUrl: read("SVC_BASE_URL"),
    /** State folder of the host, found as the host finds it. */
    stateDir,
    /** Media folder of the host, which need not lie in its state folder. */
    mediaDir: findMediaDir(env),
    /** All variables, for the host's own resolution of secret references. */
    variables: env,
  };
}

/** Undefined when the folder this process was started in is gone. */
function findFolder(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}

/** `OPENCLAW_STATE_DIR`, else `.openclaw` in the home folder, else the folder of the host's former name if it is there. */
function findStateDir(env: Variables): string {
  const home = findHome(env);
  const named = env.OPENCLAW_STATE_DIR?.trim();
  if (named) return expandHome(named, home);
  const [current, former] = [join(home, ".openclaw"), join(home, ".clawdbot")];
  return !existsSync(current) && existsSync(former) ? former : current;
}

/** `media` beside the configuration file when only that is named, and never in the folder of the host's former name. */
function findMediaDir(env: Variables): string {
  const home = findHome(env);
  const [state, config] = [env.OPENCLAW_STATE_DIR?.trim(), env.OPENCLAW_CONFIG_PATH?.trim()];
  if (state) return join(expandHome(state, home), "media");
  return join(config ? dirname(expandHome(config, home)) : join(home, ".openclaw"), "media");
}

function expandHome(path: string, home: string): string {
  return resolve(path.replace(/^~(?=$|[\\/])/, () => home));
}

function findHome(env: Variables): string {
  const system = readHome(env.HOME) ?? readHome(env.USERPROFILE) ?? homedir();
  const named = readHome(env.OPENCLAW_HOME);
  return resolve(named === undefined ? system : named.replace(/^~(?=$|[\\/])/, () => system));
}

function readHome(value: string | undefined): string | undefined {
  const home = value?.trim();
  return home && home !== "undefined" && home !== "null" ? home : undefined;
}

/**
 * Variables that the `.env` file of `folder` sets; none when there is no such file. The host takes them over from the
 * folder it is started in, which may be a stranger's, such as a cloned repository.
 */
function readLocalVariables(folder: string): ReadonlyMap<string, string> {
  let text: string;
  try {
    text = readFileSync(join(folder, ".env"), "utf8");
  } catch {
    return new Map();
  }
  const found = new Map<string, string>();
  for (const { groups } of text.matchAll(LINE_OF_ENV)) {
    if (groups?.name !== undefined) found.set(groups.name, readValue(groups.value ?? ""));
  }
  return found;
}

/** Without quotes, and without a comment behind a value that has none. */
function readValue(text: string): string {
  const quoted = /^(["'`])(?<inner>.*?)\1/.exec(text)?.groups?.inner;
  return quoted ?? text.replace(/\s+#.*$|^#.*$/, "");
}
