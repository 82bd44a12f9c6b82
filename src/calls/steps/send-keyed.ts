import { sha256Hex } from "../../base/hash.ts";
import type { ExecuteReply } from "../../client/reply.ts";
import type { CallOptions } from "../../client/transport.ts";
import { isSvcError, SvcError } from "../../errors.ts";
import type { ExecutionSummary } from "../../wire/execution.ts";
import { throwIfAborted } from "../ask/abort.ts";
import { canonicalJson } from "../ask/fingerprint.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { JournalRecord } from "../journal/journal-record.ts";
import type { CallPlan, Pipeline, ToolCall } from "../pipeline.ts";
import type { CallRecord } from "./call-record.ts";
import { describeApproved, findDefault, judgeRepeat, type Repeatable } from "./judge-repeat.ts";
import { fingerprintRequest } from "./plan-call.ts";

const TRIES = 4;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 20_000;
/** Longer arguments are not kept in the journal, so their request is not repeatable. */
const MAX_ARGUMENTS = 256 * 1024;
/** A request is asked for again only this long, however long the service keeps its keys. */
const REPEAT_FOR_MS = 24 * 60 * 60 * 1_000;

/**
 * How a keyed request ended. `lost`: it left at least once and no answer of the service came. `stopped`: so it did, and it
 * is not sent again, because something is not as it was approved; `why` says what.
 */
export type KeyedAnswer =
  | { readonly kind: "reply"; readonly reply: ExecuteReply }
  | { readonly kind: "lost" | "refused"; readonly error: SvcError }
  | { readonly kind: "stopped"; readonly why: string };

/**
 * Chooses the canonical endpoint for an approved call without files, when the service's own description of the tool says
 * that it keeps idempotency keys; on another account than the default one only where a request may name it. Undefined
 * for everything else. The tool is described once more, so that neither an old promise nor a default account that
 * changed since the approval counts.
 */
export async function planKeyedSend(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  record: Pick<CallRecord, "approval">,
): Promise<Repeatable | undefined> {
  const { entry } = plan;
  if (pipeline.settings.idempotencyKeys === "off" || entry.keys === undefined) return undefined;
  if (plan.files.length > 0 || entry.integration === "" || plan.approved === undefined) return undefined;
  if (canonicalJson(plan.arguments).length > MAX_ARGUMENTS) return undefined;
  const fresh = (await pipeline.catalog.refresh(entry.name).catch(() => undefined))?.entry;
  throwIfAborted(call.signal);
  const promise = fresh?.keys;
  if (fresh === undefined || promise === undefined) return undefined;
  const isDefault = plan.connectionId === undefined || findDefault(fresh)?.id === plan.connectionId;
  if (!isDefault && !promise.namesAccount) return undefined;
  const until = pipeline.now() + Math.min(promise.keptMs, REPEAT_FOR_MS);
  const approved = describeApproved(plan, record, { fresh, promise });
  return { key: createKey(pipeline, call, plan), arguments: plan.arguments, until, approved };
}

/**
 * The same for the same call made again, also by a process that knows nothing of this one; another one once the
 * service has answered that the call failed and may be tried again.
 */
function createKey(pipeline: Pipeline, call: ToolCall, plan: CallPlan): string {
  const subject = [pipeline.client.principal, plan.entry.name, fingerprintRequest(pipeline, plan), call.callId];
  const name = sha256Hex(canonicalJson(subject));
  const ended = pipeline.endedKeys.get(name) ?? 0;
  return ended === 0 ? `plugin-${name}` : `plugin-${name}-${ended}`;
}

/** Notes that the execution behind a key is over, so that another try of the call is another execution. */
export function retireKey(pipeline: Pipeline, key: string): void {
  const name = key.replace(/^plugin-/, "").replace(/-\d+$/, "");
  pipeline.endedKeys.set(name, (pipeline.endedKeys.get(name) ?? 0) + 1);
}

/** The repeatable request of an earlier process that was sent and not answered. */
export function findRepeatable(known: JournalRecord | undefined): Repeatable | undefined {
  return known?.state === "sending" ? known.repeatable : undefined;
}

/** A keyed request that is sent; `isRepeat` when it has been sent before, by a process that is gone. */
interface KeyedSend {
  readonly entry: CatalogEntry;
  readonly repeatable: Repeatable;
  /** When it was first sent, in milliseconds since the epoch. */
  readonly sentAt: number;
  readonly isRepeat: boolean;
}

