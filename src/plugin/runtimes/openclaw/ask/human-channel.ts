import { isRecord } from "../../../../shared/base/json.ts";
import type { ApprovalDecision, ApprovalRequest, Approver } from "../../../calls/ask/request.ts";
import type { ToolOutcome } from "../../../calls/outcome.ts";
import type { ConnectionChooser, ConnectPresenter } from "../../../calls/pipeline.ts";
import type { HostToolContext } from "../host/host-tool.ts";
import type { LoadSdk } from "../host/load-sdk.ts";
import type { PluginSettings } from "../setup/plugin-settings.ts";
import type { SvcHost } from "../svc-host.ts";
import { createHostCard } from "./approval-card.ts";
import {
  askDeferred,
  askQuestion,
  CONNECTED,
  createAccountQuestion,
  createConnectQuestion,
  type HostQuestion,
} from "./ask-host.ts";
import type { AskState } from "./ask-state.ts";
import { MISSING_APPROVAL, nameCall, type Refusal } from "./decisions.ts";
import { loadShownText } from "./shown-text.ts";

/** One call's way to the human, through the host's cards and questions. */
export interface HumanChannel {
  readonly approve: Approver;
  readonly chooseConnection: ConnectionChooser;
  readonly presentConnectLink: ConnectPresenter;
  /** Adds to the outcome why an approval did not come, for the model; pass every outcome through it. */
  explain<Outcome extends Pick<ToolOutcome, "status" | "approval">>(outcome: Outcome): Outcome;
}

/** Parts of the host a channel uses. */
export type ChannelHost = Pick<SvcHost, "settings" | "log" | "wakeAgent"> & AskState;

/**
 * The channel of the call the host knows as `toolCallId`, for `session.call` and flow tools. An approval is looked for on
 * the card the human has just answered, then among released calls; then the host is asked; where nobody can be asked the
 * call is kept waiting.
 */
export function createHumanChannel(
  host: ChannelHost,
  context: HostToolContext,
  toolCallId: string,
  { loadSdk: load }: { readonly loadSdk?: LoadSdk } = {},
): HumanChannel {
  const callId = nameCall(context, toolCallId);
  let missing: { readonly why: Refusal; readonly request: ApprovalRequest } | undefined;
  const ask = async (question: HostQuestion, signal: AbortSignal) => {
    if (isNobodys(context.sessionKey) || host.decisions.isUnattended(callId)) return undefined;
    return askQuestion(question, { context, timeoutMs: findQuestionWait(host.settings(), context), signal }, load);
  };
  return {
    async approve(request, { signal, isAgain = false }) {
      missing = undefined;
      const answered = host.decisions.take(callId, request.fingerprint);
      const taken = isAgain ? undefined : answered;
      if (taken !== undefined && taken !== "changed") return approve(request, taken === "allow-always");
      const released = host.waitingCalls.take(request.fingerprint);
      if (released === "decline") return decline(request);
      if (released !== undefined) return approve(request, released === "always");
      const reason = `It has changed since you approved it. ${request.reason}`;
      const answer = await askHost(
        { host, context, toolCallId, load },
        taken === undefined ? request : { ...request, reason },
        signal,
      );
      if (typeof answer === "object") return answer;
      missing = { why: answer, request };
      host.decisions.refuse(callId, request.fingerprint, answer);
      if (answer === "denied") return decline(request);
      throw new Error("Nobody has approved this call.");
    },
    async chooseConnection(asked, { signal }) {
      const { question, read } = createAccountQuestion(asked);
      const said = await ask(question, signal);
      return said === undefined ? undefined : read(said);
    },
    presentConnectLink: async (link, { signal }) =>
      (await ask(createConnectQuestion(link), signal)) === CONNECTED ? "connected" : false,
    explain(outcome) {
      if (outcome.status !== "needs_approval" || missing === undefined) return outcome;
      const { why, request } = missing;
      const approval = why === "no_route" || why === "unread" ? findWaiting(host, request) : undefined;
      return { ...outcome, ...MISSING_APPROVAL[why], retryable: false, approval };
    },
  };
}

/** The request as it waits: as long as its waiting call; undefined when it could not be kept. */
function findWaiting(
  { waitingCalls }: Pick<ChannelHost, "waitingCalls">,
  request: ApprovalRequest,
): ApprovalRequest | undefined {
  const waitingCall = waitingCalls.list().find((one) => one.request.fingerprint === request.fingerprint);
  return waitingCall && { ...request, expiresAt: new Date(waitingCall.expiresAt).toISOString() };
}

