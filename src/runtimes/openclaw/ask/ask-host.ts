import { isRecord } from "../../../base/json.ts";
import type { HostApprovalResolution, HostToolContext } from "../host/host-tool.ts";
import { loadSdk, type SdkModule } from "../host/load-sdk.ts";

import type { HostCard } from "./approval-card.ts";

/** A question with fixed answers, in the host's own form. */
export interface HostQuestion {
  /** Lower-case letters, digits and `_`, beginning with a letter. */
  readonly id: string;
  /** At most 12 characters. */
  readonly header: string;
  readonly question: string;
  /** A page to open beside answering; http or https. */
  readonly url?: string;
  /** 2 to 4, no label twice whatever its letter case. */
  readonly options: readonly { readonly label: string; readonly description?: string }[];
  /** True when another answer may be typed. */
  readonly isOther?: boolean;
}

/** Where and how long a question is asked. */
interface QuestionFrame {
  readonly context: Pick<HostToolContext, "agentId" | "sessionKey" | "delivery">;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Answers by question id. Undefined when nobody answered in time or could be asked. */
export type Answers = ReadonlyMap<string, string> | undefined;

type Ask = (params: unknown) => Promise<unknown>;

/** The host takes one question of a conversation at a time. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Asks up to three questions at once in the conversation of a call. The host's function for it is not promised to
 * plugins: where it is missing or fails, there is no answer. Ends without one as soon as the signal fires; the host then
 * takes the question back.
 */
export async function askQuestion(
  questions: readonly HostQuestion[],
  frame: QuestionFrame,
  load: (subpath: string) => Promise<SdkModule | undefined> = loadSdk,
): Promise<Answers> {
  const { sessionKey } = frame.context;
  const ask = (await load("agent-harness-runtime"))?.runAgentHarnessGatewayQuestion;
  if (!isAsk(ask) || sessionKey === undefined) return undefined;
  const before = turns.get(sessionKey) ?? Promise.resolve();
  const turn = before.then(() => put(ask, questions, sessionKey, frame)).catch(() => undefined);
  turns.set(sessionKey, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(sessionKey) === turn) turns.delete(sessionKey);
  }
}

async function put(
  ask: Ask,
  questions: readonly HostQuestion[],
  sessionKey: string,
  { context, timeoutMs, signal }: QuestionFrame,
): Promise<Answers> {
  if (signal.aborted) return undefined;
  const { agentId, delivery } = context;
  const result = await ask({
    questions,
    sessionKey,
    ...(agentId === undefined ? {} : { agentId }),
    timeoutMs,
    // Clients of the gateway see the question by themselves; a chat app is sent its text.
    delivery: delivery === undefined ? {} : { onBlockReply: (reply: unknown) => sendText(delivery, reply) },
    signal,
  });
  return readAnswers(result);
}

async function sendText(delivery: NonNullable<HostToolContext["delivery"]>, reply: unknown): Promise<void> {
  const text = readField(reply, "text");
  if (typeof text === "string") await delivery.send({ text });
}

function readAnswers(result: unknown): Answers {
  const answers = readField(readField(result, "answers"), "answers");
  if (readField(result, "status") !== "answered" || typeof answers !== "object" || answers === null) return undefined;
  const given = new Map<string, string>();
  for (const [id, texts] of Object.entries(answers)) {
    const first: unknown = Array.isArray(texts) ? texts[0] : undefined;
    if (typeof first === "string") given.set(id, first);
  }
  return given;
}

function readField(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function isAsk(value: unknown): value is Ask {
  return typeof value === "function";
}

/** How a card that a running call put up was answered. `no_route`: nobody could be asked. */
type DeferredAnswer = "allow-once" | "allow-always" | "denied" | "timeout" | "no_route";

/** A card for a call that is running already. */
interface DeferredQuestion {
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
