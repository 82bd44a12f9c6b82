import { sha256Hex } from "../../../../shared/base/hash.ts";
import { SvcError } from "../../../../shared/errors.ts";
import type { ExecutionSummary } from "../../../../shared/wire/execution.ts";
import type { SvcClient } from "../../../client/client.ts";
import type { ExecuteReply } from "../../../client/reply.ts";
import { startBudget } from "../../../client/retry.ts";
import type { CallOptions } from "../../../client/transport.ts";
import { throwIfAborted, toFailure } from "../../ask/abort.ts";
import { canonicalJson } from "../../ask/fingerprint.ts";
import type { CatalogEntry, KeyPromise } from "../../catalog/catalog-entry.ts";
import { createKey } from "../../journal/call-record.ts";
import { type ApprovedFacts, isWithin, type JournalRecord } from "../../journal/journal-record.ts";
import { type ConnectionChoice, cleanText } from "../../outcome.ts";
import { announceSending } from "../announce.ts";
import type { Answered } from "../answer/read-reply.ts";
import { createUnknownOutcome, describeLostAnswer, describeRefusal, isLostAnswer } from "../outcome.ts";
import {
  type CallContext,
  type CallPlan,
  findPinObjection,
  fingerprintRequest,
  nameConfirmedLevel,
  proceed,
  type Step,
  stop,
} from "../plan.ts";

const TRIES = 4;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 20_000;
/** Longer arguments are not stored in the journal, so their request cannot be repeated. */
const MAX_ARGUMENTS = 256 * 1024;
/** A request is repeated only this long, even if the service keeps its keys longer. */
const REPEAT_FOR_MS = 24 * 60 * 60 * 1_000;

/**
 * How a keyed request ended. `lost`: sent at least once and not answered. `stopped`: also not sent again, because the
 * approval no longer matches; `why` gives the reason.
 */
type KeyedAnswer =
  | { readonly kind: "reply"; readonly reply: ExecuteReply }
  | { readonly kind: "lost" | "refused"; readonly error: SvcError }
  | { readonly kind: "stopped"; readonly why: string };

/**
 * Chooses the canonical endpoint for an approved call without files, when the tool's description promises to keep
 * idempotency keys; for an account other than the default one, only if a request may name it. Undefined otherwise. The
 * tool is described again first, so that no old promise or changed default account is used.
 */
export async function planKeyedSend(context: CallContext, plan: CallPlan): Promise<Repeatable | undefined> {
  const { entry } = plan;
  if (context.settings.idempotencyKeys === "off" || entry.keys === undefined) return undefined;
  if (plan.files.length > 0 || entry.integration === "" || plan.approved === undefined) return undefined;
  if (canonicalJson(plan.arguments).length > MAX_ARGUMENTS) return undefined;
  const fresh = (await context.catalog.refresh(entry.name).catch(() => undefined))?.entry;
  throwIfAborted(context.signal);
  if (fresh?.keys === undefined) return undefined;
  const isDefault = plan.connectionId === undefined || findDefault(fresh)?.id === plan.connectionId;
  if (!isDefault && !fresh.keys.namesAccount) return undefined;
  const until = context.now() + Math.min(fresh.keys.keptMs, REPEAT_FOR_MS);
  const approved = describeApproved(plan, context.record.approval, { fresh, promise: fresh.keys });
  // Stable per call, also when another process repeats it.
  const subject = [context.client.principal, entry.name, fingerprintRequest(context, plan), context.call.callId];
  const key = createKey(context.endedKeys, sha256Hex(canonicalJson(subject)));
  return { key, arguments: plan.arguments, until, approved };
}

interface KeyedSend {
  readonly repeatable: Repeatable;
  /** Time of the first sending, in milliseconds since the epoch. */
  readonly sentAt: number;
  readonly isRepeat: boolean;
}

/**
 * Sends a repeatable request, and repeats it with the same key while its answer is lost: four times at most, within
 * `timeoutMs`. Before each repeat, account, effect, schema, pin, expiry and permission must match the approval; otherwise
 * nothing is sent, and the result is looked up by its key where the service can do that.
 */
