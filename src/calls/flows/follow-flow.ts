import type { SvcClient } from "../../client/client.ts";
import { startStopwatch } from "../../client/retry.ts";
import type { CallOptions } from "../../client/transport.ts";
import { isSvcError } from "../../errors.ts";
import type { FlowView } from "../../wire/flow.ts";
import { throwIfAborted } from "../ask/abort.ts";
import { createOutcome, type ToolOutcome } from "../outcome.ts";
import type { Pipeline } from "../pipeline.ts";
import type { StaticCall } from "../static-tool-parts.ts";
import type { FlowToolName } from "../static-tools.ts";
import { NOT_WATCHED } from "../steps/own-call.ts";
import { findWaitingApproval, isAtRest, showFlow } from "./read-flow.ts";

const WATCH_SECONDS = 20;

/** What the flow tools work with. */
type FlowParts = Pick<Pipeline, "client" | "emit" | "now" | "sleep">;

/**
 * Waits for the flow to end or to need the user, and shows how it stands then. Throws SvcError when it cannot be read
 * at all.
 */
export async function followFlow(
  { client, emit, now, sleep }: FlowParts,
  { callId, signal }: StaticCall,
  toolName: FlowToolName,
  { id: flowId, seconds = WATCH_SECONDS }: { readonly id: string; readonly seconds: number | undefined },
): Promise<ToolOutcome> {
  let view: FlowView | undefined;
  const notes: string[] = [];
  try {
    for await (const next of watchFlow(client, flowId, { signal, forMs: seconds * 1_000, now, sleep })) {
      view = next;
      const { status, currentStep } = next.flow;
      emit({ type: "flow_progress", callId, toolName, flowId, status, step: currentStep ?? null });
    }
  } catch (error) {
    throwIfAborted(signal);
    if (view === undefined || !isSvcError(error)) throw error;
    notes.push(NOT_WATCHED);
  }
  if (view === undefined) throw new TypeError("A watched flow always has a first view.");
  return describeFlow(toolName, view, notes);
}

/** The outcome for a flow as it stands, and what comes next. */
export function describeFlow(tool: FlowToolName, view: FlowView, notes: readonly string[] = []): ToolOutcome {
  return createOutcome("succeeded", tool, { result: showFlow(view), hint: adviseNext(view) }, notes);
}

/** What comes next for a flow as it stands; undefined when it is over. */
export function adviseNext(view: FlowView): string | undefined {
  if (findWaitingApproval(view) !== undefined) {
    return "The flow waits for the user: tell them what it is about to do and call svc_approve_flow, which asks them.";
  }
  if (view.flow.status === "failed") return "Tell the user what failed; svc_resume_flow tries again from there.";
  const isOver = view.flow.status === "completed" || view.flow.status === "cancelled";
  return isOver ? undefined : "The flow goes on by itself; look again with svc_get_flow.";
}

/** The call's signal as the client takes it. */
export function toOptions({ signal }: StaticCall): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 3_000;

/** How long and how a flow is watched. */
interface WatchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds to watch at most; default without limit. */
  readonly forMs?: number | undefined;
  readonly now?: (() => number) | undefined;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * Polls a flow and yields its view whenever something about it changed, the first one at once. Ends when the flow has
 * ended, waits for a human, or the time is over. Waits grow from a quarter of a second to three seconds while nothing
 * changes.
 */
export async function* watchFlow(client: SvcClient, id: string, options: WatchOptions): AsyncGenerator<FlowView> {
  const { signal, forMs = Number.POSITIVE_INFINITY, now = Date.now, sleep } = options;
  const call: CallOptions = signal === undefined ? {} : { signal };
  const elapsed = startStopwatch(now);
  let before = "";
  let wait = FIRST_WAIT_MS;
  for (;;) {
    const view = await client.getFlow(id, call);
    const after = describeProgress(view);
    wait = after === before ? Math.min(MAX_WAIT_MS, wait * 1.5) : FIRST_WAIT_MS;
    if (after !== before) yield view;
    before = after;
    if (isAtRest(view)) return;
    const left = forMs - elapsed();
    if (left <= 0) return;
    await sleep(Math.min(wait, left), signal);
  }
}

function describeProgress({ flow, steps }: FlowView): string {
  const states = steps.map(({ stepKey, status, attemptCount, output }) => [stepKey, status, attemptCount, output]);
  return JSON.stringify([flow.status, flow.currentStep, states]);
}
