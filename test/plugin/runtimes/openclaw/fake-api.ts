import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  HostApi,
  HostCommand,
  HostProvider,
  HostRegistrationMode,
  HostService,
  HostToolFactory,
} from "../../../../src/plugin/runtimes/openclaw/host/host-api.ts";
import type { HostTool } from "../../../../src/plugin/runtimes/openclaw/host/host-tool.ts";
import { type Environment, readEnvironment } from "../../../../src/plugin/runtimes/openclaw/setup/read-environment.ts";

/** What a registration did and said. */
export interface Recorded {
  readonly tools: {
    readonly tool: HostTool | HostToolFactory;
    readonly options: Parameters<HostApi["registerTool"]>[1];
  }[];
  readonly commands: HostCommand[];
  readonly services: HostService[];
  readonly providers: HostProvider[];
  readonly hooks: {
    readonly name: string;
    readonly handler: Parameters<HostApi["on"]>[1];
    readonly options: Parameters<HostApi["on"]>[2];
  }[];
  /** What the host calls when it drops the registration. */
  readonly disposals: (() => void | Promise<void>)[];
  /** Every line that was logged. */
  readonly lines: string[];
  /** Lines put before the next turn of a session, and turns that were asked for. */
  readonly events: object[];
  readonly wakes: object[];
  /** How often `api.runtime` was touched. */
  runtimeReads: number;
}

/** What a test says of the host. */
export interface FakeHost {
  readonly mode?: HostRegistrationMode;
  readonly pluginConfig?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, unknown>>;
  /** The key in the host's credential store. */
  readonly storedKey?: string | undefined;
}

/** A stand-in for the host's plugin API that records everything; what the real host does is shown in `test/e2e`. */
export function createFakeApi(host: FakeHost = {}): { readonly api: HostApi; readonly recorded: Recorded } {
  const recorded: Recorded = {
    tools: [],
    commands: [],
    services: [],
    providers: [],
    hooks: [],
    disposals: [],
    lines: [],
    events: [],
    wakes: [],
    runtimeReads: 0,
  };
  const log = (message: string) => void recorded.lines.push(message);
  const api: HostApi = {
    id: "svc",
    registrationMode: host.mode ?? "full",
    config: host.config ?? {},
    pluginConfig: host.pluginConfig,
    get runtime() {
      recorded.runtimeReads += 1;
      if (host.mode === "cli-metadata") throw new Error("runtime is intentionally unavailable");
      return {
        modelAuth: {
          async resolveApiKeyForProvider() {
            if (host.storedKey === undefined) throw new Error("No API key found for provider svc.");
            return { apiKey: host.storedKey };
          },
        },
        system: {
          enqueueSystemEvent: (text: string, options: object) => recorded.events.push({ text, ...options }) > 0,
          requestHeartbeat: (wake: object) => void recorded.wakes.push(wake),
        },
        config: { current: () => host.config ?? {}, mutateConfigFile: async () => undefined },
      };
    },
    logger: { info: log, warn: log, error: log },
    lifecycle: {
      registerRuntimeLifecycle: ({ dispose }) => {
        if (dispose !== undefined) recorded.disposals.push(dispose);
      },
    },
    registerTool: (tool, options) => void recorded.tools.push({ tool, options }),
    registerCommand: (command) => void recorded.commands.push(command),
    registerCli: () => undefined,
    registerService: (service) => void recorded.services.push(service),
    registerProvider: (provider) => void recorded.providers.push(provider),
    on: (name, handler, options) => void recorded.hooks.push({ name, handler, options }),
  };
  return { api, recorded };
}

/** An empty state folder of the host, with the environment that names it and the way to remove it. */
export function createStateFolder(variables: Readonly<Record<string, string>> = {}): {
  readonly environment: Environment;
  remove(): void;
} {
  const folder = mkdtempSync(join(tmpdir(), "svc-openclaw-"));
  return {
    environment: readEnvironment({ ...variables, OPENCLAW_STATE_DIR: folder }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
