import type { ApprovalRequest } from "../../../calls/ask/request.ts";
import type { ToolCall } from "../../../calls/pipeline.ts";
import type { OpenQuestion } from "../../../calls/preview-call.ts";
import { readActions } from "../actions/actions-file.ts";
import type {
  HostApproval,
  HostApprovalResolution,
  HostToolCallContext,
  HostToolCallEvent,
  HostToolCallVerdict,
} from "../host/host-tool.ts";
import { type AccountSession, KEY_REFUSED } from "../setup/account-session.ts";
import type { SvcHost } from "../svc-host.ts";
import { createHostCard } from "./approval-card.ts";
import { createCallId, describeMissing, nameCall } from "./decisions.ts";
import type { AskState } from "./shown-cards.ts";

import { findCardWait } from "./wait-limits.ts";

/** Parts of the host the gate uses. */
export type GateHost = Pick<SvcHost, "places" | "settings" | "openAccount" | "log"> & AskState;

/**
 * What the host should do with a call: show a card, block a call that a human has just refused or whose yes would be
 * wasted on a key that is refused, or nothing. Nothing is not a yes: the call itself asks for whatever approval is missing.
 */
export async function judgeCall(
  host: GateHost,
  event: HostToolCallEvent,
  context: HostToolCallContext,
): Promise<HostToolCallVerdict | undefined> {
  const callId = event.toolCallId ?? context.toolCallId;
  if (callId === undefined) return undefined;
  const run = event.runId ?? context.runId;
  host.decisions.enter(nameCall(context, callId), run);
  try {
    const question = await findQuestion(host, event, context, createCallId(context, callId, run));
    // Before a released call is taken, too: it counts once.
    if (question === "key_refused") return { block: true, blockReason: KEY_REFUSED };
    if (question?.kind !== "approval" || host.waitingCalls.isDecided(question.request.fingerprint)) return undefined;
    const { request } = question;
    const refusal = host.decisions.findRefusal(run, request.fingerprint);
    if (refusal === "denied" || refusal === "timeout") return { block: true, blockReason: describeMissing(refusal) };
    // Asked while it runs: there the model can be told how a human releases it.
    if (refusal === "no_route" || refusal === "unread" || !canShowCard(run, context)) return undefined;
    return { requireApproval: createApproval(host, request, nameCall(context, callId), context) };
  } catch (error) {
    host.log.warn(`The card of a call could not be made: ${error instanceof Error ? error.message : "?"}`);
    return undefined;
  }
}

/** What a human is to be asked as far as it is known beforehand; a bad call is told so when it runs. */
async function findQuestion(
  host: GateHost,
  event: HostToolCallEvent,
  context: HostToolCallContext,
  callId: string,
): Promise<OpenQuestion | "key_refused" | undefined> {
  const { agentId, sessionKey, sessionId, abortSignal: signal } = context;
  const account = await host.openAccount({ agentId, sessionKey, sessionId });
  const target = findTarget(host, account, event);
  if (target === undefined) return undefined;
  const open = await account.session.preview({ ...target, callId, signal });
  return open !== undefined && (await account.key.isRefused(signal)) ? "key_refused" : open;
}

function findTarget(
  host: GateHost,
  account: AccountSession,
  { toolName, params }: HostToolCallEvent,
): Pick<ToolCall, "toolName" | "arguments" | "connectionId"> | undefined {
  const tool = account.tools.get(toolName);
  if (tool !== undefined) return "readTarget" in tool ? tool.readTarget(params) : undefined;
  const file = readActions(host.places.actions);
  const action = file?.actions.find(({ name }) => name === toolName);
  if (action === undefined || file?.principal !== account.session.principal) return undefined;
  return { toolName: action.toolName, arguments: params };
}

/**
 * The host refuses cards of runs that no chat has started (cron, its command line). Requests over HTTP have no run and
 * may show cards.
 */
function canShowCard(run: string | undefined, { requester }: HostToolCallContext): boolean {
  return run === undefined || requester?.channel !== undefined;
}

function createApproval(
  host: GateHost,
  request: ApprovalRequest,
  call: string,
  { abortSignal }: HostToolCallContext,
): HostApproval {
  const { fingerprint } = request;
  const { card, isComplete } = createHostCard(request, host.cards.add(request));
  const onResolution = (decision: HostApprovalResolution) => {
    switch (decision) {
      case "allow-once":
      case "allow-always":
        // A yes to a part does not count: the call itself asks again.
        if (!isComplete && !host.cards.wasRead(fingerprint)) return;
        return host.decisions.record(call, fingerprint, decision);
      case "deny":
        return host.decisions.refuse(call, fingerprint, "denied");
      case "timeout":
        return host.decisions.refuse(call, fingerprint, "timeout");
      case "cancelled":
        if (abortSignal?.aborted === true) return;
        host.decisions.refuse(call, fingerprint, "no_route");
        host.waitingCalls.open(request);
    }
  };
  return {
    ...card,
    timeoutMs: findCardWait(host.settings()),
    timeoutReason: describeMissing("timeout"),
    onResolution,
  };
}
