import type { HostCliContext, HostCliOptions, HostCommand, HostGatewayCall, HostScope } from "./host-command.ts";
import type { HostConfig, HostLogger } from "./host-config.ts";
import type { HostHookOptions, HostToolCallContext, HostToolCallEvent, HostToolCallVerdict } from "./host-hook.ts";
import type { HostService } from "./host-service.ts";
import type { HostProvider } from "./host-sign-in.ts";
import type { HostTool, HostToolFactory, HostToolOptions } from "./host-tool.ts";

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
  readonly rootDir?: string | undefined;
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
