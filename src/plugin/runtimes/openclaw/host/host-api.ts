import type { HostGate, HostTool, HostToolContext } from "./host-tool.ts";

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

/** The plugin API of the host. */
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
  /** Tells when the host drops a registration. */
  readonly lifecycle?:
    | {
        /** For a lasting registration in a gateway; absent where the host does not manage the plugin. Throws during the drop. */
        onDispose?(dispose: () => void | Promise<void>): unknown;
        /** `dispose` is called for a look at the plugin only. */
        registerRuntimeLifecycle(registration: { readonly id: string; dispose?(): void | Promise<void> }): void;
      }
    | undefined;
  /** A factory is called on every assembly of tools, synchronously; each of `names` must be listed in the manifest. */
  registerTool(tool: HostTool | HostToolFactory, options?: { readonly names?: string[] }): void;
  registerCommand(command: HostCommand): void;
  /** `program` is the host's commander program; `descriptors` are known before the registrar runs. */
  registerCli(
    registrar: (context: { readonly program: unknown; readonly config: HostConfig }) => void | Promise<void>,
    options?: {
      readonly descriptors?: readonly {
        readonly name: string;
        readonly description: string;
        readonly hasSubcommands: boolean;
      }[];
    },
  ): void;
  registerService(service: HostService): void;
  registerProvider(provider: HostProvider): void;
  /** Absent on hosts whose gateway takes no methods from plugins. */
  registerGatewayMethod?(
    method: string,
    handler: (call: HostGatewayCall) => void | Promise<void>,
    options: { readonly scope: HostScope },
  ): void;
  /** `matcher`: exact tool names. A handler that takes longer than `timeoutMs` (host default 15,000) blocks the call. */
  on(
    hook: "before_tool_call",
    handler: HostGate,
    options?: { readonly timeoutMs?: number; readonly matcher?: readonly [string, ...string[]] },
  ): void;
}

/** Called on every assembly of tools, synchronously; must be quick. */
export type HostToolFactory = (context: HostToolContext) => HostTool | HostTool[] | null | undefined;

/** Helpers of the running host. */
interface HostRuntime {
  readonly system?:
    | {
        /** Puts a line before the next turn of a session; false when it is there already. */
        enqueueSystemEvent(
          text: string,
          options: { readonly sessionKey: string; readonly agentId?: string; readonly contextKey?: string },
        ): boolean;
        /** Asks for such a turn now, whose words go to the owner's chat; the host decides when. */
        requestHeartbeat(wake: {
          readonly source: "other";
          readonly intent: "event";
          readonly reason: string;
          readonly agentId?: string;
          readonly sessionKey?: string;
        }): void;
      }
    | undefined;
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

/** Background work; started with the gateway, never in other modes. */
export interface HostService {
  readonly id: string;
  start(): void | Promise<void>;
  stop?(): void | Promise<void>;
}

/** OpenClaw's configuration, as parsed from `openclaw.json`. Read it field by field; nothing in it is promised. */
export type HostConfig = Readonly<Record<string, unknown>>;

/** The host's log. One line per call. */
export interface HostLogger {
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
  handler(context: HostCommandContext): Promise<{ readonly text: string }>;
}

/** Who sent a chat command and where. */
export interface HostCommandContext {
  readonly senderIsOwner?: boolean | undefined;
  /** Throws when the sender is an owner no more; call it after waiting and before an effect. */
  assertOwnerCurrent?(): void;
  /** Rights of the gateway client that sent the command; undefined in channels. */
  readonly gatewayClientScopes?: string[] | undefined;
  readonly sessionKey?: string | undefined;
  readonly args?: string | undefined;
  readonly config: HostConfig;
}

/** A right of an operator's client. */
export type HostScope = "operator.read" | "operator.write" | "operator.approvals" | "operator.admin";

/** A request of an operator's client to a method of this plugin. */
export interface HostGatewayCall {
  readonly params: Readonly<Record<string, unknown>>;
  respond(ok: boolean, payload?: unknown): void;
}

/** A source of credentials in the host's own sign-in screens. */
export interface HostProvider {
  readonly id: string;
  readonly label: string;
  readonly envVars?: string[];
  /** Ways to sign in. */
  readonly auth: {
    readonly id: string;
    readonly label: string;
    readonly hint?: string;
    readonly kind: "oauth" | "api_key" | "token" | "device_code" | "custom";
    run(context: HostAuthContext): Promise<HostAuthResult>;
    /** Without a human: answers the changed configuration, or null after a refusal it has told. */
    runNonInteractive?(context: HostUnattendedAuthContext): Promise<HostConfig | null>;
  }[];
}

/** The host's side of a sign-in. */
export interface HostAuthContext {
  readonly config: HostConfig;
  /** Folder of the agent that signs in. */
  readonly agentDir?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** True in chat and in the host's web pages, where nothing can be asked. Left out on the command line. */
  readonly credentialOnly?: boolean | undefined;
  /** Throws when the human who started this may not go on. */
  assertCurrent?(): void;
  openUrl(url: string): Promise<void>;
  readonly prompter: {
    note(message: string, title?: string): Promise<void>;
    /** Shows a code to compare, where the client has a place for it. */
    deviceCode?(code: {
      readonly title: string;
      readonly code: string;
      readonly expiresInMinutes?: number;
      readonly message?: string;
    }): Promise<void>;
    /** `validate` answers what is wrong, or undefined. */
    text(question: {
      readonly message: string;
      readonly initialValue?: string;
      validate?(value: string): string | undefined;
    }): Promise<string>;
    progress(label: string): { update(message: string): void; stop(message?: string): void };
  };
}

/** The host's side of a sign-in without a human. */
export interface HostUnattendedAuthContext {
  readonly config: HostConfig;
  readonly runtime: { error(message: string): void };
  resolveApiKey(place: {
    readonly provider: string;
    readonly flagName: `--${string}`;
    readonly envVar: string;
  }): Promise<{ readonly key: string; readonly source: "profile" | "env" | "flag" } | null>;
}

/** The result of a sign-in: the host stores the profiles. */
export interface HostAuthResult {
  readonly profiles: {
    readonly profileId: string;
    readonly credential: {
      readonly type: "api_key";
      readonly provider: string;
      readonly key: string;
      /** Kept with the key; no secrets. */
      readonly metadata?: Readonly<Record<string, string>>;
    };
  }[];
  readonly notes?: string[];
}

/** Id of the plugin's provider in the host's credential store. */
export const PROVIDER_ID = "svc";

/** Name of the key in that store. */
export const PROFILE_ID = "svc:default";

/** Method of the gateway by which `openclaw svc` reaches what only the running gateway knows. */
export const COMMAND_METHOD = "svc.command";
