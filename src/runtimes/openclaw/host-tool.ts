import type { HostConfig } from "./host-config.ts";

/** A tool as the host takes it. */
export interface HostTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Keeps the tool in the model's own list when the host hides tools behind its tool search. */
  readonly catalogMode?: "direct-only";
  /** Marks results as content from outside. */
  readonly resultContentSource?: "network";
  readonly executionMode?: "sequential" | "parallel";
  /** Changes arguments before the host checks them; for a tool the model calls directly. */
  prepareArguments?(params: unknown): unknown;
  /** The same for a tool called through the host's tool search, and before hooks. */
  prepareBeforeToolCallParams?(params: unknown): unknown;
  execute(
    callId: string,
    params: unknown,
    signal?: AbortSignal,
    onUpdate?: (partial: HostToolResult) => void,
  ): Promise<HostToolResult>;
}

/** What a tool gives back. In tool search `details` reaches the model too: keep it small and free of secrets. */
export interface HostToolResult {
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly details: Readonly<Record<string, unknown>>;
  /** A line for the channel while the call runs; generic words only, everybody in the conversation sees it. */
  readonly progress?: { readonly text: string; readonly visibility: "channel"; readonly privacy: "public" };
}

/** Called on every assembly of tools, synchronously; must be quick. */
export type HostToolFactory = (context: HostToolContext) => HostTool | HostTool[] | null | undefined;

/** Options of `registerTool`. */
export interface HostToolOptions {
  readonly name?: string;
  /** Names a factory may return; each must be listed in the manifest. */
  readonly names?: string[];
  readonly optional?: boolean;
}

/** Where a tool runs. In `/tools/invoke` the key helpers and the delivery route are absent. */
export interface HostToolContext {
  readonly config?: HostConfig | undefined;
  readonly runtimeConfig?: HostConfig | undefined;
  getRuntimeConfig?(): HostConfig | undefined;
  readonly workspaceDir?: string | undefined;
  readonly agentDir?: string | undefined;
  readonly agentId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly messageChannel?: string | undefined;
  readonly requesterSenderId?: string | undefined;
  readonly senderIsOwner?: boolean | undefined;
  readonly sandboxed?: boolean | undefined;
  readonly deliveryContext?: HostDelivery | undefined;
  readonly activeModel?: { readonly provider?: string | undefined } | undefined;
  /** Sends to the conversation of this turn; fails after the turn. */
  readonly delivery?:
    | { send(message: { readonly text?: string; readonly mediaUrl?: string }): Promise<void> }
    | undefined;
  hasAuthForProvider?(provider: string): boolean;
  resolveApiKeyForProvider?(provider: string): Promise<string | undefined>;
}

/** Route of a conversation. */
interface HostDelivery {
  readonly channel?: string | undefined;
  readonly to?: string | undefined;
  readonly accountId?: string | undefined;
  readonly threadId?: string | number | undefined;
}
