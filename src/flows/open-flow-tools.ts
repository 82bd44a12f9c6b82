import { sleepFor } from "../client/pause.ts";
import type { FlowTool } from "./flow-tool.ts";
import { createFlowTools } from "./flow-tools.ts";
import type { FlowToolParts } from "./follow-flow.ts";

/** A card of a flow can be answered for ten minutes. */
const FLOW_APPROVAL_MS = 10 * 60 * 1_000;

/** What a runtime gives its flow tools; what is left out has the default named here. */
export interface FlowToolOptions extends Pick<FlowToolParts, "client" | "journal" | "emit"> {
  /** Asks a human. Default: nobody can be asked, and what changes something ends as `needs_approval`. */
  readonly approve?: FlowToolParts["approve"] | undefined;
  /** How long an answer is waited for, in milliseconds. Default: 10 minutes. */
  readonly approvalTtlMs?: number | undefined;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: (() => number) | undefined;
  /** Default: real time. */
  readonly sleep?: FlowToolParts["sleep"] | undefined;
}

/** Creates the flow tools of one session. */
export function openFlowTools({ client, journal, emit, ...options }: FlowToolOptions): FlowTool[] {
  return createFlowTools({
    client,
    journal,
    emit,
    approve: options.approve,
    approvalTtlMs: options.approvalTtlMs ?? FLOW_APPROVAL_MS,
    spent: new Map(),
    running: new Map(),
    now: options.now ?? Date.now,
    sleep: options.sleep ?? sleepFor,
  });
}