/** Asks now; where nobody can be asked the call is kept waiting. */
async function askHost(
  o: { host: ChannelHost; context: HostToolContext; toolCallId: string; load: LoadSdk | undefined },
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<ApprovalDecision | Refusal> {
  const { host, context, toolCallId, load } = o;
  const timeoutMs = findApprovalWait(host.settings(), context);
  const code = host.cards.add(request, timeoutMs);
  const shows = await loadShownText(load);
  const said = host.decisions.wasUnread(nameCall(context, toolCallId)) ? tellUnread(code) : undefined;
  const { card, isComplete } = createHostCard(request, code, shows, said);
  const isAlone = isNobodys(context.sessionKey) || host.decisions.isUnattended(nameCall(context, toolCallId));
  const answer = isAlone
    ? "no_route"
    : await askDeferred({ card, timeoutMs, toolName: request.tool, toolCallId, context, signal }, load);
  const isYes = answer === "allow-once" || answer === "allow-always";
  if (isYes && (isComplete || host.cards.wasRead(request.fingerprint))) {
    return approve(request, answer === "allow-always");
  }
  const refusal = isYes ? "unread" : answer;
  if (refusal === "no_route" || refusal === "unread") {
    const run = host.decisions.findRun(nameCall(context, toolCallId));
    keepWaiting(host, context, request, refusal === "unread" || isOfSubagent(run, context));
  }
  return refusal;
}

const tellUnread = (code: string) => `Your Allow did NOT count: you had not read it. Send /svc show ${code} first.`;

/**
 * Keeps a call that waits for a command, and has the agent's main conversation told of it once. Not told where somebody
 * reads what the run says: whoever has just answered, and the parent of a subagent.
 */
export function keepWaiting(
  host: Pick<ChannelHost, "waitingCalls" | "log" | "wakeAgent">,
  { sessionKey = "", agentId }: Pick<HostToolContext, "sessionKey" | "agentId">,
  request: ApprovalRequest,
  isRead = false,
): void {
  const isKnown = findWaiting(host, request) !== undefined;
  if (host.waitingCalls.open(request) === undefined) {
    host.log.warn("Too many calls wait for approval, no further one is kept: see them with /svc pending.");
  } else if (!isKnown && !isRead) {
    host.wakeAgent(WAITS, agentId ?? /^agent:([^:]+):/.exec(sessionKey)?.[1]);
  }
}

/** The same for every call, so that no text of a model or an app gets into another conversation. */
const WAITS =
  "A call that a run without a person has made with svc waits for the user's approval, and nothing was run. Tell the user so: " +
  '"/svc pending" in a chat with you, or "openclaw svc pending" in a terminal, shows it and how to decide. You cannot approve it.';

function approve({ id, fingerprint }: ApprovalRequest, always: boolean): ApprovalDecision {
  return { type: "approve", id, fingerprint, ...(always ? { always } : {}) };
}

function decline({ id, fingerprint }: ApprovalRequest): ApprovalDecision {
  return { type: "decline", id, fingerprint };
}

/** Facts that the length of a wait inside a call depends on. */
type Waiter = Pick<HostToolContext, "activeModel" | "config" | "runtimeConfig" | "messageChannel" | "sessionKey">;

type WaitSettings = Pick<PluginSettings, "approvalSeconds">;
/** Codex ends a call of ours after 90 seconds, whatever it waits for. */
const CODEX_MS = 75_000;
/** A human who started a run in a terminal or over HTTP has no chat in front of them. */
const AWAY_MS = 60_000;
const DEFAULT_MS = 5 * 60_000;
/** The host's own limit. */
const LONGEST_MS = 10 * 60_000;

/** Milliseconds a card waits for its answer before a call runs: as set, 5 minutes by default, at most 10. */
export function findCardWait({ approvalSeconds }: WaitSettings): number {
  return approvalSeconds === undefined ? DEFAULT_MS : Math.min(approvalSeconds * 1_000, LONGEST_MS);
}

/** Milliseconds a running call may wait for an approval. */
export function findApprovalWait(settings: WaitSettings, context: Waiter): number {
  return Math.min(findCardWait(settings), isCodex(context) ? CODEX_MS : LONGEST_MS);
}

/** Milliseconds a running call may wait for the answer to a question; the host does not say whether anybody sees it. */
export function findQuestionWait(settings: WaitSettings, context: Waiter): number {
  return Math.min(findApprovalWait(settings, context), context.messageChannel === undefined ? AWAY_MS : LONGEST_MS);
}

/** True for the conversation of a run that nobody's message has started. */
export function isNobodys(sessionKey = ""): boolean {
  return /:(cron|heartbeat)(:|$)/.test(sessionKey);
}

/** True in a run of a subagent, and in the one in which its parent reads what it has found. */
export function isOfSubagent(run: string | undefined, { sessionKey = "" }: Pick<HostToolContext, "sessionKey">) {
  return /(^|:)subagent:/i.test(sessionKey) || run?.startsWith("announce:") === true;
}

/** OpenAI's models run in Codex when its plugin is on. */
function isCodex({ activeModel, config, runtimeConfig }: Waiter): boolean {
  const provider = activeModel?.provider ?? "";
  if (/codex/i.test(provider)) return true;
  const read = (value: unknown, name: string) => (isRecord(value) ? value[name] : undefined);
  const codex = ["plugins", "entries", "codex", "enabled"].reduce<unknown>(read, runtimeConfig ?? config);
  return provider === "openai" && codex === true;
}
