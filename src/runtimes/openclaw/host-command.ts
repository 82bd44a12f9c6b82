import type { HostConfig, HostLogger } from "./host-config.ts";

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
  readonly channel: string;
  readonly senderId?: string | undefined;
  readonly isAuthorizedSender: boolean;
  readonly senderIsOwner?: boolean | undefined;
  /** Throws when the sender is an owner no more; call it after waiting and before an effect. */
  assertOwnerCurrent?(): void;
  /** Rights of the gateway client that sent the command; undefined in channels. */
  readonly gatewayClientScopes?: string[] | undefined;
  readonly agentId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly args?: string | undefined;
  readonly commandBody: string;
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
export interface HostCliContext {
  /** The host's commander program. */
  readonly program: unknown;
  readonly config: HostConfig;
  readonly workspaceDir?: string | undefined;
  readonly logger: HostLogger;
}

/** Commands known before the registrar runs. */
export interface HostCliOptions {
  readonly descriptors?: readonly {
    readonly name: string;
    readonly description: string;
    readonly hasSubcommands: boolean;
  }[];
}
