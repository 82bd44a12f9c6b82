import { isSvcError } from "../../../shared/errors.ts";
import { pickHigher } from "../../../shared/wire/call-level.ts";
import { MAX_PREVIEW_MS } from "../../../shared/wire/preview.ts";
import { throwIfAborted } from "../ask/abort.ts";
import { judgeReply } from "./answer/read-reply.ts";
import { describeFailure } from "./outcome.ts";
import { type CallContext, type CallPlan, fingerprintRequest, proceed, type Step, stop } from "./plan.ts";

/** The service takes {@link MAX_PREVIEW_MS} at most. */
const TIMEOUT_MS = MAX_PREVIEW_MS + 3_000;

/**
 * Has the service look at a call before a human is asked: the plan with what it would do. A call that the service finds
 * impossible ends with its refusal, as if it had been sent; what else is in the way, such as an account that is not connected, is
 * handled when it is sent. A look that fails does not keep the human from being asked.
 */
export async function look(context: CallContext, plan: CallPlan): Promise<Step<CallPlan>> {
  const of = fingerprintRequest(context, plan);
  if (context.own !== undefined || plan.entry.previews !== true) return proceed(plan);
  // Also the one that the service sent with its refusal.
  if (plan.look?.of === of) return proceed(plan);
  const files = plan.files.map(({ reference: pointer, name, mimetype, size, md5 }) => {
    return { pointer, name, mimetype, size, md5 };
  });
  const request = {
    arguments: plan.arguments,
    ...(plan.connectionId === undefined ? {} : { connectionId: plan.connectionId }),
    ...(files.length === 0 ? {} : { files }),
  };
  try {
    const options = { signal: context.signal, timeoutMs: TIMEOUT_MS };
    const found = await context.client.previewTool(plan.entry.name, request, options);
    if ("preview" in found) {
      const { preview, raised } = found;
      return proceed({ ...plan, raised: pickHigher(raised, plan.raised), look: { of, preview } });
    }
    const judged = judgeReply({ reply: found.refusal, confirmed: false, hasEnvelope: false });
    if (judged.kind === "success") return proceed({ ...plan, look: { of } });
    const { kind, failure } = judged;
    if (failure.code === "preview_unavailable") return proceed({ ...plan, look: undefined });
    const isFinal = failure.isStructured && failure.status < 500 && failure.status !== 429 && !failure.retryable;
    if (isFinal && (kind === "failure" || kind === "arguments")) return stop(describeFailure(plan, failure));
    return proceed({ ...plan, look: isFinal ? undefined : { of } });
  } catch (error) {
    throwIfAborted(context.signal);
    if (!isSvcError(error)) throw error;
    return proceed({ ...plan, look: { of } });
  }
}
