import type { HostProvider } from "./host-sign-in.ts";
import type {
  HostHookOptions,
  HostTool,
  HostToolCallContext,
  HostToolCallEvent,
  HostToolCallVerdict,
  HostToolFactory,
  HostToolOptions,
} from "./host-tool.ts";

/**
 * The part of OpenClaw's plugin API that this room uses, as structural types: the package itself is 400 MB and never a
 * dependency. Written against OpenClaw 2026.9.6; every member that may be absent is marked so.
 */

/**
 * Why the host calls `register`. Only `full` may start anything that lives on; in `cli-metadata` touching `api.runtime`
 * throws.
 */
export type HostRegistrationMode =
  | "full"
  | "discovery"
  | "tool-discovery"
  | "setup-only"
  | "setup-runtime"
  | "cli-metadata";

/** What the host hands to `register`. */
export interface HostApi {
  readonly id: string;
  /** Of the plugin. */
  readonly version?: string | undefined;
  readonly registrationMode: HostRegistrationMode;
  readonly config: HostConfig;
  /** `plugins.entries.<id>.config`, secret references resolved in a running gateway. */
  readonly pluginConfig?: Readonly<Record<string, unknown>> | undefined;
  /** Throws on access in mode `cli-metadata`. */
  readonly runtime: HostRuntime;
  readonly logger: HostLogger;
  readonly lifecycle?: HostLifecycle | undefined;
  registerTool(tool: HostTool | HostToolFactory, options?: HostToolOptions): void;
  registerCommand(command: HostCommand): void;
  registerCli(registrar: (context: HostCliContext) => void | Promise<void>, options?: HostCliOptions): void;
  registerService(service: HostService): void;
  registerProvider(provider: HostProvider): void;
  /** Absent on hosts whose gateway takes no methods from plugins. */
  registerGatewayMethod?(
    method: string,
    handler: (call: HostGatewayCall) => void | Promise<void>,
    options: { readonly scope: HostScope },
  ): void;
  on(
    hook: "before_tool_call",
    handler: (
      event: HostToolCallEvent,
      context: HostToolCallContext,
    ) => HostToolCallVerdict | undefined | Promise<HostToolCallVerdict | undefined>,
    options?: HostHookOptions,
  ): void;
}

/** Helpers of the running host. */
interface HostRuntime {
  readonly version: string;
  /** Absent in hosts before 2026.9. Throws when the host has no key for this provider. */
  readonly modelAuth?:
    | {
        resolveApiKeyForProvider(wanted: {
          readonly provider: string;
          readonly cfg?: HostConfig;
        }): Promise<{ readonly apiKey?: string | undefined }>;
      }
    | undefined;
  readonly config: {
    /** The configuration as it is now. */
    current(): HostConfig;
    /** Changes `openclaw.json`; `draft` is edited in place. */
    mutateConfigFile(change: {
      readonly afterWrite: { readonly mode: "auto" };
      mutate(draft: Record<string, unknown>): void;
    }): Promise<unknown>;
  };
}

/** What the host calls when it drops a registration. */
interface HostLifecycle {
  /** For one that lasts in a gateway; absent where the host does not manage the plugin. Throws when it is being dropped. */
  onDispose?(dispose: () => void | Promise<void>): unknown;
  /** `dispose` is called for a look at the plugin only. */
  registerRuntimeLifecycle(registration: {
    readonly id: string;
    readonly description?: string;
    dispose?(): void | Promise<void>;
    cleanup?(context: { readonly reason: string; readonly sessionKey?: string }): void | Promise<void>;
  }): void;
}

/** Background work; started with the gateway, never in other modes. */
export interface HostService {
  readonly id: string;
  start(context: HostServiceContext): void | Promise<void>;
  stop?(context: HostServiceContext): void | Promise<void>;
}

/** What a service is started with. */
interface HostServiceContext {
  readonly config: HostConfig;
  readonly stateDir: string;
  readonly logger: HostLogger;
}

/** OpenClaw's configuration, as parsed from `openclaw.json`. Read it field by field; nothing in it is promised. */
export type HostConfig = Readonly<Record<string, unknown>>;

/** The host's log. One line per call. */
export interface HostLogger {
  debug?(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** A chat command that never reaches a model. */
export interface HostCommand {
  /** Without the leading slash. */
  readonly name: string;
  readonly description: string;
  readonly acceptsArgs?: boolean;
  readonly requireAuth?: boolean;
  /**
   * Clients of the gateway need these; in channels the sender must be an owner. With them the host also tells
   * `senderIsOwner` to plugins that it does not ship.
   */
  readonly requiredScopes?: HostScope[];
  handler(context: HostCommandContext): HostCommandReply | Promise<HostCommandReply>;
}

/** Who sent a chat command and where. */
export interface HostCommandContext {
  readonly senderIsOwner?: boolean | undefined;
  /** Throws when the sender is an owner no more; call it after waiting and before an effect. */
  assertOwnerCurrent?(): void;
  /** Rights of the gateway client that sent the command; undefined in channels. */
  readonly gatewayClientScopes?: string[] | undefined;
  readonly agentId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly args?: string | undefined;
  readonly config: HostConfig;
}

/** A right of an operator's client. */
export type HostScope = "operator.read" | "operator.write" | "operator.approvals" | "operator.admin";

/** A request of an operator's client to a method of this plugin. */
export interface HostGatewayCall {
  readonly params: Readonly<Record<string, unknown>>;
  respond(ok: boolean, payload?: unknown, error?: { readonly code: string; readonly message: string }): void;
}

/** Answer of a chat command. */
export interface HostCommandReply {
  readonly text?: string;
}

/** What a command-line registrar gets. */
interface HostCliContext {
  /** The host's commander program. */
  readonly program: unknown;
  readonly config: HostConfig;
  readonly logger: HostLogger;
}

/** Commands known before the registrar runs. */
interface HostCliOptions {
  readonly descriptors?: readonly {
    readonly name: string;
    readonly description: string;
    readonly hasSubcommands: boolean;
  }[];
}
