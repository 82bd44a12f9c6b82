import { askGateway } from "./ask-gateway.ts";
import { askYesNo, canAsk, say } from "./cli-output.ts";
import { type CommandAnswer, EXIT, refuse } from "./command-answer.ts";
import { COMMAND_METHOD } from "./host-names.ts";
import { readEnvironment } from "./read-environment.ts";

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
