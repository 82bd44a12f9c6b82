import type {
  FlowEventType,
  FlowStatus,
  FlowStepStatus,
  FlowStepType,
  FlowTriggerType,
} from "../../shared/wire/flow.ts";

/** An event of a trigger is acted on again until that worked, or is given up. */
type TriggerEventStatus = "pending" | "done" | "failed";

/** Tables of flows and of the triggers that start them. See `Tables`. */
export interface FlowTables {
  flows: {
    id: string;
    account_id: string;
    /** The key that started it. */
    api_key_id: string;
    template_key: string;
    /** The template as JSON where it is one of the owner; null for those of the service. */
    template: string | null;
    status: FlowStatus;
    trigger_type: FlowTriggerType | FlowEventType;
    /** As sent. */
    input: string;
    context: string;
    current_step: string;
    /** Counts from 1; what may change the flow names the segment it belongs to. */
    segment: number;
    /** The process that runs the segment, or last ran one. */
    runner: string;
    /** When a timed wait is over. */
    wake_at: string | null;
    created_at: string;
    updated_at: string;
    completed_at: string | null;
  };
  flow_steps: {
    flow_id: string;
    step_index: number;
    step_key: string;
    step_type: FlowStepType;
    status: FlowStepStatus;
    input: string | null;
    output: string | null;
    error: string | null;
    attempts: number;
    started_at: string | null;
    completed_at: string | null;
  };
  /** Writes of flows, each bound to the one execution it started, in the transaction that records its start. */
  flow_calls: { key: string; flow_id: string; execution_id: string };
  /** The owner's triggers. */
  triggers: {
    id: string;
    account_id: string;
    name: string;
    /** JSON: the rest of `TriggerContent`. */
    content: string;
    /** What kind it waits for; `content` has it too. */
    kind: string;
    /** JSON, encrypted, see `TriggerSecrets`; null without one. */
    secrets: string | null;
    made_by: string;
    made_at: string;
    paused_at: string | null;
    /** The next run or look; null where there is none. */
    due_at: string | null;
    /** The process that looks now. */
    leased_by: string | null;
    /** JSON, see `Cursor`. */
    cursor: string;
    /** Looks that failed in a row, up to now, and why the last one did. */
    failures: number;
    error: string | null;
    /** What its owner should know of its last run. */
    note: string | null;
  };
  /** SHA-256 of what a trigger knows in an app: places, and events by their id. */
  trigger_marks: { trigger_id: string; mark: string; at: string };
  /** Events of triggers, and what became of them. */
  trigger_events: {
    /** The same at every attempt. */
    id: string;
    trigger_id: string;
    /** Names it within its trigger. */
    event_key: string;
    /** When it took place. */
    at: string;
    /** JSON, see `EventValues`. */
    data: string;
    status: TriggerEventStatus;
    /** Attempts that failed. */
    attempts: number;
    /** No attempt before this time. */
    next_at: string;
    /** The process that sends it now. */
    leased_by: string | null;
    error: string | null;
    flow_id: string | null;
    settled_at: string | null;
  };
}
