import { isSvcError } from "../../../../shared/errors.ts";
import type { SvcClient } from "../../../client/client.ts";
import { startStopwatch } from "../../../client/retry.ts";
import { CALLER_GONE, isAbort, throwIfAborted, toFailure } from "../../ask/abort.ts";
import { cleanText, createOutcome, decline, type ToolOutcome, toSafeJson } from "../../outcome.ts";
import { type CallContext, type CallPlan, proceed, type Step, stop } from "../plan.ts";
import { toSafeLink } from "./await-connection.ts";

/** Seconds that one request waits for the owner. */
const WAIT_SECONDS = 25;
/** Wait after a failed look, in milliseconds. */
const RETRY_MS = 2_000;
const CANCEL_MS = 5_000;
/** Most characters of edited arguments that a model is shown. */
const EDIT_MAX = 2_000;

/** An approval that the service holds. */
interface HeldApproval {
  readonly id: string;
  /** Page on which the owner decides; undefined for an unusable address. */
  readonly url: string | undefined;
}

/**
 * Follows an approval that the service holds until it has ended or the time to wait is over, and takes the result of the
 * stored call as the answer of this one. Nothing is sent again. An aborted call withdraws its request, unless its caller is
 * gone and may come back.
 */
export async function awaitOwner(context: CallContext, plan: CallPlan, held: HeldApproval): Promise<Step<CallPlan>> {
  const { call, client, record } = context;
  await record.save("pending", { held: held.id });
  const told = { callId: call.callId, toolName: plan.entry.name, approvalId: held.id, url: held.url };
  const tell = (reason?: string) => context.emit({ type: "awaiting_owner", ...told, ...(reason && { reason }) });
  tell();
  try {
    return await context.turn.stepAside(() => follow(context, plan, held, tell));
  } catch (error) {
    // The service keeps it no more: the call may be made anew.
    if (isSvcError(error) && error.status === 404) await record.withdraw();
    if (context.signal?.reason !== CALLER_GONE && (context.signal?.aborted === true || isAbort(error))) {
      await client.cancelApproval(held.id, { timeoutMs: CANCEL_MS }).catch(() => undefined);
    }
    throw error;
  }
}

async function follow(
  context: CallContext,
  plan: CallPlan,
  held: HeldApproval,
  tell: (reason: string) => void,
): Promise<Step<CallPlan>> {
  const elapsed = startStopwatch(context.now);
  let url = held.url;
  let told = "";
  const waitMs = context.call.resumesHeld?.waitMs ?? context.approvalTtlMs;
  for (let left = waitMs; left > 0; left = waitMs - elapsed()) {
    const seconds = Math.min(WAIT_SECONDS, Math.ceil(left / 1_000));
    const found = await look(context, held.id, seconds);
    throwIfAborted(context.signal);
    if (found === undefined) {
      await context.sleep(RETRY_MS, context.signal);
      continue;
    }
    const { approval, reply } = found;
    url ??= toSafeLink(approval.url, context.client.baseUrl);
    if (approval.status === "done" && reply !== undefined) {
      const notes = [...plan.notes, ...tellOfEdit(approval)];
      return proceed({ ...plan, notes, answered: { reply, confirmed: true, hasEnvelope: false } });
    }
    const reason = approval.status === "pending" ? cleanText(approval.reason ?? "", 300) : "";
    // A call before it did not succeed: the owner has to decide once more.
    if (reason !== "" && reason !== told) tell(reason);
    told = reason;
    const ended = describeEnd(plan, approval);
    if (ended !== undefined) return stop(ended);
  }
  return stop(describeWaiting(plan, url));
}

/** A model goes on from what ran, and not from what it asked for. */
function tellOfEdit({ editedArguments }: Found["approval"]): string[] {
  if (editedArguments == null) return [];
  const args = cleanText(toSafeJson(editedArguments), EDIT_MAX);
  return [`the owner changed the arguments of this call before it ran; it ran with: ${args}`];
}

/** Undefined when the service cannot be asked at the moment. */
async function look({ client, signal }: CallContext, id: string, waitSeconds: number) {
  try {
    return await client.getApproval(id, { waitSeconds }, { signal, timeoutMs: (waitSeconds + 15) * 1_000 });
  } catch (error) {
    const failure = toFailure(error, signal);
    if (failure.retryable || failure.code === "unreachable" || failure.code === "timeout") return undefined;
    throw failure;
  }
}

type Found = Awaited<ReturnType<SvcClient["getApproval"]>>;

const ENDS = {
  expired: {
    status: "needs_approval",
    code: "approval_expired",
    message: "The owner did not decide in time. Nothing was run.",
  },
  cancelled: {
    status: "needs_approval",
    code: "approval_cancelled",
    message: "The request was withdrawn. Nothing was run.",
  },
  void: { status: "failed", code: "approval_void", message: "The owner approved it, and it was not run." },
  done: { status: "unknown", code: "outcome_unknown", message: "It ran, and its result is not kept any more." },
} as const;

/** The outcome of an approval that ended without a result; undefined while it is open. */
function describeEnd({ entry, notes }: CallPlan, { status, reason }: Found["approval"]): ToolOutcome | undefined {
  if (status === "declined") return decline(entry.name, reason ?? undefined, notes);
  const end = isEnd(status) ? ENDS[status] : undefined;
  if (end === undefined) return undefined;
  const told = {
    code: end.code,
    message: [end.message, cleanText(reason ?? "", 300)].filter(Boolean).join(" "),
    hint: "Make the call again only if the user still wants it.",
    retryable: false,
  };
  return createOutcome(end.status, entry.name, told, notes);
}

function isEnd(status: string): status is keyof typeof ENDS {
  return Object.hasOwn(ENDS, status);
}

function describeWaiting(plan: CallPlan, url: string | undefined): ToolOutcome {
  const where = url === undefined ? "in the inbox of the service" : `at ${url}`;
  const told = {
    code: "awaiting_owner",
    message: `The call waits for the owner of the service, who decides ${where}. Nothing was run so far.`,
    hint: "Tell the user. The same call made again later continues to wait, or returns the result.",
    retryable: true,
  };
  return createOutcome("needs_approval", plan.entry.name, told, plan.notes);
}
