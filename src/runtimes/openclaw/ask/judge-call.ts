import type { ApprovalRequest } from "../../../calls/ask/request.ts";
import type { ToolCall } from "../../../calls/pipeline.ts";
import { fitsSchema } from "../../../calls/steps/check.ts";
import { readActions } from "../actions/actions-file.ts";
import type {
  HostApproval,
  HostApprovalResolution,
  HostToolCallContext,
  HostToolCallEvent,
  HostToolCallVerdict,
} from "../host/host-tool.ts";
import { type AccountSession, describeObstacle } from "../setup/account-session.ts";
import type { SvcHost } from "../svc-host.ts";
import { createHostCard } from "./approval-card.ts";
import type { AskState } from "./ask-state.ts";
import { createCallId, describeMissing, nameCall } from "./decisions.ts";
import { findCardWait } from "./human-channel.ts";

/** Parts of the host the gate uses. */
export type GateHost = Pick<SvcHost, "places" | "settings" | "openAccount" | "log"> & AskState;

/**
 * Tells the host what to do with a call: show a card, block a call that a human has just refused or whose yes would be
 * wasted on a service that is away or refuses the key, or nothing. Nothing is not a yes: the call itself asks for a
 * missing approval.
 */
export async function judgeCall(
  host: GateHost,
  event: HostToolCallEvent,
  context: HostToolCallContext,
): Promise<HostToolCallVerdict | undefined> {
  const { decisions, waitingCalls } = host;
  const toolCallId = event.toolCallId ?? context.toolCallId;
  if (toolCallId === undefined) return undefined;
  const call = nameCall(context, toolCallId);
  const run = event.runId ?? context.runId;
  decisions.enter(call, run);
  const { agentId, sessionKey, sessionId, abortSignal: signal } = context;
  try {
    const account = await host.openAccount({ agentId, sessionKey, sessionId });
    const target = findTarget(host, account, event);
    if (target === undefined) return undefined;
    // Planned as far as possible now; a bad call is explained when it runs.
    const question = await account.session.prepare({
      ...target,
      callId: createCallId(context, toolCallId, run),
      signal,
    });
    if (question.kind === "none") return undefined;
    // Before a released call is taken, too: it counts once.
    const obstacle = await account.findObstacle(signal);
    if (obstacle !== undefined) return { block: true, blockReason: describeObstacle(obstacle) };
    if (question.kind !== "approval" || waitingCalls.isDecided(question.request.fingerprint)) return undefined;
    const { request } = question;
    const refusal = decisions.findRefusal(run, request.fingerprint);
    if (refusal === "denied" || refusal === "timeout") return { block: true, blockReason: describeMissing(refusal) };
    // Asked while it runs: there the model can be told how a human releases it.
    if (refusal === "no_route" || refusal === "unread" || !canShowCard(run, context)) return undefined;
    return { requireApproval: createApproval(host, request, call, signal) };
  } catch (error) {
    host.log.warn(`The card of a call could not be made: ${error instanceof Error ? error.message : "?"}`);
    return undefined;
  }
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
  // The host checks them after the card, where a yes would be thrown away.
  if (!fitsSchema(action.parameters, params)) return undefined;
  return { toolName: action.toolName, arguments: params };
}

/**
 * The host refuses cards of runs that no chat has started (cron, its command line), of subagents, and of the run that
 * reads what a subagent has found. Requests over HTTP have no run and may show cards.
 */
function canShowCard(run: string | undefined, { requester, sessionKey = "" }: HostToolCallContext): boolean {
  if (run === undefined) return true;
  return requester?.channel !== undefined && !isSubagent(sessionKey) && !run.startsWith("announce:");
}

const isSubagent = (sessionKey: string) => /(^|:)subagent:/i.test(sessionKey);

function createApproval(
  { decisions, waitingCalls, cards, settings }: GateHost,
  request: ApprovalRequest,
  call: string,
  signal: AbortSignal | undefined,
): HostApproval {
  const { fingerprint } = request;
  const timeoutMs = findCardWait(settings());
  const { card, isComplete } = createHostCard(request, cards.add(request, timeoutMs));
  const onResolution = (decision: HostApprovalResolution) => {
    switch (decision) {
      case "allow-once":
      case "allow-always":
        // A yes to a part does not count: the call itself asks again.
        if (isComplete || cards.wasRead(fingerprint)) decisions.record(call, fingerprint, decision);
        return;
      case "deny":
        return decisions.refuse(call, fingerprint, "denied");
      case "timeout":
        return decisions.refuse(call, fingerprint, "timeout");
      case "cancelled":
        if (signal?.aborted === true) return;
        decisions.refuse(call, fingerprint, "no_route");
        waitingCalls.open(request);
    }
  };
  return {
    ...card,
    timeoutMs,
    timeoutReason: describeMissing("timeout"),
    onResolution,
  };
}
