import type { ApprovalRequest } from "../../../calls/ask/request.ts";
import { nameAccount } from "../../../calls/call-queue.ts";
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
import { mayAskForApproval } from "./ask-host.ts";
import type { AskState } from "./ask-state.ts";
import { createCallId, describeMissing, nameCall } from "./decisions.ts";
import { findCardWait, isNobodys, isOfSubagent, keepWaiting } from "./human-channel.ts";
import { loadShownText, type ShowsWhole } from "./shown-text.ts";

/** Parts of the host the gate uses. */
export type GateHost = Pick<SvcHost, "places" | "settings" | "openAccount" | "log" | "wakeAgent"> & AskState;

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
  if (run !== undefined && isUnattended(context)) decisions.markUnattended(call);
  const { agentId, sessionKey, sessionId, abortSignal: signal } = context;
  try {
    const account = await host.openAccount({ agentId, sessionKey, sessionId });
    const target = findTarget(host, account, event);
    if (target === undefined) return undefined;
    const turn = account.session.takeTurn();
    decisions.place(call, turn.number);
    // Planned as far as possible now; a bad call is explained when it runs.
    const asked = { ...target, callId: createCallId(context, toolCallId, run), signal };
    // The cards come in the order in which the calls were made.
    const planning = account.session.prepare(asked).then((planned) => turn.waitToAsk(signal).then(() => planned));
    const question = await planning.finally(() => turn.leave());
    if (question.kind === "none") return undefined;
    // Before a released call is taken, too: it counts once.
    const obstacle = await account.findObstacle(signal);
    if (obstacle !== undefined) return { block: true, blockReason: describeObstacle(obstacle) };
    if (question.kind !== "approval" || waitingCalls.isDecided(question.request.fingerprint)) return undefined;
    const { request } = question;
    const hold = () => {
      const again = account.session.takeTurn(turn.number);
      again.reserve(nameAccount(request.integration, request.connection));
      decisions.hold(call, again);
    };
    const refusal = decisions.findRefusal(run, request.fingerprint);
    if (refusal === "denied" || refusal === "timeout") return { block: true, blockReason: describeMissing(refusal) };
    // Asked while it runs: there the model can be told how a human releases it.
    if (refusal === "no_route" || refusal === "unread" || !(await canShowCard(run, context))) return undefined;
    return { requireApproval: createApproval(host, { request, call, context, shows: await loadShownText(), hold }) };
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
 * The host refuses cards of runs that no message has started (cron, hooks, heartbeats, its command line), of subagents, of
 * the run that reads what a subagent has found, and of whoever may not ask for approvals: a client of the gateway with
 * fewer rights, or the run that goes on by itself after a restart. Requests over HTTP have no run and may show cards.
 */
async function canShowCard(run: string | undefined, context: HostToolCallContext): Promise<boolean> {
  if (run === undefined) return true;
  const isOfPerson = context.requester?.channel !== undefined && !isUnattended(context);
  return isOfPerson && !isOfSubagent(run, context) && mayAskForApproval();
}

/** What the host calls its own page, its terminal and its apps; for the first two it names no sender. */
const OWN_SCREENS = "webchat";

/** A run that has a chat to answer to and nobody who wrote there. */
function isUnattended({ requester, sessionKey }: HostToolCallContext): boolean {
  const { channel, senderId } = requester ?? {};
  if (channel === OWN_SCREENS) return isNobodys(sessionKey);
  return channel !== undefined && senderId === undefined;
}

interface Question {
  readonly request: ApprovalRequest;
  readonly call: string;
  readonly context: HostToolCallContext;
  readonly shows: ShowsWhole;
  /** Keeps the call's turn until the host makes it. */
  readonly hold: () => void;
}

function createApproval(host: GateHost, { request, call, context, shows, hold }: Question): HostApproval {
  const { decisions, cards, settings } = host;
  const { fingerprint } = request;
  const timeoutMs = findCardWait(settings());
  const { card, isComplete } = createHostCard(request, cards.add(request, timeoutMs), shows);
  const onResolution = (decision: HostApprovalResolution) => {
    switch (decision) {
      case "allow-once":
      case "allow-always":
        // A yes to a part does not count: the call itself asks again.
        if (!isComplete && !cards.wasRead(fingerprint)) return decisions.markUnread(call);
        hold();
        return decisions.record(call, fingerprint, decision);
      case "deny":
        return decisions.refuse(call, fingerprint, "denied");
      case "timeout":
        return decisions.refuse(call, fingerprint, "timeout");
      case "cancelled":
        if (context.abortSignal?.aborted === true) return;
        decisions.refuse(call, fingerprint, "no_route");
        keepWaiting(host, context, request);
    }
  };
  return {
    ...card,
    timeoutMs,
    timeoutReason: describeMissing("timeout"),
    onResolution,
  };
}
