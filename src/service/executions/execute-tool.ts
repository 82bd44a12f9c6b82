import { STATE_CHANGED } from "../../apps/port/preview.ts";
import type { RaisedLevel } from "../../shared/wire/call-level.ts";
import { MAX_DELAY_SECONDS } from "../../shared/wire/constants.ts";
import { MAX_PREVIEW_MS, type Preview } from "../../shared/wire/preview.ts";
import type { Access, AccessView } from "../access/access-view.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { type CatalogEntry, needsConfirmation } from "../catalog/catalog-entry.ts";
import type { Connections } from "../connections/connection.ts";
import { ServiceError } from "../service-error.ts";
import { traceNothing } from "../telemetry/telemetry.ts";
import { applyRulesAgain, beginCall, type OnKnown } from "./begin-call.ts";
import type { Delays } from "./delays.ts";
import type { ExecutionLog } from "./execution-log.ts";
import { isCovered, judgeCall } from "./judge-call.ts";
import type { ExecutionOutcome } from "./outcome.ts";
import { findPermission } from "./permission.ts";
import { previewCall } from "./preview-call.ts";
import { type PreparedCall, type RunParts, runAction } from "./run-action.ts";
import { createSignInChecks, type SignInChecks } from "./sign-in-checks.ts";
import { mayTell, noPreview, refuseUnconfirmed, tellRefusal } from "./tell-preview.ts";
import type { Hold, LookedCall, ToolCall } from "./tool-call.ts";
import type { UndoRecords } from "./undo/undo-records.ts";
import type { OnStart } from "./write-records.ts";

/** A call that is only checked. */
type CheckedCall = Omit<ToolCall, "confirmed" | "findHold" | "keepFile" | "describeFiles"> &
  Partial<Pick<ToolCall, "describeFiles">>;

/** A call that may start, with what belongs to the transaction of its start. */
type ReadyCall = PreparedCall & { readonly onStart: OnStart | undefined };

/** Parts that {@link createExecutor} needs. */
export interface ExecutorParts extends RunParts {
  readonly access: Access;
  /** All of them, to check sign-ins; a caller may use those that `access` shows. */
  readonly connections: Connections;
  readonly catalog: Catalog;
  readonly log: ExecutionLog;
  /** Keeps what writes need to be settled and undone. Default: nobody does. */
  readonly undo?: Pick<UndoRecords, "open"> | undefined;
  /** Default: every call acts at once. */
  readonly delays?: Pick<Delays, "wait"> | undefined;
  /** Told about failures that are not ServiceErrors. */
  readonly onUnexpected: (error: unknown) => void;
}

/** Runs tools for every endpoint. */
export type Executor = ReturnType<typeof createExecutor>;

/** By the conventions of OpenTelemetry for agents. */
const EXECUTION = {
  name: "execute_tool",
  kind: "internal",
  attributes: { "gen_ai.operation.name": "execute_tool" },
} as const;

/** The name of a tool that does not exist is a text of the caller: it is left out. */
function describeOutcome({ entry, status, error }: ExecutionOutcome) {
  const attributes = {
    "svc.outcome": status,
    ...(entry === undefined ? {} : { "gen_ai.tool.name": entry.toolName, "svc.app": entry.integration.slug }),
    ...(error === undefined ? {} : { "error.type": error.code }),
  };
  return { isError: status !== "succeeded", attributes };
}

