import { createHash } from "node:crypto";
import { throwIfAborted } from "../approvals/abort.ts";
import { canonicalJson } from "../approvals/fingerprint.ts";
import { isWithin, type JournalRecord } from "../approvals/journal-record.ts";
import type { ExecuteReply } from "../client/executions.ts";
import { isSvcError, SvcError } from "../errors.ts";
import { fingerprintRequest } from "./bind-plan.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { isLostAnswer } from "./lost-answer.ts";
import type { CallPlan, Pipeline, ToolCall } from "./pipeline.ts";

const TRIES = 4;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 20_000;
/** Longer arguments are not kept in the journal, so their request is not repeatable. */
const MAX_ARGUMENTS = 256 * 1024;
/** A request is asked for again only this long, however long the service keeps its keys. */
const REPEAT_FOR_MS = 24 * 60 * 60 * 1_000;

/** A request that may be made again: it acts at most once per key. */
export type Repeatable = NonNullable<JournalRecord["repeatable"]>;

/** How a keyed request ended. `lost`: it left at least once and no answer of the service came. */
export type KeyedAnswer =
  | { readonly kind: "reply"; readonly reply: ExecuteReply }
  | { readonly kind: "lost" | "refused"; readonly error: SvcError };

/**
 * Chooses the canonical endpoint for an approved call without files on the default connection, when the service's own
 * description of the tool says that it keeps idempotency keys; undefined for everything else. The tool is described
 * once more, so that neither an old promise nor a default account that changed since the approval counts.
 */
export async function planKeyedSend(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
): Promise<Repeatable | undefined> {
  const { entry } = plan;
  if (pipeline.settings.idempotencyKeys === "off" || entry.keyKeptMs === undefined) return undefined;
  if (plan.files.length > 0 || entry.integration === "" || plan.approved === undefined) return undefined;
  if (canonicalJson(plan.arguments).length > MAX_ARGUMENTS) return undefined;
  const fresh = await pipeline.catalog.refresh(entry.name).catch(() => undefined);
  throwIfAborted(call.signal);
  const keptMs = fresh?.entry?.keyKeptMs;
  if (keptMs === undefined || !usesDefault(fresh?.entry, plan.connectionId)) return undefined;
  const until = pipeline.now() + Math.min(keptMs, REPEAT_FOR_MS);
  return { key: createKey(pipeline, call, plan), arguments: plan.arguments, until };
}

function usesDefault(entry: CatalogEntry | undefined, connectionId: string | undefined): boolean {
  if (connectionId === undefined) return true;
  const choices = entry?.connections ?? [];
  const chosen = choices.length === 1 ? choices[0] : choices.find((choice) => choice.isDefault);
  return chosen?.id === connectionId;
}

/**
 * The same for the same call made again, also by a process that knows nothing of this one; another one once the
 * service has answered that the call failed and may be tried again.
 */
function createKey(pipeline: Pipeline, call: ToolCall, plan: CallPlan): string {
  const subject = [pipeline.client.principal, plan.entry.name, fingerprintRequest(pipeline, plan), call.callId];
  const name = createHash("sha256").update(canonicalJson(subject)).digest("hex");
  const ended = pipeline.endedKeys.get(name) ?? 0;
  return ended === 0 ? `plugin-${name}` : `plugin-${name}-${ended}`;
}

/** Notes that the execution behind a key is over, so that another try of the call is another execution. */
export function retireKey(pipeline: Pipeline, key: string): void {
  const name = key.replace(/^plugin-/, "").replace(/-\d+$/, "");
  pipeline.endedKeys.set(name, (pipeline.endedKeys.get(name) ?? 0) + 1);
}

/** The repeatable request of an earlier process that was sent and not answered, while its key is still kept. */
export function findRepeatable(pipeline: Pipeline, known: JournalRecord | undefined): Repeatable | undefined {
  if (known?.state !== "sending" || known.repeatable === undefined) return undefined;
  return isWithin(pipeline.now(), known.at, known.repeatable.until) ? known.repeatable : undefined;
}

/** Sends a repeatable request, and again with the same key while its answer is lost: four times in all. */
export async function sendKeyed(
  pipeline: Pipeline,
  call: ToolCall,
  entry: CatalogEntry,
  repeatable: Repeatable,
): Promise<KeyedAnswer> {
  let lost: SvcError | undefined;
  for (let tries = 1; ; tries += 1) {
    pipeline.emit({ type: "sending", callId: call.callId, toolName: entry.name, confirmed: true });
    const answer = await sendOnce(pipeline, call, entry, repeatable);
    if (answer.kind === "reply") return answer;
    if (answer.kind === "lost") lost = answer.error;
    const wait = answer.error.retryAfterMs ?? pipeline.random() * FIRST_WAIT_MS * 2 ** tries;
    if (lost === undefined) return answer;
    if (tries >= TRIES || wait > MAX_WAIT_MS) return { kind: "lost", error: lost };
    await pipeline.sleep(wait, call.signal);
    throwIfAborted(call.signal);
  }
}

async function sendOnce(
  pipeline: Pipeline,
  call: ToolCall,
  entry: CatalogEntry,
  repeatable: Repeatable,
): Promise<KeyedAnswer> {
  const options = {
    ...(call.signal === undefined ? {} : { signal: call.signal }),
    ...(pipeline.settings.timeoutMs === undefined ? {} : { timeoutMs: pipeline.settings.timeoutMs }),
  };
  const body = {
    integration_id: entry.integration,
    action_id: entry.name,
    input: { ...repeatable.arguments },
    confirm: true,
    idempotency_key: repeatable.key,
  };
  try {
    const reply = await pipeline.client.execute(body, options);
    return await settleRunning(pipeline, reply, options);
  } catch (error) {
    throwIfAborted(call.signal);
    if (!isSvcError(error)) throw error;
    return { kind: error.sent !== false && isLostAnswer(error) ? "lost" : "refused", error };
  }
}

/** An execution that another request with this key started and that has not ended is as good as no answer yet. */
async function settleRunning(
  pipeline: Pipeline,
  reply: ExecuteReply,
  options: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
): Promise<KeyedAnswer> {
  const id = reply.kind === "summary" && reply.summary.error_code === "timeout" ? reply.summary.execution_id : null;
  if (id == null) return { kind: "reply", reply };
  const summary = await pipeline.client.getExecution(id, options);
  if (summary.status !== "running") return { kind: "reply", reply: { ...reply, kind: "summary", summary } };
  return {
    kind: "lost",
    error: new SvcError("timeout", "The service is still at it.", { sent: true, retryable: true }),
  };
}
