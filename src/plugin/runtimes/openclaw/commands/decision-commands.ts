import { sha256Hex } from "../../../../shared/base/hash.ts";
import { isRecord } from "../../../../shared/base/json.ts";
import { fence, IN_FENCE } from "../../../../shared/card/card-layout.ts";
import { drawText } from "../../../../shared/card/card-text.ts";
import { toPlainText } from "../../../../shared/card/plain-text.ts";
import { createApprovalCard, drawUntold } from "../../../calls/ask/card.ts";
import type { ApprovalRequest } from "../../../calls/ask/request.ts";
import type { ToolSession } from "../../../calls/session.ts";
import { redact } from "../../../client/redact.ts";
import { shorten } from "../ask/approval-card.ts";
import type { AskState, WaitingCall, WaitingDecision } from "../ask/ask-state.ts";
import { ASK_SETTINGS, digestSettings } from "../doctor/diagnose-settings.ts";
import { COMMAND_METHOD, type HostGatewayCall } from "../host/host-api.ts";
import { askGateway } from "../host/load-sdk.ts";
import { readEnvironment } from "../setup/read-environment.ts";
import type { SvcHost } from "../svc-host.ts";
import {
  answer,
  answerError,
  askYesNo,
  type CommandAnswer,
  type CommandForm,
  canAsk,
  EXIT,
  type Flags,
  refuse,
  say,
} from "./command-answer.ts";

/**
 * Runs a command that only the running gateway can answer (pending, show, approve, decline, rules) for a human: call it
 * only for a sender who may decide. Undefined for any other word. No tool of the model's leads here.
 */
export async function runDecisionCommand(
  host: SvcHost,
  [name, first, second]: readonly string[],
  form: CommandForm = "/svc",
): Promise<CommandAnswer | undefined> {
  switch (name) {
    case "pending":
      return listWaitingCalls(await host.openAskState(), form);
    case "show":
      return showWaitingCall(await host.openAskState(), first, form);
    case "approve":
      if (second !== undefined && second !== "always") {
        return refuse('After the code only "always" may stand: this and all later calls of the tool on this account.');
      }
      return decideWaitingCall(await host.openAskState(), first, second === "always" ? "always" : "approve", form);
    case "decline":
      return decideWaitingCall(await host.openAskState(), first, "decline", form);
    case "rules": {
      if (first !== undefined && first !== "revoke") return refuse(`Write ${form} rules, or ${form} rules revoke ID.`);
      const { session } = await host.openAccount(undefined);
      return first === undefined ? listRules(session, form) : revokeRules(session, second, form);
    }
    default:
      return undefined;
  }
}

/** The calls that wait for a human, one line each. */
function listWaitingCalls({ waitingCalls }: AskState, form: CommandForm): CommandAnswer {
  const open = waitingCalls.list().filter(({ state }) => state === "open");
  if (open.length === 0) return answer("No call waits for approval.", []);
  const lines = open.map(({ code, request, expiresAt }) => {
    const title = shorten(drawText(request.title, IN_FENCE), 60);
    return `${code}  ${request.effect.padEnd(7)}  ${title}${tellApart(request)} (${formatRest(expiresAt)} left)`;
  });
  const ways = `See one whole: ${form} show CODE. Decide: ${form} approve CODE, ${form} decline CODE.`;
  // A chat renders Markdown and makes links of addresses.
  const shown = form === "/svc" ? fence(lines) : lines;
  return answer([...shown, ways].join("\n"), open.map(describe));
}

/** The beginning of what only this call has: its arguments and files, without what looks like a key. */
function tellApart(request: ApprovalRequest): string {
  const files = request.files.map(({ name }) => drawText(name, IN_FENCE));
  const parts = [...drawUntold(request, IN_FENCE).map(({ line }) => line), ...files];
  return parts.length === 0 ? "" : `: ${shorten(redact(parts.join("; ")), 80)}`;
}

function formatRest(expiresAt: number): string {
  const minutes = Math.max(1, Math.ceil((expiresAt - Date.now()) / 60_000));
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}

/** Everything about one call: a waiting one by its code, or one whose card was shown cut by the code on the card. */
export function showWaitingCall(
  { waitingCalls, cards }: Pick<AskState, "waitingCalls" | "cards">,
  code: string | undefined,
  form: CommandForm = "/svc",
): CommandAnswer {
  const waitingCall = code === undefined ? undefined : waitingCalls.find(code);
  const request = waitingCall?.request ?? (code === undefined ? undefined : cards.find(code));
  if (request === undefined) return unknownCode(code, form);
  const expiresAt = waitingCall === undefined ? request.expiresAt : new Date(waitingCall.expiresAt).toISOString();
  cards.markRead(request.fingerprint);
  const options = { maxRows: Number.POSITIVE_INFINITY, isMarkdown: form === "/svc" };
  const lines = createApprovalCard({ ...request, expiresAt }, options);
  if (waitingCall === undefined) return answer(lines.join("\n"), { request });
  const next =
    waitingCall.state === "open"
      ? `Decide: ${form} approve ${waitingCall.code}, ${form} decline ${waitingCall.code}.`
      : `It is ${waitingCall.state}: the same call is let through or refused once.`;
  return answer([...lines, next].join("\n"), { ...describe(waitingCall), request });
}

