import type { Effect } from "./ask/request.ts";
import type { PinChange } from "./catalog/pins.ts";
import type { OutcomeStatus } from "./outcome.ts";

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
  /** A LangGraph run can be resumed by a process that knows nothing of what this one sends. */
  | { readonly type: "writes_not_remembered" }
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

/** Who is told of a session's events. An async function fits the type as well. */
type EventListener = (event: SessionEvent) => void;

/**
 * Makes what tells `listener` of an event at once, and goes on whatever it does: what it throws or rejects with is
 * dropped, since a call that has acted must not lose its outcome over a line of a log.
 */
export function createEmitter(listener: EventListener): EventListener {
  // Async, so that what is thrown and what is rejected later end in the same place.
  const tell = async (event: SessionEvent): Promise<void> => await listener(event);
  return (event) => void tell(event).catch(() => undefined);
}
