import { cloneJson } from "../../base/json.ts";
import type { SideEffectLevel } from "../../wire/catalog.ts";
import type { Access, AccessView } from "../access/access-view.ts";
import { describeRule, findRule, type RuledCall } from "../access/rules.ts";
import type { Principal } from "../auth/api-keys.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { type CatalogEntry, needsConfirmation } from "../catalog/catalog-entry.ts";
import { appStopped, toolNotFound } from "../catalog/not-found.ts";
import type { Connection, Connections } from "../connections/connection.ts";
import type { ActionContext } from "../integrations/integration.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import { traceNothing } from "../telemetry/telemetry.ts";
import { checkConnection, chooseConnection } from "./choose-connection.ts";
import type { ExecutionLog } from "./execution-log.ts";
import { checkLevel, isCovered, judgeCall } from "./judge-call.ts";
import type { ExecutionOutcome } from "./outcome.ts";
import { findPermission, type Permission } from "./permission.ts";
import { checkArguments } from "./read-requests.ts";
import { type PreparedCall, type ResolvedFiles, type RunParts, runAction } from "./run-action.ts";
import { createSignInChecks, type SignInChecks } from "./sign-in-checks.ts";
import type { OnStart } from "./write-records.ts";

/** One request to run a tool. */
export interface ToolCall {
  readonly principal: Principal;
  readonly toolName: string;
  /** As sent; must turn out to be an object. */
  readonly arguments: unknown;
  readonly connectionId?: string | undefined;
  /** True only when a human approved this very call. */
  readonly confirmed: boolean;
  /** The level that they were shown, or that a standing permission is for: a call that does more is not confirmed. Default: any. */
  readonly confirmedLevel?: SideEffectLevel | undefined;
  /** Whose confirmation that is. Default: of the human of the device or app that calls. */
  readonly permission?: Permission;
  /**
   * Finds who keeps the call for the owner, whatever `confirmed` says: asked for calls that need a confirmation, with who
   * approves them by the view of the caller. Undefined, or an undefined answer, where the confirmation of the caller counts.
   */
  readonly findHold: ((approvals: AccessView["approvals"]) => Hold | undefined) | undefined;
  /** Runs in the transaction that records the start; a ServiceError it throws blocks the call. */
  readonly onStart?: OnStart;
  readonly clientGone: AbortSignal;
  /** Turns valid arguments into resolved ones; throws ServiceError, e.g. 400 `missing_file_bytes`. */
  resolveFiles(entry: CatalogEntry, args: Record<string, unknown>, signal: AbortSignal): Promise<ResolvedFiles>;
  /** Keeps bytes that an action produced as a file of the caller's account. */
  keepFile: NonNullable<ActionContext["keepFile"]>;
}

/** What becomes of calls that only the owner may approve. */
export interface Hold {
  /** Keeps a call that passed every check until the owner has decided, and gives the refusal to answer it with. */
  keep(call: PreparedCall): Promise<ServiceError>;
  /**
   * Ends the wait of the same call, because a rule allows it by now: what starts is the one that waited. Belongs to the
   * transaction of the start; throws the refusal of {@link keep} for one that was approved meanwhile.
   */
  release(transaction: Store, call: PreparedCall, executionId: string): Promise<void>;
}

/** A call that may start, with what belongs to the transaction of its start. */
type ReadyCall = PreparedCall & { readonly onStart: OnStart | undefined };

/** Parts that {@link createExecutor} needs. */
export interface ExecutorParts extends RunParts {
  readonly access: Access;
  /** All of them, to check sign-ins; a caller may use those that `access` shows. */
  readonly connections: Connections;
  readonly catalog: Catalog;
  readonly log: ExecutionLog;
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
     * The call with the checks of a confirmed one behind it, as it would run.
     *
     * @throws ServiceError the refusal that it would be answered with.
     */
    async check(call: Omit<ToolCall, "confirmed" | "findHold" | "keepFile">): Promise<PreparedCall> {
      const view = await parts.access.view(call.principal);
      const asked = { ...call, confirmed: true, findHold: undefined };
      return prepare(parts, asked, { view, found: view.catalog.find(call.toolName) }, () => {});
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
    started = await parts.log.start(row, prepared.onStart);
  } catch (thrown) {
    const error = toServiceError(thrown, parts);
    return { ...base, connectionId, status: "blocked", executionId: null, startedAt: askedAt, finishedAt: at(), error };
  }
  const ran = { ...base, connectionId: prepared.connection.id, executionId: started.id, startedAt: started.startedAt };
  try {
    const output = await runAction(parts, { ...prepared, keepFile: call.keepFile, clientGone: call.clientGone });
    const finishedAt = await parts.log.succeed(started.id, output.json);
    await signIns.succeeded(prepared);
    return { ...ran, status: "succeeded", finishedAt, output: output.value };
  } catch (thrown) {
    const error = await signIns.judge(toServiceError(thrown, parts), prepared);
    const finishedAt = await parts.log.fail(started.id, error);
    return { ...ran, status: "failed", finishedAt, error };
  }
}

