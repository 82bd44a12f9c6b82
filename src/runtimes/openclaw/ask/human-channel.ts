import type { ApprovalDecision, ApprovalRequest, Approver } from "../../../calls/ask/request.ts";
import type { ToolOutcome } from "../../../calls/outcome.ts";
import type { ConnectionChooser } from "../../../calls/pipeline.ts";
import type { ConnectPresenter } from "../../../calls/steps/await-connection.ts";
import type { HostToolContext } from "../host/host-tool.ts";
import type { SdkModule } from "../host/load-sdk.ts";
import type { SvcHost } from "../svc-host.ts";
import { createHostCard } from "./approval-card.ts";
import { type Answers, askDeferred, askQuestion, type HostQuestion } from "./ask-host.ts";
import { explainMissing, nameCall, type Refusal } from "./decisions.ts";
import { CONNECTED, createAccountQuestion, createConnectQuestion } from "./questions.ts";
import type { AskState } from "./shown-cards.ts";

import { findApprovalWait, findQuestionWait, isUnattended } from "./wait-limits.ts";

/** One call's way to the human, through whatever the host offers. */
export interface HumanChannel {
  readonly approve: Approver;
  readonly chooseConnection: ConnectionChooser;
  readonly presentConnectLink: ConnectPresenter;
  /** The outcome with what the model must know about an approval that did not come; pass every outcome through it. */
  explain<Outcome extends Pick<ToolOutcome, "status" | "approval">>(outcome: Outcome): Outcome;
}

/** Parts of the host a channel uses. */
export type ChannelHost = Pick<SvcHost, "settings" | "log"> & AskState;

/** Replaced in tests. */
export interface ChannelOptions {
  readonly loadSdk?: ((subpath: string) => Promise<SdkModule | undefined>) | undefined;
}

/**
 * The channel of the call the host knows as `toolCallId`, for `session.call` and flow tools. An approval is looked for in
 * the card the human has just answered, then among released waitingCalls; then the host is asked; without anybody to ask a
 * call is kept waiting.
 */
export function createHumanChannel(
  host: ChannelHost,
  context: HostToolContext,
  toolCallId: string,
  options: ChannelOptions = {},
): HumanChannel {
  const call = { host, context, toolCallId, options };
  let missing: Refusal | undefined;
  let asked: ApprovalRequest | undefined;
  const ask = (questions: readonly HostQuestion[], signal: AbortSignal): Promise<Answers> => {
    if (isUnattended(context)) return Promise.resolve(undefined);
    const timeoutMs = findQuestionWait(host.settings(), context);
    return askQuestion(questions, { context, timeoutMs, signal }, options.loadSdk);
  };
  return {
    async approve(request, { signal }) {
      missing = undefined;
      const given = findGivenDecision(call, request);
      const decision =
        given === "changed"
          ? await askHost(call, addReason(request), signal)
          : (given ?? (await askHost(call, request, signal)));
      if (typeof decision === "object") return decision;
      missing = decision;
      asked = request;
      host.decisions.refuse(nameCall(context, toolCallId), request.fingerprint, decision);
      if (decision === "denied") return { type: "decline", ...bind(request) };
      throw new Error("Nobody has approved this call.");
    },
    async chooseConnection(question, { signal }) {
      const { questions, read } = createAccountQuestion(question);
      const answers = await ask(questions, signal);
      return answers && read(answers);
    },
    async presentConnectLink(link, { signal }) {
      const answers = await ask([createConnectQuestion(link)], signal);
      return answers?.get("connect") === CONNECTED ? "connected" : false;
    },
    explain: (outcome) => {
      if (outcome.status !== "needs_approval" || missing === undefined) return outcome;
      return {
        ...outcome,
        ...explainMissing(missing),
        approval: missing === "no_route" || missing === "unread" ? findWaiting(host, asked) : undefined,
      };
    },
  };
}

/** The request as it waits: as long as its waiting call; undefined when it could not be kept. */
function findWaiting({ waitingCalls }: ChannelHost, request: ApprovalRequest | undefined): ApprovalRequest | undefined {
  const waitingCall = waitingCalls.list().find((one) => one.request.fingerprint === request?.fingerprint);
  return request && waitingCall && { ...request, expiresAt: new Date(waitingCall.expiresAt).toISOString() };
}

interface ChannelCall {
  readonly host: ChannelHost;
  readonly context: HostToolContext;
  readonly toolCallId: string;
  readonly options: ChannelOptions;
}

/** What a human has said already: on the card before the call, or by a command. */
function findGivenDecision(
  { host, context, toolCallId }: ChannelCall,
  request: ApprovalRequest,
): ApprovalDecision | "changed" | undefined {
  const { fingerprint } = request;
  const taken = host.decisions.take(nameCall(context, toolCallId), fingerprint);
  if (taken?.fits === true) return approve(request, taken.decision === "allow-always");
  const released = host.waitingCalls.take(fingerprint);
  if (released === "decline") return { type: "decline", ...bind(request) };
  if (released !== undefined) return approve(request, released === "always");
  return taken === undefined ? undefined : "changed";
}

/** Asks now; where nobody can be asked the call is kept waiting. */
async function askHost(
  { host, context, toolCallId, options }: ChannelCall,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<ApprovalDecision | Refusal> {
  const { card, isComplete } = createHostCard(request, host.cards.add(request));
  const answer = isUnattended(context)
    ? "no_route"
    : await askDeferred(
        {
          card,
          timeoutMs: findApprovalWait(host.settings(), context),
          toolName: request.tool,
          toolCallId,
          context,
          signal,
        },
        options.loadSdk,
      );
  const isYes = answer === "allow-once" || answer === "allow-always";
  if (isYes && (isComplete || host.cards.wasRead(request.fingerprint)))
    return approve(request, answer === "allow-always");
  const refusal = isYes ? "unread" : answer;
  const mustWait = refusal === "no_route" || refusal === "unread";
  if (mustWait && host.waitingCalls.open(request) === undefined) {
    host.log.warn("Too many calls wait for approval, no further one is kept: see them with /svc pending.");
  }
  return refusal;
}

function addReason(request: ApprovalRequest): ApprovalRequest {
  return { ...request, reason: `It has changed since you approved it. ${request.reason}` };
}

function approve(request: ApprovalRequest, always: boolean): ApprovalDecision {
  return { type: "approve", ...bind(request), ...(always ? { always } : {}) };
}

function bind({ id, fingerprint }: ApprovalRequest) {
  return { id, fingerprint };
}