/** Decides a waiting call for a human. A yes to a call that was not shown whole shows it instead. */
function decideWaitingCall(
  askState: AskState,
  code: string | undefined,
  decision: WaitingDecision,
  form: CommandForm,
): CommandAnswer {
  if (code === undefined) return unknownCode(code, form);
  const { waitingCalls, cards } = askState;
  const open = waitingCalls.find(code);
  if (decision !== "decline" && open?.state === "open" && !cards.wasRead(open.request.fingerprint)) {
    const { text } = showWaitingCall(askState, code, form);
    return refuse(`Not approved yet: read it first, then send the same command again.\n${text}`);
  }
  const verdict = waitingCalls.decide(code, decision);
  if (!verdict.ok) return refuse(verdict.message);
  return answer(describeDecision(verdict.waitingCall, decision), describe(verdict.waitingCall));
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
  const { tool, integration, effect, title, account = null, connection = null } = request;
  const until = new Date(expiresAt).toISOString();
  return { code, state, tool, integration, effect, title, account, connection, expiresAt: until };
}

function unknownCode(code: string | undefined, form: CommandForm): CommandAnswer {
  if (code === undefined) return refuse(`Which one? Give its code: ${form} pending lists them.`);
  return refuse(
    `No call waits under this code. Codes expire, and end when the gateway restarts: ${form} pending lists them.`,
  );
}

type RuledSession = Pick<ToolSession, "rules" | "principal">;
type Rule = ReturnType<ToolSession["rules"]["list"]>[number];

function listOwnRules({ rules, principal }: RuledSession): readonly Rule[] {
  return rules.list().filter((rule) => rule.principal === principal);
}

/** The calls of this account that no human is asked about any more. */
function listRules(session: RuledSession, form: CommandForm): CommandAnswer {
  const own = listOwnRules(session);
  if (own.length === 0) return answer("Nothing is always allowed: a human is asked about every write.", []);
  const lines = own.map((rule) => {
    const { tool, connection, addedAt } = rule;
    return `${nameRule(rule)}  ${toPlainText(tool)} on connection ${toPlainText(connection)}, since ${addedAt}`;
  });
  return answer(
    [...lines, `Take one back: ${form} rules revoke ID (or its tool name, or all).`].join("\n"),
    own.map((rule) => ({ id: nameRule(rule), tool: rule.tool, connection: rule.connection, addedAt: rule.addedAt })),
  );
}

/** Takes permissions back: by id, by tool name, or `all` of this account. */
async function revokeRules(
  session: RuledSession,
  which: string | undefined,
  form: CommandForm,
): Promise<CommandAnswer> {
  if (which === undefined) return refuse(`Which one? Give its id, its tool name, or all: ${form} rules lists them.`);
  const chosen = listOwnRules(session).filter(
    (rule) => which === "all" || nameRule(rule) === which.toLowerCase() || rule.tool === which,
  );
  if (chosen.length === 0) return refuse(`No permission has this id or tool name: ${form} rules lists them.`);
  for (const rule of chosen) await session.rules.revoke(rule);
  const tools = chosen.map(({ tool }) => toPlainText(tool)).join(", ");
  const revoked = chosen.map(nameRule);
  return answer(`Taken back: ${tools}. A human is asked again from the next call on.`, { revoked });
}

/** Short and stable, so that a list that changed in between revokes nothing else. */
function nameRule({ principal, tool, connection }: Rule): string {
  return sha256Hex(JSON.stringify([principal, tool, connection])).slice(0, 8);
}

/** Answers the method behind `openclaw svc pending|show|approve|decline|rules`; the host has checked the caller's scope. */
export async function runGatewayCommand(host: SvcHost, { params, respond }: HostGatewayCall): Promise<void> {
  const words = Array.isArray(params.words) ? params.words.filter((word) => typeof word === "string") : [];
  if (words[0] === ASK_SETTINGS) return respond(true, answer("", digestSettings(host.registered())));
  const answered = await runDecisionCommand(host, words, "openclaw svc").catch(answerError);
  respond(true, answered ?? refuse("The gateway does not know this command."));
}

/** Commands that only the running gateway can answer: asks it with the rights of an operator who decides. */
export async function decideInGateway(words: readonly string[]): Promise<CommandAnswer> {
  if (isAgentShell()) return refuse("These commands are for a human, not for the agent's own shell.", EXIT.notApproved);
  const asked = await askGateway(COMMAND_METHOD, { words }, "operator.approvals");
  if (asked.ok) return readAnswer(asked.payload);
  if (asked.reason === "unsupported")
    return refuse("This OpenClaw cannot ask its gateway. Use /svc in a chat instead.");
  const why = `The gateway could not be asked (${asked.message}).`;
  return refuse(`${why} Calls wait in a running gateway only: openclaw gateway status`);
}

/** `openclaw svc approve`: shows the call whole and asks. Needs a terminal, so that no script approves by itself. */
export async function approveInTerminal(code: string, { always }: Flags): Promise<CommandAnswer> {
  if (isAgentShell()) return decideInGateway([]);
  if (!canAsk()) return refuse("Approving needs a terminal. In a chat: /svc approve CODE", EXIT.notApproved);
  const shown = await decideInGateway(["show", code]);
  if (shown.exit !== EXIT.ok) return shown;
  say(shown.text);
  const question =
    always === true ? "Approve this and every later call of this tool on this account?" : "Approve this call?";
  if (!(await askYesNo(question))) return { exit: EXIT.notApproved, text: "Not approved; it still waits.", data: null };
  return decideInGateway(always === true ? ["approve", code, "always"] : ["approve", code]);
}

function readAnswer(value: unknown): CommandAnswer {
  const { exit, text, data } = isRecord(value) ? value : {};
  if (typeof exit === "number" && typeof text === "string") return { exit, text, data };
  return refuse("The gateway answered something else: it may run another version of this plugin.");
}

/** The host marks the shells that a model's own commands run in. */
function isAgentShell(): boolean {
  return readEnvironment().variables.OPENCLAW_SHELL === "exec";
}