/** Every check before the provider, in the order of the document: nobody is asked to approve an invalid call. */
async function prepare(
  parts: ExecutorParts,
  call: Omit<ToolCall, "keepFile">,
  { view, found }: { view: AccessView; found: CatalogEntry | undefined },
  onKnown: (known: Omit<RuledCall, "subject"> & { readonly connectionId: string }) => void,
): Promise<ReadyCall> {
  if (found === undefined) throw refuseUnknown(view.catalog, call.toolName);
  const kept = chooseConnection(found, await view.connections.list(found.integration.slug), call.connectionId);
  // The app gets settings of its own: other calls use the same connection.
  const connection = { ...kept, settings: cloneJson(kept.settings) as Connection["settings"] };
  const known = { entry: found, connectionId: connection.id };
  onKnown(known);
  const ruled = applyRules(view, call, known);
  onKnown({ ...known, entry: ruled });
  checkConnection(ruled, connection);
  const args = checkArguments(ruled, call.arguments);
  await parts.log.checkUsage(call.principal.accountId);
  const { clientGone } = call;
  const judged = await judgeCall(parts, { entry: ruled, connection, args, clientGone });
  const entry =
    judged.entry.raised === undefined ? ruled : applyRulesAgain(view, call, { ...known, entry: judged.entry });
  onKnown({ ...known, entry });
  const mustAsk = needsConfirmation(entry);
  const isAllowed = !mustAsk && entry.action.requiresConfirmation;
  const hold = mustAsk || isAllowed ? call.findHold?.(view.approvals) : undefined;
  const isConfirmed = call.confirmed && isCovered(entry, call.confirmedLevel);
  if (mustAsk && hold === undefined && !isConfirmed) throw refuseUnconfirmed(entry);
  const isSure = mustAsk && (hold !== undefined || call.confirmedLevel === undefined);
  if (judged.failure !== undefined && !isSure) throw judged.failure;
  const prepared = { entry, connection, ...(await call.resolveFiles(entry, args, call.clientGone)) };
  if (hold !== undefined && mustAsk) throw await hold.keep(prepared);
  return { ...prepared, onStart: hold === undefined ? call.onStart : releaseFirst(hold, prepared, call.onStart) };
}

function releaseFirst(hold: Hold, prepared: PreparedCall, onStart: OnStart | undefined): OnStart {
  return async (transaction, executionId) => {
    await hold.release(transaction, prepared, executionId);
    await onStart?.(transaction, executionId);
  };
}

/** The same for a call that does more than its action says: what allows the action does not allow it. */
function applyRulesAgain(
  view: AccessView,
  call: Pick<ToolCall, "principal">,
  known: Omit<RuledCall, "subject">,
): CatalogEntry {
  const { ruled, ...plain } = known.entry;
  checkLevel(view, plain);
  const entry = applyRules(view, call, { ...known, entry: plain });
  return ruled === "ask" ? { ...entry, ruled } : entry;
}

function refuseUnconfirmed({ action, ruled, raised }: CatalogEntry): ServiceError {
  const why = ruled === "ask" ? ": its owner wants to be asked" : raised === undefined ? "" : `: it ${raised.says}`;
  return new ServiceError(412, "confirmation_required", `"${action.title}" needs the approval of a human${why}.`, {
    type: "confirmation",
    hint: "Show the human the tool and its final arguments; after approval send the same call with `confirmed` true.",
    ...(raised !== undefined && { extra: { call_level: raised } }),
  });
}

/** The tool as the owner's rules have it for this call; throws ServiceError 403 `blocked_by_rule`. */
function applyRules(
  { rules }: AccessView,
  { principal }: Pick<ToolCall, "principal">,
  call: Omit<RuledCall, "subject">,
): CatalogEntry {
  const { entry } = call;
  const rule = findRule(rules, { ...call, subject: principal.apiKeyId });
  if (rule === undefined) return entry;
  if (rule.effect !== "block") return { ...entry, ruled: rule.effect, rule: { id: rule.id, text: describeRule(rule) } };
  throw new ServiceError(403, "blocked_by_rule", `The owner of this service does not allow "${entry.action.title}".`, {
    type: "policy",
    details: [describeRule(rule)],
    hint: "Do not try it in another way. Only the owner can change this rule: tell the user.",
  });
}

function refuseUnknown(catalog: Catalog, toolName: string): ServiceError {
  const stopped = catalog.integrations.find((app) => app.stopped !== undefined && toolName.startsWith(`${app.slug}_`));
  return stopped === undefined ? toolNotFound(catalog, toolName) : appStopped(stopped);
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
