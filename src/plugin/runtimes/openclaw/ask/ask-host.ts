import { createTurns } from "../../../../shared/base/concurrency.ts";
import { isRecord } from "../../../../shared/base/json.ts";
import type { ConnectionChoice } from "../../../calls/outcome.ts";
import type { ConnectionAnswer, ConnectionQuestion, ConnectLink } from "../../../calls/pipeline.ts";
import type { HostApprovalResolution, HostToolContext } from "../host/host-tool.ts";
import { type LoadSdk, loadSdk } from "../host/load-sdk.ts";
import { type HostCard, shorten, toCardText } from "./approval-card.ts";

/** A function of the host that is not promised to plugins; undefined where it is missing. */
async function loadFunction(name: string, load: LoadSdk): Promise<((params: unknown) => Promise<unknown>) | undefined> {
  const found = (await load("agent-harness-runtime"))?.[name];
  return typeof found === "function" ? async (params) => found(params) : undefined;
}

const PROBE_MS = 5_000;

/** False where the run that calls may not ask for approvals; the host tells it only when it is asked for them. */
export async function mayAskForApproval(load: LoadSdk = loadSdk): Promise<boolean> {
  const { callGatewayTool: call } = (await load("agent-harness-runtime")) ?? {};
  if (typeof call !== "function") return true;
  try {
    await call("plugin.approval.list", { timeoutMs: PROBE_MS }, {});
    return true;
  } catch {
    return false;
  }
}

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

/** The host takes one question of a conversation at a time. */
const takeTurn = createTurns();

/**
 * Asks a question in the conversation of a call. Undefined when nobody answered in time, or the host's function for it
 * is missing or fails. Ends without an answer as soon as the signal fires; the host then takes the question back.
 */
export async function askQuestion(
  question: HostQuestion,
  { context, timeoutMs, signal }: { context: HostToolContext; timeoutMs: number; signal: AbortSignal },
  load: LoadSdk = loadSdk,
): Promise<string | undefined> {
  const ask = await loadFunction("runAgentHarnessGatewayQuestion", load);
  const { agentId, sessionKey, delivery } = context;
  if (ask === undefined || sessionKey === undefined) return undefined;
  const put = async () => {
    if (signal.aborted) return undefined;
    const result = await ask({
      questions: [question],
      sessionKey,
      ...(agentId === undefined ? {} : { agentId }),
      timeoutMs,
      // Clients of the gateway see the question by themselves; a chat app is sent its text.
      delivery: delivery === undefined ? {} : { onBlockReply: (reply: unknown) => sendText(delivery, reply) },
      signal,
    });
    return readAnswer(result, question.id);
  };
  return takeTurn(sessionKey, put).catch(() => undefined);
}

async function sendText(delivery: NonNullable<HostToolContext["delivery"]>, reply: unknown): Promise<void> {
  if (isRecord(reply) && typeof reply.text === "string") await delivery.send({ text: reply.text });
}

function readAnswer(result: unknown, id: string): string | undefined {
  if (!isRecord(result) || result.status !== "answered" || !isRecord(result.answers)) return undefined;
  const { answers } = result.answers;
  const texts = isRecord(answers) ? answers[id] : undefined;
  const first: unknown = Array.isArray(texts) ? texts[0] : undefined;
  return typeof first === "string" ? first : undefined;
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

/**
 * Puts a card before a human from inside a running call. Where the host's function for it is missing, or answers in a
 * way that is not understood, nobody was asked. Rejects with the signal's reason when it fires.
 */
export async function askDeferred(question: DeferredQuestion, load: LoadSdk = loadSdk): Promise<DeferredAnswer> {
  const request = await loadFunction("requestDeferredPluginToolApproval", load);
  if (request === undefined) return "no_route";
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
  const result = await request({ deferredApproval, signal }).catch(() => undefined);
  signal.throwIfAborted();
  return readResolution(result, resolution, card);
}

/** Both ways the host tells of the decision must agree before anything counts as approved. */
function readResolution(
  result: unknown,
  resolution: HostApprovalResolution | undefined,
  { allowedDecisions }: HostCard,
): DeferredAnswer {
  if (resolution === "deny") return "denied";
  if (resolution === "timeout") return "timeout";
  const offered = allowedDecisions?.find((decision) => decision === resolution);
  const isApproved = isRecord(result) && result.blocked === false;
  return isApproved && (offered === "allow-once" || offered === "allow-always") ? offered : "no_route";
}

const ONCE = "this call only";
const ALWAYS = "from now on";
/** The host shows at most four answers. */
const MOST = 4;

/**
 * Asks for the account and whether to remember it, in one question: typed answers to several are hard to get right. Two
 * accounts fit its four answers both ways. Of more the choice counts for the call, and for good when that is typed.
 * `read` gives undefined when no account was named.
 */
export function createAccountQuestion({ toolName, integration, choices }: ConnectionQuestion): {
  readonly question: HostQuestion;
  read(said: string): ConnectionAnswer | undefined;
} {
  const named = nameChoices(choices);
  const ask = `Which ${toCardText(integration)} account should ${toCardText(toolName)} use?`;
  if (named.length <= 2) {
    const answers = named.flatMap(({ id, name }) => [
      { label: `${name}: ${ONCE}`, answer: { id, remember: false } },
      { label: `${name}: ${ALWAYS}`, answer: { id, remember: true } },
    ]);
    const options = answers.map(({ label }) => ({ label }));
    return {
      question: { id: "account", header: "Account", question: ask, options },
      read: (said) => answers.find(({ label }) => isSame(label, said))?.answer,
    };
  }
  const hidden = named.slice(MOST).map(({ name }) => name);
  const others = hidden.length === 0 ? "" : ` Others, to be typed: ${hidden.join(" | ")}.`;
  const question = `${ask}${others} It counts for ${ONCE}; type its name with "${ALWAYS}" to keep it.`;
  const options = named.slice(0, MOST).map(({ name }) => ({ label: name }));
  const find = (text: string) => named.find(({ id, name }) => isSame(name, text) || isSame(id, text));
  return {
    question: { id: "account", header: "Account", question, options, isOther: true },
    read(said) {
      const whole = find(said);
      const found = whole ?? find(said.trim().replace(/[\s:,]*from now on$/i, ""));
      return found && { id: found.id, remember: whole === undefined };
    },
  };
}

/** The default first, and no two names alike: the host refuses equal answers. */
function nameChoices(choices: readonly ConnectionChoice[]) {
  const named = [...choices]
    .sort((a, b) => Number(b.isDefault === true) - Number(a.isDefault === true))
    .map(({ id, label }) => ({ id, name: shorten(toCardText(label).trim(), 60) }));
  return named.map(({ id, name }) => {
    const isUnique = name !== "" && named.filter((other) => isSame(other.name, name)).length === 1;
    return { id, name: isUnique ? name : `${name} (${toCardText(id)})`.trim() };
  });
}

function isSame(text: string, said: string): boolean {
  return text.toLowerCase() === said.trim().toLowerCase();
}

/** The answer that says: done, go on. */
export const CONNECTED = "I have connected it";

/** Shows a human where to connect an app. The link is in the text too, for chats without buttons. */
export function createConnectQuestion({ toolName, integration, url, isReconnect }: ConnectLink): HostQuestion {
  const app = toCardText(integration);
  const need = isReconnect ? `${app} must be signed in to again` : `${app} is not connected`;
  return {
    id: "connect",
    header: "Connect",
    question: `${need}; ${toCardText(toolName)} waits for it. Open ${url} - it goes on by itself when you are done.`,
    url,
    options: [{ label: CONNECTED }, { label: "Not now" }],
  };
}
