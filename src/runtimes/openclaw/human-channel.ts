import type { ApprovalDecision, ApprovalRequest, Approver } from "../../approvals/request.ts";
import type { ConnectPresenter } from "../../tools/await-connection.ts";
import type { ToolOutcome } from "../../tools/outcome.ts";
import type { ConnectionChooser } from "../../tools/pipeline.ts";
import { createAccountQuestion } from "./account-question.ts";
import { createHostCard } from "./approval-card.ts";
import { askDeferred } from "./ask-deferred.ts";
import { type Answers, askQuestion, type HostQuestion } from "./ask-question.ts";
import type { Books } from "./books.ts";
import { CONNECTED, createConnectQuestion } from "./connect-question.ts";
import { nameCall, type Refusal } from "./decision-book.ts";
import { explainMissing } from "./explain-missing.ts";
import type { HostToolContext } from "./host-tool.ts";
import type { SdkModule } from "./load-sdk.ts";
import type { SvcHost } from "./svc-host.ts";
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
export type ChannelHost = Pick<SvcHost, "settings" | "log"> & Books;

/** Replaced in tests. */
export interface ChannelOptions {
  readonly loadSdk?: ((subpath: string) => Promise<SdkModule | undefined>) | undefined;
}

/**
 * The channel of the call the host knows as `toolCallId`, for `session.call` and flow tools. An approval is looked for in
 * the card the human has just answered, then among released tickets; then the host is asked; without anybody to ask a
 * ticket is opened.
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
        approval: missing === "no_route" ? findWaiting(host, asked) : undefined,
      };
    },
  };
}

/** The request as it waits: as long as its ticket; undefined when none could be opened. */
function findWaiting({ tickets }: ChannelHost, request: ApprovalRequest | undefined): ApprovalRequest | undefined {
  const ticket = tickets.list().find((one) => one.request.fingerprint === request?.fingerprint);
  return request && ticket && { ...request, expiresAt: new Date(ticket.expiresAt).toISOString() };
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
  const released = host.tickets.take(fingerprint);
  if (released === "decline") return { type: "decline", ...bind(request) };
  if (released !== undefined) return approve(request, released === "always");
  return taken === undefined ? undefined : "changed";
}

/** Asks now; where nobody can be asked a ticket is opened. */
async function askHost(
  { host, context, toolCallId, options }: ChannelCall,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<ApprovalDecision | Refusal> {
  const answer = isUnattended(context)
    ? "no_route"
    : await askDeferred(
        {
          card: createHostCard(request, host.cards.add(request)),
          timeoutMs: findApprovalWait(host.settings(), context),
          toolName: request.tool,
          toolCallId,
          context,
          signal,
        },
        options.loadSdk,
      );
  if (answer === "allow-once" || answer === "allow-always") return approve(request, answer === "allow-always");
  if (answer === "no_route" && host.tickets.open(request) === undefined) {
    host.log.warn("Too many calls wait for approval, no further one is kept: see them with /svc pending.");
  }
  return answer;
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
