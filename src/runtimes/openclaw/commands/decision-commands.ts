import { sha256Hex } from "../../../base/hash.ts";
import type { ToolSession } from "../../../calls/session.ts";
import { toPlainText } from "../../../wire/plain-text.ts";
import type { HostGatewayCall } from "../host/host-api.ts";
import { COMMAND_METHOD } from "../host/host-sign-in.ts";
import { askGateway } from "../host/load-sdk.ts";
import { readEnvironment } from "../setup/read-environment.ts";
import type { SvcHost } from "../svc-host.ts";
import { askYesNo, canAsk, say } from "./cli-output.ts";
import {
  answer,
  answerError,
  CHAT,
  type CommandAnswer,
  type CommandForm,
  EXIT,
  refuse,
  TERMINAL,
} from "./command-answer.ts";
import { decideWaitingCall, listWaitingCalls, showWaitingCall } from "./waiting-commands.ts";

/**
 * Runs a command that only the running gateway can answer (pending, show, approve, decline, rules) for a human: call it
 * only for a sender who may decide. Undefined for any other word. No tool of the model's leads here.
 */
export async function runDecisionCommand(
  host: SvcHost,
  words: readonly string[],
  form: CommandForm = CHAT,
): Promise<CommandAnswer | undefined> {
  const [name, first, second] = words;
  switch (name) {
    case "pending":
      return listWaitingCalls((await host.openAskState()).waitingCalls, { form });
    case "show":
      return showWaitingCall(await host.openAskState(), first, form);
    case "approve":
      if (second !== undefined && second !== "always") {
        return refuse('After the code only "always" may stand: this and all later calls of the tool on this account.');
      }
      return decideWaitingCall(await host.openAskState(), first, second === "always" ? "always" : "approve", form);
    case "decline":
      return decideWaitingCall(await host.openAskState(), first, "decline", form);
    case "rules":
      return runRules(host, { verb: first, which: second, form });
    default:
      return undefined;
  }
}

async function runRules(
  host: SvcHost,
  { verb, which, form }: { verb: string | undefined; which: string | undefined; form: CommandForm },
): Promise<CommandAnswer> {
  if (verb !== undefined && verb !== "revoke") return refuse(`Write ${form} rules, or ${form} rules revoke ID.`);
  const { session } = await host.openAccount(undefined);
  return verb === undefined ? listRules(session, form) : revokeRules(session, which, form);
}

/** Answers the method behind `openclaw svc pending|show|approve|decline|rules`; the host has checked the caller's scope. */
export async function runGatewayCommand(host: SvcHost, { params, respond }: HostGatewayCall): Promise<void> {
  const words = Array.isArray(params.words)
    ? params.words.filter((word): word is string => typeof word === "string")
    : [];
  try {
    respond(
      true,
      (await runDecisionCommand(host, words, TERMINAL)) ?? refuse("The gateway does not know this command."),
    );
  } catch (error) {
    respond(true, answerError(error));
  }
}

type Rule = ReturnType<ToolSession["rules"]["list"]>[number];
type RuledSession = Pick<ToolSession, "rules" | "principal">;

/** The calls of this account that no human is asked about any more. */
function listRules({ rules, principal }: RuledSession, form: CommandForm = CHAT): CommandAnswer {
  const own = rules.list().filter((rule) => rule.principal === principal);
  const data = own.map((rule) => ({
    id: nameRule(rule),
    tool: rule.tool,
    connection: rule.connection,
    addedAt: rule.addedAt,
  }));
  if (own.length === 0) return answer("Nothing is always allowed: a human is asked about every write.", data);
  const lines = own.map(
    (rule) =>
      `${nameRule(rule)}  ${toPlainText(rule.tool)} on connection ${toPlainText(rule.connection)}, since ${rule.addedAt}`,
  );
  return answer([...lines, `Take one back: ${form} rules revoke ID (or its tool name, or all).`].join("\n"), data);
}

/** Takes permissions back: by id, by tool name, or `all` of this account. */
async function revokeRules(
  { rules, principal }: RuledSession,
  which: string | undefined,
  form: CommandForm = CHAT,
): Promise<CommandAnswer> {
  if (which === undefined) return refuse(`Which one? Give its id, its tool name, or all: ${form} rules lists them.`);
  const chosen = rules
    .list()
    .filter((rule) => rule.principal === principal)
    .filter((rule) => which === "all" || nameRule(rule) === which.toLowerCase() || rule.tool === which);
  if (chosen.length === 0) return refuse(`No permission has this id or tool name: ${form} rules lists them.`);
  for (const rule of chosen) await rules.revoke(rule);
  const tools = chosen.map(({ tool }) => toPlainText(tool)).join(", ");
  return answer(`Taken back: ${tools}. A human is asked again from the next call on.`, {
    revoked: chosen.map(nameRule),
  });
}

/** Short and stable, so that a list that changed in between revokes nothing else. */
function nameRule({ principal, tool, connection }: Rule): string {
  return sha256Hex(JSON.stringify([principal, tool, connection])).slice(0, 8);
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
export async function approveInTerminal(
  code: string,
  flags: Readonly<Record<string, unknown>>,
): Promise<CommandAnswer> {
  if (isAgentShell()) return decideInGateway([]);
  if (!canAsk()) return refuse("Approving needs a terminal. In a chat: /svc approve CODE", EXIT.notApproved);
  const shown = await decideInGateway(["show", code]);
  if (shown.exit !== EXIT.ok) return shown;
  say(shown.text);
  const always = flags.always === true;
  const question = always ? "Approve this and every later call of this tool on this account?" : "Approve this call?";
  if (!(await askYesNo(question))) return { exit: EXIT.notApproved, text: "Not approved; it still waits.", data: null };
  return decideInGateway(always ? ["approve", code, "always"] : ["approve", code]);
}

function readAnswer(value: unknown): CommandAnswer {
  const { exit, text, data } = typeof value === "object" && value !== null ? (value as Partial<CommandAnswer>) : {};
  if (typeof exit === "number" && typeof text === "string") return { exit, text, data };
  return refuse("The gateway answered something else: it may run another version of this plugin.");
}

/** The host marks the shells that a model's own commands run in. */
function isAgentShell(): boolean {
  return readEnvironment().variables.OPENCLAW_SHELL === "exec";
}
