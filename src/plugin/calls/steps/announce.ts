import { throwIfAborted } from "../ask/abort.ts";
import type { CallContext } from "./plan.ts";

/**
 * Says that a request is about to leave. Where a listener aborts the call, nothing does, and nobody has to be told later
 * that it may have acted; unless `isRepeat`, for a request that left before.
 */
export async function announceSending(
  { call, emit, record, signal }: CallContext,
  { toolName, confirmed, isRepeat = false }: { toolName: string; confirmed: boolean; isRepeat?: boolean },
): Promise<void> {
  throwIfAborted(signal);
  emit({ type: "sending", callId: call.callId, toolName, confirmed });
  if (signal?.aborted === true && !isRepeat && record.isUnderWay) await record.withdraw();
  throwIfAborted(signal);
}
