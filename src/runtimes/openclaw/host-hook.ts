/** Options of a hook. */
export interface HostHookOptions {
  readonly priority?: number;
  /** Milliseconds; a handler that takes longer blocks the call. Host default 15,000. */
  readonly timeoutMs?: number;
  /** Exact tool names. */
  readonly matcher?: readonly [string, ...string[]];
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
export interface HostToolCallContext {
  readonly toolName: string;
  readonly agentId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly runId?: string | undefined;
  readonly toolCallId?: string | undefined;
  readonly channelId?: string | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  /** Who started the run; absent in runs nobody started (cron), without a channel in runs of the command line. */
  readonly requester?: { readonly channel?: string | undefined } | undefined;
}

/** What a human can answer to the host's approval card. */
type HostApprovalDecision = "allow-once" | "allow-always" | "deny";

/** How an approval ended. */
export type HostApprovalResolution = HostApprovalDecision | "timeout" | "cancelled";

/** What a call does in the host's own words; shown, never decisive. Texts at most 128 characters. */
export type HostApprovalScope =
  | {
      readonly kind: "message-send";
      readonly target: string;
      readonly recipientCount: number;
      /** At most 5. */
      readonly recipients?: string[];
    }
  | { readonly kind: "payment"; readonly amount: string; readonly currency: string; readonly target: string }
  | { readonly kind: "external-post"; readonly target: string; readonly visibility: "public" | "restricted" };

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
  readonly scope?: HostApprovalScope;
  readonly allowedDecisions?: HostApprovalDecision[];
  onResolution?(decision: HostApprovalResolution): void | Promise<void>;
}

/** What a `before_tool_call` handler answers; nothing lets the call pass. */
export interface HostToolCallVerdict {
  readonly params?: Record<string, unknown>;
  readonly block?: boolean;
  readonly blockReason?: string;
  readonly requireApproval?: HostApproval;
}
