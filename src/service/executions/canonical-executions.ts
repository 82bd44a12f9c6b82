import { setTimeout as sleepFor } from "node:timers/promises";
import { createTurns } from "../../shared/base/concurrency.ts";
import type { Access, AccessView } from "../access/access-view.ts";
import type { Principal } from "../auth/api-keys.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { actionNotFound } from "../catalog/not-found.ts";
import { ServiceError } from "../service-error.ts";
import type { ExecutionRow } from "../store/schema.ts";
import type { Executor } from "./execute-tool.ts";
import type { ExecutionLog } from "./execution-log.ts";
import { hashInput, type IdempotencyKeys, KEY_TAKEN, type KeyUse } from "./idempotency-keys.ts";
import { blockedOutcome, type ExecutionOutcome, readExecution, type StoredExecution } from "./outcome.ts";
import type { CanonicalRequest } from "./read-requests.ts";
import { createFileAccess, type FileAccessParts } from "./resolve-files.ts";
import { phraseError } from "./summarise-outcome.ts";
import type { Hold, ToolCall } from "./tool-call.ts";
import type { UndoRecords } from "./undo/undo-records.ts";

interface CanonicalCall extends CanonicalRequest {
  readonly principal: Principal;
  /** True: the owner approves, also where the confirmation of the caller would count. */
  readonly isHeld?: boolean;
  readonly clientGone: AbortSignal;
}

/** "Execution (canonical)", for the HTTP endpoint and for every other way in that names actions the same way. */
export type CanonicalExecutions = ReturnType<typeof createCanonicalExecutions>;

interface CanonicalParts extends FileAccessParts {
  readonly access: Access;
  readonly executor: Executor;
  readonly log: ExecutionLog;
  readonly undo: Pick<UndoRecords, "findUntil">;
  readonly idempotencyKeys: IdempotencyKeys;
  /** Holds the calls of a caller for the owner, with the key that they use; see `Approvals.findHold`. */
  findHold(
    principal: Principal,
    approvals: AccessView["approvals"],
    request: { readonly shape: "summary"; readonly idempotency_key: string | null; readonly input_hash: string | null },
  ): Hold | undefined;
  readonly now: () => number;
  /** Milliseconds to wait for an equal request that another process runs. */
  readonly waitForTwinMs: number;
  readonly sleep?: (ms: number) => Promise<unknown>;
}

const POLL_EVERY_MS = 100;

/** Creates the canonical executions of a service. */
export function createCanonicalExecutions(parts: CanonicalParts) {
  const inTurn = createTurns();
  return {
    /**
     * Runs an action on the named connection, else on the default one. A call with an `idempotencyKey` runs once: equal
     * calls, at the same time or later, get the result of the first; a key with other input or another connection is
     * blocked. A blocked or invalid call leaves the key free.
     */
    async execute(call: CanonicalCall): Promise<StoredExecution> {
      const view = await parts.access.view(call.principal);
      const entry = view.catalog.findAction(call.integrationId, call.actionId);
      if (entry === undefined) {
        return block(parts, call, { entry, error: actionNotFound(view.catalog, call.integrationId, call.actionId) });
      }
      const { idempotencyKey: key, principal } = call;
      if (key === undefined) return phrase(await run(parts, { call, entry }));
      const named = call.connectionId === undefined ? [] : [call.connectionId];
      const inputHash = hashInput([entry.integration.slug, entry.action.id, call.input, ...named]);
      const use = { accountId: principal.accountId, key, inputHash };
      return inTurn(JSON.stringify([use.accountId, key]), async () =>
        phrase(await runOnce(parts, { call, entry, use, view })),
      );
    },

    /** A stored execution of the account, or of a limited key itself; undefined when there is none of that id. */
    async find(principal: Principal, executionId: string): Promise<StoredExecution | undefined> {
      const view = await parts.access.view(principal);
      const row = await parts.log.find(principal.accountId, executionId);
      if (row === undefined || !isShown(row, principal, view)) return undefined;
      return { ...phrase(readExecution(row, view.catalog)), undoableUntil: await parts.undo.findUntil(row) };
    },

    /** The finished or running execution of an `idempotency_key`, as `find` shows it. Runs nothing. */
    async findByKey(principal: Principal, key: string): Promise<StoredExecution | undefined> {
      const view = await parts.access.view(principal);
      const known = await parts.idempotencyKeys.find(principal.accountId, key);
      if (known === undefined) return undefined;
      const row = await parts.log.find(principal.accountId, known.executionId);
      if (row === undefined) return view.isLimited ? undefined : describeForgotten(known.executionId, at(parts));
      return isShown(row, principal, view) ? phrase(readExecution(row, view.catalog)) : undefined;
    },
  };
}

/** A limited key sees its own executions; those of others may be outside of its limits. */
function isShown({ api_key_id }: ExecutionRow, { apiKeyId }: Principal, { isLimited }: AccessView): boolean {
  return !isLimited || api_key_id === apiKeyId;
}

