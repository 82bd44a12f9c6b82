import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { findFreePort } from "../../../service/free-port.ts";

/** A JSON object of the host's configuration. */
type HostConfig = { [key: string]: unknown };

/** Everything one OpenClaw keeps and is told, apart from the user's own. */
export interface HostState {
  /** Temporary folder that holds all of the rest. */
  readonly folder: string;
  /** `OPENCLAW_STATE_DIR`. */
  readonly stateDir: string;
  readonly workspace: string;
  readonly configPath: string;
  /** Port and token of its gateway. */
  readonly port: number;
  readonly token: string;
  /** The Node that runs it. */
  readonly node: string;
  /** The whole environment of its processes. */
  readonly env: Readonly<Record<string, string>>;
  readConfig(): Promise<HostConfig>;
  /** Changes the configuration file; a running gateway applies it by itself. */
  editConfig(change: (config: HostConfig) => void): Promise<void>;
  remove(): Promise<void>;
}

/** How a state starts. */
export interface StateOptions {
  /** Base URL of an OpenAI-compatible model, with `/v1`. */
  readonly modelUrl: string;
  /** More environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Sections of the configuration that replace the ones it starts with. */
  readonly config?: HostConfig;
  /** True gives it the agents `main` and `helper`, of which none is marked as the one to take. */
  readonly hasTwoAgents?: boolean;
  /** Path of the Node that runs the host. Default: the one that runs the tests. */
  readonly node?: string;
}

/** Makes a state in a temporary folder: a configuration with one local model and nothing that calls out by itself. */
export async function createState(options: StateOptions): Promise<HostState> {
  // Resolved, as the host prints and compares resolved paths.
  const folder = await realpath(await mkdtemp(join(tmpdir(), "svc-openclaw-")));
  const [home, stateDir, workspace] = ["home", "state", "workspace"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [home, stateDir, workspace]) await mkdir(path, { mode: 0o700 });
  const configPath = join(folder, "openclaw.json");
  const { node = process.execPath } = options;
  const port = await findFreePort();
  const token = randomBytes(16).toString("hex");
  const readConfig = async () => JSON.parse(await readFile(configPath, "utf8")) as HostConfig;
  const writeConfig = (config: HostConfig) => writeFile(configPath, JSON.stringify(config, null, 2), { mode: 0o600 });
  const logFile = join(folder, "openclaw.log");
  const { agents, ...usual } = createConfig({ port, token, workspace, modelUrl: options.modelUrl, logFile });
  const two = { ownership: "explicit", entries: { main: { workspace }, helper: {} } };
  await writeConfig({ ...usual, ...options.config, agents: options.hasTwoAgents ? { ...agents, ...two } : agents });
  return {
    folder,
    stateDir,
    workspace,
    configPath,
    port,
    token,
    node,
    env: { ...createEnvironment({ home, stateDir, configPath, node }), ...options.env },
    readConfig,
    async editConfig(change) {
      const config = await readConfig();
      change(config);
      await writeConfig(config);
    },
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function createConfig(o: { port: number; token: string; workspace: string; modelUrl: string; logFile: string }) {
  const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const limits = { contextWindow: 128_000, maxTokens: 4096 };
  const model = { id: "scripted", name: "Scripted", input: ["text"], reasoning: false, cost: free, ...limits };
  return {
    gateway: { mode: "local", bind: "loopback", port: o.port, auth: { mode: "token", token: o.token } },
    agents: {
      defaults: {
        workspace: o.workspace,
        model: "local/scripted",
        skipBootstrap: true,
        // No turns that no test has asked for.
        heartbeat: { every: "0m" },
      },
    },
    models: {
      mode: "merge",
      catalogRefresh: { enabled: false },
      providers: { local: { baseUrl: o.modelUrl, apiKey: "none", api: "openai-completions", models: [model] } },
    },
    update: { checkOnStart: false },
    logging: { file: o.logFile },
  };
}

/** What decides how this machine reaches a package registry; the isolated home would hide the rest. */
const OF_NETWORK =
  /^(npm_config_(cache|registry|userconfig|globalconfig)|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|(https?|no|all)_proxy)$/i;

function createEnvironment(o: { home: string; stateDir: string; configPath: string; node: string }) {
  const ofNetwork = Object.entries(process.env).flatMap(([name, value]) =>
    OF_NETWORK.test(name) && value !== undefined ? [[name, value] as const] : [],
  );
  return {
    npm_config_cache: join(homedir(), ".npm"),
    npm_config_userconfig: join(homedir(), ".npmrc"),
    npm_config_prefer_offline: "true",
    ...Object.fromEntries(ofNetwork),
    PATH: [dirname(o.node), process.env.PATH ?? ""].join(delimiter),
    LANG: "C.UTF-8",
    HOME: o.home,
    OPENCLAW_STATE_DIR: o.stateDir,
    OPENCLAW_CONFIG_PATH: o.configPath,
    OPENCLAW_NO_RESPAWN: "1",
    NO_COLOR: "1",
  };
}
