import type { Effect } from "../approvals/request.ts";
import type { OutcomeStatus } from "./outcome.ts";
import type { PinChange } from "./pins.ts";

/** How the schema of a tool changed between two descriptions. */
export interface SchemaChange {
  readonly tool: string;
  readonly effect: Effect;
  /** One line each, e.g. "new required argument parent". */
  readonly lines: readonly string[];
}

/** What a session tells its host while it works; for progress lines and logs, never for decisions. */
export type SessionEvent =
  | { readonly type: "sync_progress"; readonly integration: string | null; readonly tools: number }
  | { readonly type: "cache_rebuilt"; readonly reason: string }
  | { readonly type: "tools_omitted"; readonly integration: string | null; readonly count: number }
  /** Asked for by name, and not known: a slip, or an app that is not connected. */
  | { readonly type: "tools_not_found"; readonly tools: readonly string[]; readonly integrations: readonly string[] }
  | { readonly type: "schema_changed"; readonly change: SchemaChange }
  | { readonly type: "tool_not_pinned"; readonly change: PinChange }
  | { readonly type: "approval_requested"; readonly callId: string; readonly toolName: string }
  | { readonly type: "sending"; readonly callId: string; readonly toolName: string; readonly confirmed: boolean }
  | { readonly type: "uploading"; readonly callId: string; readonly toolName: string; readonly field: string }
  | {
      readonly type: "flow_progress";
      readonly callId: string;
      readonly toolName: string;
      readonly flowId: string;
      readonly status: string;
      /** The step the flow is at. */
      readonly step: string | null;
    }
  | { readonly type: "finished"; readonly callId: string; readonly toolName: string; readonly status: OutcomeStatus };