async function runOnce(
  parts: CanonicalParts,
  o: { call: CanonicalCall; entry: CatalogEntry; use: KeyUse; view: AccessView },
): Promise<StoredExecution> {
  const { call, entry, use, view } = o;
  const known = await parts.idempotencyKeys.find(use.accountId, use.key);
  if (known === undefined) {
    const outcome = await run(parts, { call, entry, use });
    // Another process can have started the same request since the key was looked up.
    return outcome.error?.code === KEY_TAKEN ? runOnce(parts, o) : outcome;
  }
  const { executionId } = known;
  const row = await parts.log.find(use.accountId, executionId);
  const isOwn = row === undefined || isShown(row, call.principal, view);
  if (known.inputHash === use.inputHash && isOwn) return awaitEnd(parts, { call, view, entry, executionId });
  const message = "This idempotency_key was used for another action, input or connection; nothing was run.";
  const hint = "Use a new key for a new request, and the same key only to repeat the same request.";
  return block(parts, call, { entry, error: new ServiceError(409, "idempotency_conflict", message, { hint }) });
}

async function run(
  parts: CanonicalParts,
  { call, entry, use }: { call: CanonicalCall; entry: CatalogEntry; use?: KeyUse },
): Promise<ExecutionOutcome> {
  const { toolName } = entry;
  const claim: ToolCall["onStart"] = use && ((transaction, id) => parts.idempotencyKeys.claim(transaction, use, id));
  const { principal, input, confirm, confirmedLevel, previewState, connectionId, clientGone, isHeld } = call;
  const outcome = await parts.executor.execute({
    principal,
    toolName,
    arguments: input,
    connectionId,
    confirmed: confirm,
    confirmedLevel,
    previewState,
    findHold: (approvals) =>
      parts.findHold(principal, isHeld ? "owner" : approvals, {
        shape: "summary",
        idempotency_key: use?.key ?? null,
        input_hash: use?.inputHash ?? null,
      }),
    clientGone,
    ...(claim && { onStart: claim }),
    ...createFileAccess(parts, { account: principal.accountId, toolName }),
  });
  // The start took the key, and nothing was done.
  if (use !== undefined && outcome.isStale) await parts.idempotencyKeys.free(use);
  if (outcome.status !== "blocked" || outcome.error === undefined || isBlocking(outcome.error)) return outcome;
  // Invalid input fails rather than blocks, and a failed execution can be looked up by its id.
  const { id, startedAt } = await parts.log.refuse(
    { principal, entry, connectionId: outcome.connectionId, arguments: input },
    outcome.error,
  );
  return { ...outcome, status: "failed", executionId: id, startedAt, finishedAt: startedAt };
}

/** True for a refusal that only a human or a changed connection can lift. */
function isBlocking({ status }: ServiceError): boolean {
  return status >= 401 && status < 500 && status !== 413 && status !== 415;
}

/** Waits until the execution that has the key ended, which only another process can still be running. */
async function awaitEnd(
  parts: CanonicalParts,
  o: { call: CanonicalCall; view: AccessView; entry: CatalogEntry; executionId: string },
): Promise<StoredExecution> {
  const { call, view, entry, executionId } = o;
  const { sleep = sleepFor } = parts;
  for (let waited = 0; ; waited += POLL_EVERY_MS) {
    const row = await parts.log.find(call.principal.accountId, executionId);
    if (row === undefined) return describeForgotten(executionId, at(parts), entry);
    if (row.status !== "started") return readExecution(row, view.catalog);
    if (waited >= parts.waitForTwinMs || call.clientGone.aborted) break;
    await sleep(POLL_EVERY_MS);
  }
  const message = "The request that has this idempotency_key has not ended yet.";
  const hint = `Ask GET /api/executions/${executionId} for its result; do not send it under another key.`;
  const error = new ServiceError(503, "timeout", message, { type: "network", retryable: true, hint });
  return { ...block(parts, call, { entry, error }), status: "failed", executionId };
}

function block(
  parts: CanonicalParts,
  { integrationId, actionId }: CanonicalCall,
  { entry, error }: { entry: CatalogEntry | undefined; error: ServiceError },
): StoredExecution {
  const toolName = entry?.toolName ?? actionId;
  return blockedOutcome(error, at(parts), { toolName, entry, asked: { integrationId, actionId } });
}

function at({ now }: CanonicalParts): string {
  return new Date(now()).toISOString();
}

function phrase(outcome: StoredExecution): StoredExecution {
  return outcome.error === undefined ? outcome : { ...outcome, error: phraseError(outcome.error, outcome.entry) };
}

/** The outcome for a key whose execution was removed from the log: the key was used, its result is unknown. */
function describeForgotten(executionId: string, time: string, entry?: CatalogEntry): StoredExecution {
  const message = "This idempotency_key was used before, and the result of that request is not kept any more.";
  const hint = "Check with a read whether it took effect before you send it again, then under a new key.";
  const error = new ServiceError(500, "outcome_unknown", message, { hint });
  return { ...blockedOutcome(error, time, { toolName: entry?.toolName ?? "", entry }), status: "failed", executionId };
}
