import { STATE_CHANGED } from "../../apps/port/preview.ts";
import { parseExactly } from "../../shared/base/exact-number.ts";
import type { Principal } from "../auth/api-keys.ts";
import { restoreError } from "../executions/outcome.ts";
import { createFileAccess } from "../executions/resolve-files.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { FlowParts } from "./flow-rows.ts";
import type { PlannedCall } from "./flow-template.ts";
import { findRunState } from "./run-state.ts";
import type { ShownLook } from "./shown-previews.ts";

/** One call of a step. */
export interface StepCall {
  readonly flowId: string;
  readonly stepKey: string;
  /** Counts from 1; a replay after a crash belongs to the attempt it continues. */
  readonly attempt: number;
  readonly toolName: string;
  readonly connectionId: string | undefined;
  readonly principal: Principal;
  /** True when a human approved this flow's calls. */
  readonly isApproved: boolean;
  /** What that human was shown of what it acts on: it runs on no other state. Default: any. */
  readonly shown?: ShownLook | undefined;
  readonly call: PlannedCall;
}

/** How a call ended. */
export type CallResult =
  | { readonly ok: true; readonly output: unknown; readonly executionId: string | null }
  | { readonly ok: false; readonly error: ServiceError; readonly executionId: string | null };

const UNKNOWN = "outcome_unknown";
const CALL_TAKEN = "flow_call_taken";

/**
 * Makes a call through the executor, a write at most once in each attempt: its key is bound to its execution before the
 * provider acts. What an earlier attempt or a process that died has done already is not done again.
 */
export async function callOnce(parts: FlowParts, o: StepCall): Promise<CallResult> {
  const action = parts.catalog.find(o.toolName)?.action;
  if (action === undefined || action.level === "read" || action.idempotent) return executeNoted(parts, o);
  const tries = await findTries(parts.store, o);
  const done = tries.find((one) => one.status === "succeeded");
  if (done !== undefined) return { ok: true, output: parseExactly(done.output ?? "null"), executionId: done.id };
  if (tries.length > 0) {
    const found = await lookForEffect(parts, o);
    if (!found.ok || found.output !== undefined) return found;
  }
  const own = tries.find((one) => one.key === toCallKey(o, o.attempt));
  if (own !== undefined) return { ok: false, error: explainTry(own, o), executionId: own.id };
  return execute(parts, o, (db, executionId) => takeKey(db, o, executionId));
}

/** Notes the execution of a call that may be repeated, for people. */
async function executeNoted(parts: FlowParts, o: StepCall): Promise<CallResult> {
  const result = await execute(parts, o);
  if (result.executionId === null) return result;
  const row = { key: toCallKey(o, o.attempt), flow_id: o.flowId, execution_id: result.executionId };
  const insert = parts.store.insertInto("flow_calls").values(row);
  await insert.onConflict((c) => c.column("key").doUpdateSet({ execution_id: row.execution_id })).execute();
  return result;
}

function findTries(store: Store, o: StepCall) {
  const keys = Array.from({ length: o.attempt }, (_, index) => toCallKey(o, index + 1));
  return store
    .selectFrom("flow_calls")
    .innerJoin("executions", "executions.id", "flow_calls.execution_id")
    .select(["flow_calls.key", "executions.id", "executions.status", "executions.output", "executions.error"])
    .where("flow_calls.key", "in", keys)
    .execute();
}

function toCallKey({ flowId, stepKey, call }: StepCall, attempt: number): string {
  return `${flowId}:${stepKey}:${attempt}:${call.key}`;
}

async function takeKey(db: Store, o: StepCall, executionId: string): Promise<void> {
  const taken = await db
    .insertInto("flow_calls")
    .values({ key: toCallKey(o, o.attempt), flow_id: o.flowId, execution_id: executionId })
    .onConflict((c) => c.doNothing())
    .returning("key")
    .executeTakeFirst();
  if (taken === undefined) throw new ServiceError(409, CALL_TAKEN, "Another process is making this call.");
}

async function execute(
  parts: FlowParts,
  o: StepCall,
  onStart?: (db: Store, executionId: string) => Promise<void>,
): Promise<CallResult> {
  const { toolName, connectionId, principal } = o;
  const confirmedLevel = o.call.level ?? parts.catalog.find(toolName)?.action.level;
  const outcome = await parts.executor.execute({
    principal,
    toolName,
    connectionId,
    arguments: o.call.arguments,
    confirmed: o.isApproved,
    confirmedLevel,
    previewState: await findRunState(parts, { ...o, level: confirmedLevel }),
    permission: { by: "flow", flow: o.flowId },
    // The owner approves the flow, not each of its calls.
    findHold: undefined,
    ...(onStart && { onStart }),
    // Nobody waits at the other end; a flow is stopped between its calls.
    clientGone: new AbortController().signal,
    ...createFileAccess(parts.files, { account: principal.accountId, toolName }),
  });
  if (outcome.status === "blocked" && outcome.isStale)
    return { ok: false, error: stateChanged(o), executionId: outcome.executionId };
  if (o.isApproved && outcome.error?.code === "confirmation_required")
    return { ok: false, error: doesMore(o, outcome.error), executionId: outcome.executionId };
  if (outcome.error === undefined) return { ok: true, output: outcome.output, executionId: outcome.executionId };
  const isTaken = outcome.error.code === CALL_TAKEN;
  return { ok: false, error: isTaken ? outcomeUnknown(o) : outcome.error, executionId: outcome.executionId };
}

/** Asks the app whether an earlier try took effect; the output is undefined when it did not, or nobody can tell. */
async function lookForEffect(parts: FlowParts, o: StepCall): Promise<CallResult> {
  const { find } = o.call;
  const nothing = { ok: true, output: undefined, executionId: null } as const;
  if (find === undefined) return nothing;
  const call = { ...o.call, arguments: find.arguments };
  const looked = await execute(parts, { ...o, toolName: find.toolName, call, isApproved: false, shown: undefined });
  if (looked.ok) return { ...looked, output: find.pick(looked.output) };
  return looked.error.status === 404 && looked.error.code === "not_found" ? nothing : looked;
}

function explainTry({ status, error }: { status: string; error: string | null }, o: StepCall): ServiceError {
  const known = status === "failed" ? restoreError(error) : undefined;
  return known === undefined || known.code === UNKNOWN ? outcomeUnknown(o) : known;
}

function doesMore({ call }: StepCall, { message }: ServiceError): ServiceError {
  return new ServiceError(409, "flow_call_changed", `${call.label} does more than was approved. ${message}`, {
    type: "policy",
    hint: "Nothing of it was done. Start the flow again: its approval shows what the call does now.",
  });
}

function stateChanged({ call }: StepCall): ServiceError {
  const message = `What ${call.label} acts on was changed after it was shown for the approval. Nothing of it was done.`;
  return new ServiceError(412, STATE_CHANGED, message, {
    type: "confirmation",
    hint: "Start the flow again: its approval shows the present state.",
  });
}

function outcomeUnknown({ call, toolName }: StepCall): ServiceError {
  const message = `The service stopped while ${toolName} was at work on ${call.label}. Whether it took effect is not known.`;
  const hint =
    call.find === undefined
      ? "Check whether it took effect. Resuming the flow makes the call again: resume only if it did not, else cancel."
      : "Resume the flow: it looks for the result first and makes the call again only when there is none.";
  return new ServiceError(500, UNKNOWN, message, { type: "unknown", hint });
}
