import type { Effect } from "./ask/request.ts";
import type { PinChange } from "./catalog/pins.ts";
import type { OutcomeStatus } from "./outcome.ts";
import type { UploadMode } from "./pipeline.ts";

/** How the schema of a tool changed between two descriptions. */
export interface SchemaChange {
  readonly tool: string;
  readonly effect: Effect;
  /** One line each, e.g. "new required argument parent". */
  readonly lines: readonly string[];
}

/** Progress of a session for its host; for progress lines and logs, never for decisions. */
export type SessionEvent =
  | { readonly type: "sync_progress"; readonly integration: string | null; readonly tools: number }
  | { readonly type: "cache_rebuilt"; readonly reason: string }
  | { readonly type: "tools_omitted"; readonly integration: string | null; readonly count: number }
  /** Names that were requested and are unknown: typos, or apps that are not connected. */
  | { readonly type: "tools_not_found"; readonly tools: readonly string[]; readonly integrations: readonly string[] }
  /** `SvcToolkit.getTools` gave `listed` tools, and its limit kept back `count` that pass the filter. */
  | { readonly type: "tools_left_out"; readonly listed: number; readonly count: number }
  /** A LangGraph run may be resumed by a process that does not know the requests sent by this one. */
  | { readonly type: "writes_not_remembered" }
  | { readonly type: "schema_changed"; readonly change: SchemaChange }
  | { readonly type: "tool_not_pinned"; readonly change: PinChange }
  | { readonly type: "approval_requested"; readonly callId: string; readonly toolName: string }
  /** The service holds the call; its owner decides at `url`. Comes again, with the `reason`, for a call that waits again. */
  | {
      readonly type: "awaiting_owner";
      readonly callId: string;
      readonly toolName: string;
      readonly approvalId: string;
      readonly url: string | undefined;
      readonly reason?: string | undefined;
    }
  | { readonly type: "sending"; readonly callId: string; readonly toolName: string; readonly confirmed: boolean }
  /** At the start of each file with `sentBytes` 0, then for each piece of about half a megabyte that was sent of it. */
  | {
      readonly type: "uploading";
      readonly callId: string;
      readonly toolName: string;
      readonly field: string;
      /** Inside the request, or before it. */
      readonly way: UploadMode;
      readonly sentBytes: number;
      /** Size of the file. */
      readonly totalBytes: number;
    }
  | {
      readonly type: "flow_progress";
      readonly callId: string;
      readonly toolName: string;
      readonly flowId: string;
      readonly status: string;
      readonly step: string | null;
    }
  | { readonly type: "finished"; readonly callId: string; readonly toolName: string; readonly status: OutcomeStatus };
