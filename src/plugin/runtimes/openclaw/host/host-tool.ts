import type { HostConfig } from "./host-api.ts";

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

/** The result of a tool. In tool search `details` reaches the model too: keep it small and free of secrets. */
export interface HostToolResult {
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly details: Readonly<Record<string, unknown>>;
  /** A line for the channel while the call runs; generic words only, everybody in the conversation sees it. */
  readonly progress?: { readonly text: string; readonly visibility: "channel"; readonly privacy: "public" };
}

/** The conversation that a call belongs to. */
interface HostConversation {
  readonly agentId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Where a tool runs. In `/tools/invoke` the key helpers and the delivery route are absent. */
export interface HostToolContext extends HostConversation {
  readonly config?: HostConfig | undefined;
  readonly runtimeConfig?: HostConfig | undefined;
  readonly agentDir?: string | undefined;
  readonly messageChannel?: string | undefined;
  readonly activeModel?: { readonly provider?: string | undefined } | undefined;
  /** Sends to the conversation of this turn; fails after the turn. */
  readonly delivery?: { send(message: { readonly text?: string }): Promise<void> } | undefined;
  resolveApiKeyForProvider?(provider: string): Promise<string | undefined>;
}

/** A tool call that is about to run. */
export interface HostToolCallEvent {
  readonly toolName: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly runId?: string | undefined;
  /** Equals the first argument of `execute`. */
  readonly toolCallId?: string | undefined;
}

/** Where that call runs. */
export interface HostToolCallContext extends HostConversation {
  readonly toolName: string;
  readonly runId?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  /**
   * Who started the run. Without a channel in runs of the command line; a run that nobody started (cron, hooks,
   * heartbeats) has none, or the channel its words go to without a sender. The host's own page and terminal name none either:
   * their channel is `webchat`.
   */
  readonly requester?:
    | {
        readonly channel?: string | undefined;
        readonly senderId?: string | undefined;
      }
    | undefined;
}

/** A handler of the hook `before_tool_call`; undefined lets the call pass. */
export type HostGate = (
  event: HostToolCallEvent,
  context: HostToolCallContext,
) => Promise<HostToolCallVerdict | undefined>;

/** Blocks the call, or puts a card before a human first. */
export interface HostToolCallVerdict {
  readonly block?: boolean;
  readonly blockReason?: string;
  readonly requireApproval?: HostApproval;
}

/** A human's answer to the host's approval card. */
type HostApprovalDecision = "allow-once" | "allow-always" | "deny";

/** How an approval ended. */
export type HostApprovalResolution = HostApprovalDecision | "timeout" | "cancelled";

/** The host's approval card. */
export interface HostApproval {
  /** At most 80 characters. */
  readonly title: string;
  /** At most 512 characters. */
  readonly description: string;
  readonly severity?: "info" | "warning" | "critical";
  /** Milliseconds, at most 600,000. Host default 120,000. */
  readonly timeoutMs?: number;
  /** Text for the model when nobody answers in time. */
  readonly timeoutReason?: string;
  readonly allowedDecisions?: HostApprovalDecision[];
  onResolution?(decision: HostApprovalResolution): void | Promise<void>;
}
