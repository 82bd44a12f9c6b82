import type { HostCard } from "./approval-card.ts";
import type { HostApprovalResolution } from "./host-hook.ts";
import type { HostToolContext } from "./host-tool.ts";
import { loadSdk, type SdkModule } from "./load-sdk.ts";

/** How a card that a running call put up was answered. `no_route`: nobody could be asked. */
export type DeferredAnswer = "allow-once" | "allow-always" | "denied" | "timeout" | "no_route";

/** A card for a call that is running already. */
export interface DeferredQuestion {
  readonly card: HostCard;
  readonly timeoutMs: number;
  readonly toolName: string;
  readonly toolCallId: string;
  readonly context: Pick<HostToolContext, "agentId" | "sessionKey">;
  readonly signal: AbortSignal;
}

type Request = (params: unknown) => Promise<unknown>;

/**
 * Puts a card before a human from inside a running call. The host's function for it is not promised to plugins: where it
 * is missing, or answers in a way that is not understood, nobody was asked. Rejects with the signal's reason when it
 * fires.
 */
export async function askDeferred(
  question: DeferredQuestion,
  load: (subpath: string) => Promise<SdkModule | undefined> = loadSdk,
): Promise<DeferredAnswer> {
  const request = (await load("agent-harness-runtime"))?.requestDeferredPluginToolApproval;
  if (!isRequest(request)) return "no_route";
  const { card, timeoutMs, toolName, toolCallId, context, signal } = question;
  let resolution: HostApprovalResolution | undefined;
  const onResolution = (decision: HostApprovalResolution) => {
    resolution = decision;
  };
  const deferredApproval = {
    approval: { pluginId: "svc", ...card, timeoutMs, onResolution },
    toolName,
    toolCallId,
    baseParams: {},
    ctx: { agentId: context.agentId, sessionKey: context.sessionKey },
  };
  let result: unknown;
  try {
    result = await request({ deferredApproval, signal });
  } catch {
    result = undefined;
  }
  signal.throwIfAborted();
  return read(result, resolution, card);
}

/** Both ways the host tells of the decision must agree before anything counts as approved. */
function read(result: unknown, resolution: HostApprovalResolution | undefined, card: HostCard): DeferredAnswer {
  if (resolution === "deny") return "denied";
  if (resolution === "timeout") return "timeout";
  const isOffered = resolution !== undefined && card.allowedDecisions?.some((decision) => decision === resolution);
  const isApproved = typeof result === "object" && result !== null && "blocked" in result && result.blocked === false;
  if (!isApproved || isOffered !== true) return "no_route";
  return resolution === "allow-always" ? "allow-always" : "allow-once";
}

function isRequest(value: unknown): value is Request {
  return typeof value === "function";
}