export async function sendKeyed(context: CallContext, plan: CallPlan, send: KeyedSend): Promise<Step<Answered>> {
  const answer = await trySeveralTimes(context, plan.entry, send);
  if (answer.kind === "reply") return proceed({ reply: answer.reply, confirmed: true, hasEnvelope: false });
  if (answer.kind === "stopped") return stop(createUnknownOutcome(context, plan.entry, answer.why, plan.notes));
  const { kind, error } = answer;
  return stop(kind === "refused" ? describeRefusal(plan, error) : describeLostAnswer(context, plan, error));
}

async function trySeveralTimes(context: CallContext, entry: CatalogEntry, send: KeyedSend): Promise<KeyedAnswer> {
  let lost: SvcError | undefined;
  const left = startBudget(context.settings.timeoutMs, context.now);
  for (let tries = 1; ; tries += 1) {
    const again = { ...send, isRepeat: send.isRepeat || tries > 1 };
    const answer = await tryOnce(context, entry, again, Math.max(1, left()));
    if (answer.kind === "reply" || answer.kind === "stopped") return answer;
    if (answer.kind === "lost") lost = answer.error;
    const wait = answer.error.retryAfterMs ?? context.random() * FIRST_WAIT_MS * 2 ** tries;
    if (lost === undefined) return answer;
    if (tries >= TRIES || wait > MAX_WAIT_MS || wait >= left()) return { kind: "lost", error: lost };
    await context.sleep(wait, context.signal);
    throwIfAborted(context.signal);
  }
}

async function tryOnce(
  context: CallContext,
  entry: CatalogEntry,
  send: KeyedSend,
  timeoutMs: number,
): Promise<KeyedAnswer> {
  const { client, signal } = context;
  const options: CallOptions = { signal, timeoutMs };
  try {
    const changed = send.isRepeat ? await findChange(context, entry.name, send) : undefined;
    throwIfAborted(signal);
    if (changed !== undefined) return await lookUp(client, send.repeatable.key, { ...changed, options });
    await announceSending(context, { toolName: entry.name, confirmed: true, isRepeat: send.isRepeat });
    return await settleRunning(client, await client.execute(buildBody(entry, send.repeatable), options), options);
  } catch (error) {
    const failure = toFailure(error, signal);
    const isLost = send.isRepeat || (failure.sent !== false && isLostAnswer(failure));
    return { kind: isLost ? "lost" : "refused", error: failure };
  }
}

function buildBody({ integration, name }: CatalogEntry, { key, arguments: args, approved }: Repeatable) {
  return {
    integration_id: integration,
    action_id: name,
    input: { ...args },
    confirm: true,
    idempotency_key: key,
    ...(approved?.level === undefined ? {} : { confirmed_level: approved.level }),
    ...(approved?.state === undefined ? {} : { preview_state: approved.state }),
    ...(approved?.namesAccount === true ? { connection_id: approved.account?.id } : {}),
  };
}

/** Looks up a request that is not sent again. If nothing was done so far, it may still be done later. */
async function lookUp(
  client: SvcClient,
  key: string,
  { why, canLookUp, options }: ChangedRequest & { readonly options: CallOptions },
): Promise<KeyedAnswer> {
  const stopped = `Its answer was lost, and ${why}: it was not sent again.`;
  if (!canLookUp) return { kind: "stopped", why: stopped };
  const summary = await client.findExecution(key, options);
  if (summary !== undefined) return toAnswer(summary);
  return { kind: "stopped", why: `${stopped} The service has done nothing under its key so far.` };
}

/** Waits for an execution that another request with this key started, no longer than the service did. */
async function settleRunning(client: SvcClient, reply: ExecuteReply, options: CallOptions): Promise<KeyedAnswer> {
  const id = reply.kind === "summary" && reply.summary.error_code === "timeout" ? reply.summary.execution_id : null;
  return id == null ? { kind: "reply", reply } : toAnswer(await client.getExecution(id, options));
}

/** A stored execution as the answer of its request; one that has not ended is as good as no answer yet. */
function toAnswer(summary: ExecutionSummary): KeyedAnswer {
  if (summary.status === "running") {
    const error = new SvcError("timeout", "The service is still at it.", { sent: true, retryable: true });
    return { kind: "lost", error };
  }
  return { kind: "reply", reply: { kind: "summary", status: summary.status === "succeeded" ? 200 : 500, summary } };
}

/** A request that may be repeated: it acts at most once per key. */
export type Repeatable = NonNullable<JournalRecord["repeatable"]>;

/** Why a request may not be repeated: `why` is a clause naming the mismatch with the approval. */
interface ChangedRequest {
  readonly why: string;
  readonly canLookUp: boolean;
}

