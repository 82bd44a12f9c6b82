import { cloneJson } from "../../base/json.ts";
import type { Access, AccessView } from "../access/access-view.ts";
import { describeRule, findRule, type RuledCall } from "../access/rules.ts";
import type { Principal } from "../auth/api-keys.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { appStopped, toolNotFound } from "../catalog/not-found.ts";
import { type CatalogEntry, needsConfirmation } from "../catalog/search-index.ts";
import type { Connection, Connections } from "../connections/connection.ts";
import { findDefaultConnection } from "../connections/connections.ts";
import type { ActionContext } from "../integrations/integration.ts";
import { ServiceError } from "../service-error.ts";
import { traceNothing } from "../telemetry/telemetry.ts";
import type { ExecutionLog } from "./execution-log.ts";
import type { ExecutionOutcome } from "./outcome.ts";
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

/** Keeps a call that passed every check until the owner has decided, and gives the refusal to answer it with. */
export type Hold = (call: PreparedCall) => Promise<ServiceError>;

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
  let prepared: PreparedCall;
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
    const row = { principal: call.principal, entry: prepared.entry, connectionId: connection.id, arguments: args };
    started = await parts.log.start(row, call.onStart);
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
  call: ToolCall,
  { view, found }: { view: AccessView; found: CatalogEntry | undefined },
  onKnown: (known: Omit<RuledCall, "subject"> & { readonly connectionId: string }) => void,
): Promise<PreparedCall> {
  if (found === undefined) throw refuseUnknown(view.catalog, call.toolName);
  const kept = chooseConnection(found, await view.connections.list(found.integration.slug), call.connectionId);
  // The app gets settings of its own: other calls use the same connection.
  const connection = { ...kept, settings: cloneJson(kept.settings) as Connection["settings"] };
  const known = { entry: found, connectionId: connection.id };
  onKnown(known);
  const entry = applyRules(view, call, known);
  onKnown({ ...known, entry });
  checkConnection(entry, connection);
  const args = checkArguments(entry, call.arguments);
  await parts.log.checkUsage(call.principal.accountId);
  const mustAsk = needsConfirmation(entry);
  const hold = mustAsk ? call.findHold?.(view.approvals) : undefined;
  if (mustAsk && hold === undefined && !call.confirmed) {
    const why = entry.ruled === "ask" ? ": its owner wants to be asked" : "";
    throw new ServiceError(
      412,
      "confirmation_required",
      `"${entry.action.title}" needs the approval of a human${why}.`,
      {
        type: "confirmation",
        hint: "Show the human the tool and its final arguments; after approval send the same call with `confirmed` true.",
      },
    );
  }
  const prepared = { entry, connection, ...(await call.resolveFiles(entry, args, call.clientGone)) };
  if (hold !== undefined) throw await hold(prepared);
  return prepared;
}

/** The tool as the owner's rules have it for this call; throws ServiceError 403 `blocked_by_rule`. */
function applyRules({ rules }: AccessView, { principal }: ToolCall, call: Omit<RuledCall, "subject">): CatalogEntry {
  const { entry } = call;
  const rule = findRule(rules, { ...call, subject: principal.apiKeyId });
  if (rule === undefined) return entry;
  if (rule.effect !== "block") return { ...entry, ruled: rule.effect };
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

/**
 * Picks the connection of a call: the named one, else the only one, else the default.
 *
 * @throws ServiceError 409 `needs_connection`, `ambiguous_connection` or `unknown_connection`; the last two list ids and labels.
 */
function chooseConnection(
  entry: CatalogEntry,
  connections: readonly Connection[],
  wanted: string | undefined,
): Connection {
  const { name } = entry.integration;
  if (connections.length === 0) {
    throw new ServiceError(409, "needs_connection", `${name} is not connected.`, {
      type: "auth",
      hint: `Connect ${name} first, then send the same call again.`,
    });
  }
  const named = wanted === undefined ? undefined : connections.find((connection) => connection.id === wanted);
  const chosen = wanted === undefined ? findDefaultConnection(connections) : named;
  if (chosen !== undefined) return chosen;
  const listing = {
    type: "validation",
    details: connections.map(({ id, label }) => `${id}: ${label}`),
    hint: "Ask which account to use and send its id as `connectionId`.",
    extra: { connections: connections.map(({ id, label, isDefault, state }) => ({ id, label, isDefault, state })) },
  };
  if (wanted !== undefined) {
    throw new ServiceError(409, "unknown_connection", `${name} has no connection with the id "${wanted}".`, listing);
  }
  const message = `${name} has ${connections.length} connections and none is the default.`;
  throw new ServiceError(409, "ambiguous_connection", message, listing);
}

/**
 * Refuses a connection that cannot carry the call.
 *
 * @throws ServiceError 401 `needs_reauth`, 403 `needs_scope_upgrade` with the missing scopes as `details`, 422 `integration_misconfigured`.
 */
export function checkConnection(entry: CatalogEntry, connection: Connection): void {
  const { name } = entry.integration;
  if (connection.state === "reauth_required") {
    throw new ServiceError(401, "needs_reauth", `"${connection.label}" (${name}) must be signed in to again.`, {
      type: "auth",
      hint: `Reconnect ${name}, then send the same call again.`,
    });
  }
  const missing = entry.action.scopes.filter((scope) => !connection.scopes.includes(scope));
  if (missing.length > 0) {
    const message = `"${connection.label}" (${name}) has not granted: ${missing.join(", ")}.`;
    throw new ServiceError(403, "needs_scope_upgrade", message, {
      type: "missing_scopes",
      details: missing,
      hint: `Reconnect ${name} and grant the missing permissions.`,
      extra: { missingScopes: missing },
    });
  }
  if (connection.hasLostSecrets) throw refuseLostSecrets(connection.label, name);
  if (connection.state === "error") {
    throw new ServiceError(
      422,
      "integration_misconfigured",
      `"${connection.label}" (${name}) does not work at the moment.`,
      {
        type: "configuration",
        hint: "It may only be down: try again in a minute. If it stays so, its owner has to look at the settings of this connection.",
      },
    );
  }
}

function refuseLostSecrets(label: string, name: string): ServiceError {
  const why = "the key that its password or token was encrypted with is lost";
  return new ServiceError(422, "integration_misconfigured", `"${label}" (${name}) cannot be used: ${why}.`, {
    type: "configuration",
    hint: `Trying again does not help. The owner of the service has to restore its key file from a backup, or connect ${name} again.`,
  });
}