/**
 * Sends a repeatable request, and again with the same key while its answer is lost: four times in all. Each time it is
 * sent again, account, effect, schema, pin, expiry and permission have to be as they were approved; else its result is
 * looked up by its key where the service can do that, and nothing is sent.
 */
export async function sendKeyed(pipeline: Pipeline, call: ToolCall, send: KeyedSend): Promise<KeyedAnswer> {
  let lost: SvcError | undefined;
  for (let tries = 1; ; tries += 1) {
    const answer = await tryOnce(pipeline, call, { ...send, isRepeat: send.isRepeat || tries > 1 });
    if (answer.kind === "reply" || answer.kind === "stopped") return answer;
    if (answer.kind === "lost") lost = answer.error;
    const wait = answer.error.retryAfterMs ?? pipeline.random() * FIRST_WAIT_MS * 2 ** tries;
    if (lost === undefined) return answer;
    if (tries >= TRIES || wait > MAX_WAIT_MS) return { kind: "lost", error: lost };
    await pipeline.sleep(wait, call.signal);
    throwIfAborted(call.signal);
  }
}

async function tryOnce(pipeline: Pipeline, call: ToolCall, send: KeyedSend): Promise<KeyedAnswer> {
  const { signal } = call;
  const { timeoutMs } = pipeline.settings;
  const options: CallOptions = {
    ...(signal === undefined ? {} : { signal }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  try {
    const verdict = send.isRepeat ? await judgeRepeat(pipeline, send.entry.name, send) : undefined;
    throwIfAborted(signal);
    if (verdict?.kind === "changed") return await lookUp(pipeline, send.repeatable, { ...verdict, options });
    pipeline.emit({ type: "sending", callId: call.callId, toolName: send.entry.name, confirmed: true });
    const reply = await pipeline.client.execute(buildBody(send), options);
    return await settleRunning(pipeline, reply, options);
  } catch (error) {
    throwIfAborted(signal);
    if (!isSvcError(error)) throw error;
    const isLost = send.isRepeat || (error.sent !== false && isLostAnswer(error));
    return { kind: isLost ? "lost" : "refused", error };
  }
}

function buildBody({ entry, repeatable }: KeyedSend) {
  const { approved } = repeatable;
  return {
    integration_id: entry.integration,
    action_id: entry.name,
    input: { ...repeatable.arguments },
    confirm: true,
    idempotency_key: repeatable.key,
    ...(approved?.namesAccount === true ? { connection_id: approved.account?.id } : {}),
  };
}

/** What became of a request that is not sent again. That nothing was done so far does not say that nothing will be. */
async function lookUp(
  pipeline: Pipeline,
  repeatable: Repeatable,
  { why, canLookUp, options }: { readonly why: string; readonly canLookUp: boolean; readonly options: CallOptions },
): Promise<KeyedAnswer> {
  const stopped = `Its answer was lost, and ${why}: it was not sent again.`;
  if (!canLookUp) return { kind: "stopped", why: stopped };
  const summary = await pipeline.client.findExecution(repeatable.key, options);
  if (summary === undefined)
    return { kind: "stopped", why: `${stopped} The service has done nothing under its key so far.` };
  return toAnswer(summary);
}

/** An execution that another request with this key started is waited for no longer than the service did. */
async function settleRunning(pipeline: Pipeline, reply: ExecuteReply, options: CallOptions): Promise<KeyedAnswer> {
  const id = reply.kind === "summary" && reply.summary.error_code === "timeout" ? reply.summary.execution_id : null;
  return id == null ? { kind: "reply", reply } : toAnswer(await pipeline.client.getExecution(id, options));
}

/** A stored execution as the answer of its request; one that has not ended is as good as no answer yet. */
function toAnswer(summary: ExecutionSummary): KeyedAnswer {
  if (summary.status === "running") {
    const error = new SvcError("timeout", "The service is still at it.", { sent: true, retryable: true });
    return { kind: "lost", error };
  }
  return { kind: "reply", reply: { kind: "summary", status: summary.status === "succeeded" ? 200 : 500, summary } };
}

/** No answer, or one that is not the service's: a gateway's page says nothing about what the service did. */
export function isLostAnswer(error: SvcError): boolean {
  if (error.code === "bad_response") return error.status === undefined || error.status < 400 || error.status >= 500;
  return error.code === "unreachable" || error.code === "timeout" || error.code === "aborted";
}
