import { throwIfAborted } from "../approvals/abort.ts";
import type { SvcClient } from "../client/client.ts";
import { isSvcError } from "../errors.ts";
import type { FlowView } from "../wire/flow.ts";
import type { FlowCall } from "./ask-human.ts";
import { describeFlow, NOT_WATCHED } from "./describe-flow.ts";
import type { FlowOutcome } from "./flow-outcome.ts";
import type { FlowToolName } from "./flow-tool.ts";
import type { GateParts } from "./run-gated.ts";
import { watchFlow } from "./watch-flow.ts";

const WATCH_SECONDS = 20;

/** Progress of a watched flow. */
export interface FlowProgress {
  readonly type: "flow_progress";
  readonly callId: string;
  readonly toolName: FlowToolName;
  readonly flowId: string;
  readonly status: string;
  /** The step it is at. */
  readonly step: string | null;
}

/** What the flow tools reach for. */
export interface FlowToolParts extends Omit<GateParts, "principal"> {
  readonly client: SvcClient;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly emit: (event: FlowProgress) => void;
}

/** Waits for the flow to end or to need the user, and shows how it stands then. What was done before stays a success. */
export async function followFlow(
  parts: FlowToolParts,
  call: FlowCall,
  tool: FlowToolName,
  from: { readonly seconds: number | undefined } & ({ readonly view: FlowView } | { readonly id: string }),
): Promise<FlowOutcome> {
  const id = "view" in from ? from.view.flow.id : from.id;
  let view = "view" in from ? from.view : undefined;
  const { now, sleep } = parts;
  const options = { signal: call.signal, forMs: (from.seconds ?? WATCH_SECONDS) * 1_000, now, sleep };
  const notes: string[] = [];
  try {
    for await (const next of watchFlow(parts.client, id, options)) {
      view = next;
      const { status, currentStep } = next.flow;
      const { callId } = call;
      const step = currentStep ?? null;
      parts.emit({ type: "flow_progress", callId, toolName: tool, flowId: id, status, step });
    }
  } catch (error) {
    throwIfAborted(call.signal);
    if (view === undefined || !isSvcError(error)) throw error;
    notes.push(NOT_WATCHED);
  }
  if (view === undefined) throw new TypeError("A watched flow always has a first view.");
  return describeFlow(tool, view, notes);
}

/** The call's signal as the client takes it. */
export function toOptions({ signal }: FlowCall): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}