/** Creates the executor. */
export function createExecutor(parts: ExecutorParts) {
  const running = new Set<Promise<unknown>>();
  const signIns = createSignInChecks(parts);
  return {
    /** Never throws: refusals and failures are outcomes. */
    execute(call: ToolCall): Promise<ExecutionOutcome> {
      const trace = parts.trace ?? traceNothing;
      const outcome = trace(EXECUTION, () => execute(parts, call, signIns), describeOutcome);
      running.add(outcome);
      return outcome.finally(() => running.delete(outcome));
    },
    /**
     * The call with the checks of a confirmed one behind it, as it would run; with `describeFiles` also as whoever decides about
     * it is shown it.
     *
     * @throws ServiceError the refusal that it would be answered with.
     */
    async check(call: CheckedCall): Promise<PreparedCall> {
      const view = await parts.access.view(call.principal);
      const found = view.catalog.find(call.toolName);
      const { describeFiles = describeNoFiles } = call;
      const asked = { ...call, describeFiles, confirmed: true, findHold: undefined };
      const prepared = await prepare(parts, asked, { view, found }, () => {});
      if (call.describeFiles === undefined) return prepared;
      return { ...prepared, looked: await previewCall(parts, { ...asked, ...prepared, args: Object(call.arguments) }) };
    },
    /**
     * What a call would do, by reads alone, and what that is beyond the level of its tool.
     *
     * @throws ServiceError the refusal that it would be answered with before anybody is asked; 404 `preview_unavailable`.
     */
    async preview(call: LookedCall): Promise<{ readonly preview: Preview; readonly raised: RaisedLevel | undefined }> {
      const view = await parts.access.view(call.principal);
      const begun = await beginCall(call, { view, found: view.catalog.find(call.toolName) }, () => {});
      await parts.log.checkUsage(call.principal.accountId);
      if (!(await mayTell(parts, call.principal, begun.ruled))) throw noPreview(begun.ruled);
      const { preview, failure } = await previewCall(parts, { ...call, ...begun, entry: begun.ruled });
      if (preview !== undefined) {
        const limited = { ...parts, providerTimeoutMs: Math.min(MAX_PREVIEW_MS, parts.providerTimeoutMs) };
        const judged = await judgeCall(limited, { ...begun, entry: begun.ruled, clientGone: call.clientGone });
        return { preview, raised: judged.entry.raised };
      }
      throw failure === undefined ? noPreview(begun.ruled) : toServiceError(failure, parts);
    },
    /** How many calls run now. */
    running: () => running.size,
    /** Resolves when nothing runs any more. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

async function execute(parts: ExecutorParts, call: ToolCall, signIns: SignInChecks): Promise<ExecutionOutcome> {
  const at = () => new Date(parts.now()).toISOString();
  const askedAt = at();
  let base: { toolName: string; entry: CatalogEntry | undefined } = { toolName: call.toolName, entry: undefined };
  let connectionId = call.connectionId ?? null;
  let prepared: ReadyCall;
  let started: { id: string; startedAt: string };
  let delayMs: number;
  try {
    const view = await parts.access.view(call.principal);
    base = { ...base, entry: view.catalog.find(call.toolName) };
    prepared = await prepare(parts, call, { view, found: base.entry }, (known) => {
      connectionId = known.connectionId;
      base = { ...base, entry: known.entry };
    });
    if (call.clientGone.aborted) throw new ServiceError(503, "client_gone", "The caller went away before this ran.");
    const { connection, args } = prepared;
    const { principal } = call;
    const permission = findPermission(prepared.entry, call.permission);
    const row = { principal, entry: prepared.entry, connectionId: connection.id, arguments: args, permission };
    delayMs = findDelay(parts, call, prepared);
    const waitsUntil = delayMs > 0 ? new Date(parts.now() + delayMs).toISOString() : undefined;
    started = await parts.log.start({ ...row, waitsUntil }, prepared.onStart);
  } catch (thrown) {
    const error = toServiceError(thrown, parts);
    return { ...base, connectionId, status: "blocked", executionId: null, startedAt: askedAt, finishedAt: at(), error };
  }
  const ran = { ...base, connectionId: prepared.connection.id, executionId: started.id, startedAt: started.startedAt };
  const keeping = parts.undo?.open(started.id, prepared);
  let isBegun = false;
  try {
    const { keepFile, clientGone } = call;
    if (delayMs > 0) await letStop(parts, call, { id: started.id, ms: delayMs, prepared });
    isBegun = true;
    const output = await runAction(parts, { ...prepared, ...keeping, keepFile, clientGone });
    const undoableUntil = await keeping?.end();
    const finishedAt = await parts.log.succeed(started.id, output.json);
    await signIns.succeeded(prepared);
    return { ...ran, status: "succeeded", finishedAt, output: output.value, undoableUntil };
  } catch (thrown) {
    const refused = toServiceError(thrown, parts);
    const error = isBegun ? await signIns.judge(refused, prepared) : refused;
    const finishedAt = await parts.log.fail(started.id, error);
    const found = await keeping?.fail(error);
    if (found !== undefined) return { ...ran, status: "succeeded", ...found };
    if (error.code === STATE_CHANGED) {
      const stale = await refuseStale(parts, call, prepared);
      return { ...ran, executionId: null, status: "blocked", finishedAt, error: stale, isStale: true };
    }
    return { ...ran, status: "failed", finishedAt, error };
  }
}

/** Milliseconds in which a human can still stop a call, from the yes on. */
function findDelay(parts: ExecutorParts, { agreedAt }: ToolCall, { entry, connection }: PreparedCall): number {
  if (parts.delays === undefined) return 0;
  const seconds = entry.action.delay?.(connection.settings) ?? 0;
  const since = agreedAt === undefined ? 0 : Math.max(0, parts.now() - Date.parse(agreedAt));
  return Math.max(0, Math.min(seconds, MAX_DELAY_SECONDS) * 1000 - since);
}

/** Waits until a call may act, and checks then what may have changed by that time. Throws ServiceError: nothing was done. */
async function letStop(
  parts: ExecutorParts,
  call: ToolCall,
  { id, ms, prepared }: { readonly id: string; readonly ms: number; readonly prepared: PreparedCall },
): Promise<void> {
  await parts.delays?.wait({ id, callerId: call.principal.apiKeyId, ms, clientGone: call.clientGone });
  const view = await parts.access.view(call.principal);
  const named = { ...call, connectionId: prepared.connection.id };
  await beginCall(named, { view, found: view.catalog.find(call.toolName) }, () => {});
}

/** Every check before the provider, in the order of the document: nobody is asked to approve an invalid call. */
async function prepare(
  parts: ExecutorParts,
  call: Omit<ToolCall, "keepFile">,
  { view, found }: { view: AccessView; found: CatalogEntry | undefined },
  onKnown: OnKnown,
): Promise<ReadyCall> {
  const { connection, ruled, known, args } = await beginCall(call, { view, found }, onKnown);
  await parts.log.checkUsage(call.principal.accountId);
  const { clientGone, previewState: expectedState } = call;
  const judged = await judgeCall(parts, { entry: ruled, connection, args, clientGone });
  const entry =
    judged.entry.raised === undefined ? ruled : applyRulesAgain(view, call, { ...known, entry: judged.entry });
  onKnown({ ...known, entry });
  const mustAsk = needsConfirmation(entry);
  const isAllowed = !mustAsk && entry.action.requiresConfirmation;
  const hold = mustAsk || isAllowed ? call.findHold?.(view.approvals) : undefined;
  const isConfirmed = call.confirmed && isCovered(entry, call.confirmedLevel);
  const isAsked = mustAsk && (hold !== undefined || !isConfirmed);
  const looked = isAsked ? await previewCall(parts, { ...call, entry, connection, args }) : undefined;
  const tell = (refusal: ServiceError) => tellRefusal(parts, { principal: call.principal, entry }, refusal);
  if (mustAsk && hold === undefined && !isConfirmed) throw await tell(refuseUnconfirmed(entry, looked));
  const isSure = mustAsk && (hold !== undefined || call.confirmedLevel === undefined);
  if (judged.failure !== undefined && !isSure) throw judged.failure;
  const resolved = await call.resolveFiles(entry, args, call.clientGone);
  const prepared = { entry, connection, ...resolved, looked, expectedState };
  if (hold !== undefined && mustAsk) throw await tell(await hold.keep(prepared));
  return { ...prepared, onStart: hold === undefined ? call.onStart : releaseFirst(hold, prepared, call.onStart) };
}

function releaseFirst(hold: Hold, prepared: PreparedCall, onStart: OnStart | undefined): OnStart {
  return async (transaction, executionId) => {
    await hold.release(transaction, prepared, executionId);
    await onStart?.(transaction, executionId);
  };
}

/** The answer to a call that was not run because its preview was no longer true: as it is now. */
async function refuseStale(
  parts: ExecutorParts,
  call: ToolCall,
  { entry, connection }: ReadyCall,
): Promise<ServiceError> {
  try {
    const looked = await previewCall(parts, { ...call, entry, connection, args: Object(call.arguments) });
    const refusal = refuseUnconfirmed(entry, looked, STATE_CHANGED);
    return await tellRefusal(parts, { principal: call.principal, entry }, refusal);
  } catch (thrown) {
    return toServiceError(thrown, parts);
  }
}

/** Of a call that nobody is asked about. */
function describeNoFiles(): never {
  throw new TypeError("A call that is only checked is not looked at.");
}

function toServiceError(thrown: unknown, parts: ExecutorParts): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  parts.onUnexpected(thrown);
  return new ServiceError(500, "unexpected_error", "Something unexpected went wrong in the service.", {
    type: "unknown",
    hint: "If this was a write, check with a read whether it took effect before you send it again.",
    cause: thrown,
  });
}