/** What the approval of a plan was given for, with the account that the request will act on; `fresh` is the tool now. */
function describeApproved(
  plan: CallPlan,
  approval: JournalRecord["approval"],
  { fresh, promise }: { readonly fresh: CatalogEntry; readonly promise: KeyPromise },
): ApprovedFacts {
  const { entry, connectionId } = plan;
  const id = connectionId ?? findDefault(fresh)?.id;
  const shown = [...entry.connections, ...fresh.connections].find((choice) => choice.id === id);
  return {
    effect: entry.effect,
    level: nameConfirmedLevel({ ...plan, entry: { ...entry, callLevels: fresh.callLevels ?? entry.callLevels } }),
    ...(plan.look?.preview === undefined ? {} : { state: plan.look.preview.state }),
    schemaHash: entry.schemaHash ?? fresh.schemaHash,
    ...(id === undefined ? {} : { account: { id, label: shown?.label ?? id } }),
    namesAccount: promise.namesAccount && id !== undefined,
    ...(approval === undefined ? {} : { until: Date.parse(approval.expiresAt) }),
  };
}

/** The account the service uses for a request that names none. */
function findDefault({ connections }: CatalogEntry): ConnectionChoice | undefined {
  return connections.length === 1 ? connections[0] : connections.find((choice) => choice.isDefault);
}

/**
 * Compares the approved facts with the tool's current description before a request first sent at `sentAt` (milliseconds
 * since the epoch) is repeated. Throws SvcError when the service cannot be asked.
 */
async function findChange(
  context: CallContext,
  name: string,
  { repeatable, sentAt }: KeyedSend,
): Promise<ChangedRequest | undefined> {
  const before = context.catalog.peek(name);
  const { entry } = await context.catalog.refresh(name);
  const canLookUp = entry?.keys?.canLookUp === true;
  // The entry stays the same object where the service has no description any more.
  const why =
    entry === undefined || entry === before
      ? "the service does not describe this tool any more"
      : (findEnd(context, repeatable, sentAt) ?? compareApproved(context, repeatable.approved, entry));
  return why === undefined ? undefined : { why, canLookUp };
}

function findEnd(context: CallContext, { until, approved }: Repeatable, sentAt: number): string | undefined {
  const now = context.now();
  if (context.settings.idempotencyKeys === "off") return "sending again is turned off";
  if (!isWithin(now, sentAt, until)) return "too much time has passed since, or the clock was set back";
  return approved?.until !== undefined && now >= approved.until ? "the approval has expired" : undefined;
}

function compareApproved(
  context: CallContext,
  approved: ApprovedFacts | undefined,
  fresh: CatalogEntry,
): string | undefined {
  if (approved === undefined) return "nothing was recorded of what was approved";
  const { effect } = fresh;
  if (effect !== approved.effect) return `the effect of the tool changed (${approved.effect} before, ${effect} now)`;
  if (fresh.schemaHash !== approved.schemaHash) return "the arguments of the tool changed";
  if (findPinObjection(context, fresh) !== undefined) return "the tool is not as it was pinned";
  return findOtherAccount(approved, fresh) ?? findWithdrawal(context, approved, fresh.name);
}

function findOtherAccount({ account, namesAccount }: ApprovedFacts, fresh: CatalogEntry): string | undefined {
  if (fresh.keys === undefined) return "the service keeps no idempotency keys any more";
  if (namesAccount && !fresh.keys.namesAccount) return "the service does not take the account of a request any more";
  const now = namesAccount ? fresh.connections.find(({ id }) => id === account?.id) : findDefault(fresh);
  if (account === undefined) return now === undefined ? undefined : "there is another account now";
  if (now === undefined) return namesAccount ? "the account is gone" : "the account is not the default one any more";
  if (now.id !== account.id) return "the default account is another one now";
  if (now.label === account.label) return undefined;
  return `the account has another name (${cleanText(account.label, 80)} before, ${cleanText(now.label, 80)} now)`;
}

function findWithdrawal(context: CallContext, approved: ApprovedFacts, tool: string): string | undefined {
  if (approved.until !== undefined) return undefined;
  const { principal } = context.client;
  const subject = { principal, tool, connection: approved.account?.id, effect: approved.effect };
  return context.rules.allows(subject) ? undefined : "the standing permission was taken back";
}
