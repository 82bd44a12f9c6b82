import { createApprovalCard } from "../../../calls/ask/card.ts";
import { toPlainText } from "../../../wire/plain-text.ts";
import type { ShownCards } from "../ask/shown-cards.ts";
import type { WaitingCall, WaitingCalls, WaitingDecision } from "../ask/waiting-calls.ts";
import { answer, CHAT, type CommandAnswer, type CommandForm, refuse } from "./command-answer.ts";

/** The calls that wait for a human, one line each. */
export function listWaitingCalls(
  waitingCalls: WaitingCalls,
  { form = CHAT, now = Date.now() }: { readonly form?: CommandForm; readonly now?: number } = {},
): CommandAnswer {
  const open = waitingCalls.list().filter(({ state }) => state === "open");
  const data = open.map((waitingCall) => describe(waitingCall));
  if (open.length === 0) return answer("No call waits for approval.", data);
  const lines = open.map(({ code, request, expiresAt }) => {
    const minutes = Math.max(1, Math.ceil((expiresAt - now) / 60_000));
    return `${code}  ${request.effect.padEnd(7)}  ${toPlainText(request.title, { max: 60 })} (${minutes} min left)`;
  });
  return answer(
    [...lines, `See one whole: ${form} show CODE. Decide: ${form} approve CODE, ${form} decline CODE.`].join("\n"),
    data,
  );
}

/** Where calls wait, and what was shown of them. */
type WaitingState = { readonly waitingCalls: WaitingCalls; readonly cards: ShownCards };

/** Everything about one call: a waiting one by its code, or one whose card was shown cut by the code on the card. */
export function showWaitingCall(
  { waitingCalls, cards }: WaitingState,
  code: string | undefined,
  form: CommandForm = CHAT,
): CommandAnswer {
  if (code === undefined) return unknownCode(code, form);
  const waitingCall = waitingCalls.find(code);
  const request = waitingCall?.request ?? cards.find(code);
  if (request === undefined) return unknownCode(code, form);
  const expiresAt = waitingCall === undefined ? request.expiresAt : new Date(waitingCall.expiresAt).toISOString();
  cards.markRead(request.fingerprint);
  const lines = createApprovalCard(
    { ...request, expiresAt },
    { maxRows: Number.POSITIVE_INFINITY, isMarkdown: form === CHAT },
  );
  const next =
    waitingCall &&
    `${waitingCall.state === "open" ? "Decide" : `It is ${waitingCall.state}`}: ${describeWays(waitingCall, form)}`;
  return answer([...lines, ...(next === undefined ? [] : [next])].join("\n"), {
    ...(waitingCall === undefined ? {} : describe(waitingCall)),
    request,
  });
}

function describeWays({ state, code }: WaitingCall, form: CommandForm): string {
  if (state !== "open") return "the same call is let through or refused once.";
  return `${form} approve ${code}, ${form} decline ${code}.`;
}

/** A human's decision on a waiting call. A yes to one that was not shown whole shows it instead. */
export function decideWaitingCall(
  { waitingCalls, cards }: WaitingState,
  code: string | undefined,
  decision: WaitingDecision,
  form: CommandForm = CHAT,
): CommandAnswer {
  if (code === undefined) return unknownCode(code, form);
  const open = waitingCalls.find(code);
  if (decision !== "decline" && open?.state === "open" && !cards.wasRead(open.request.fingerprint)) {
    const { text } = showWaitingCall({ waitingCalls, cards }, code, form);
    return refuse(`Not approved yet: read it first, then send the same command again.\n${text}`);
  }
  const verdict = waitingCalls.decide(code, decision);
  if (!verdict.ok) return refuse(verdict.message);
  const { waitingCall } = verdict;
  return answer(describeDecision(waitingCall, decision), describe(waitingCall));
}

function describeDecision({ request }: WaitingCall, decision: WaitingDecision): string {
  const title = toPlainText(request.title, { max: 80 });
  if (decision === "decline") return `Declined: ${title}. Nothing is sent.`;
  const next = "Tell the agent to go on: the same call is let through";
  if (decision === "approve") return `Approved: ${title}. ${next} once, a changed one is asked about again.`;
  const account = toPlainText(request.account ?? request.connection ?? "this account", { max: 80 });
  return `Approved for good: ${title}. ${next}, and from then on every call of ${request.tool} on ${account}.`;
}

function describe({ code, request, state, expiresAt }: WaitingCall) {
  const { tool, integration, effect, title, account, connection } = request;
  return {
    code,
    state,
    tool,
    integration,
    effect,
    title,
    account: account ?? null,
    connection: connection ?? null,
    expiresAt: new Date(expiresAt).toISOString(),
  };
}

function unknownCode(code: string | undefined, form: CommandForm): CommandAnswer {
  if (code === undefined) return refuse(`Which one? Give its code: ${form} pending lists them.`);
  return refuse(
    `No call waits under this code. Codes expire, and end when the gateway restarts: ${form} pending lists them.`,
  );
}
