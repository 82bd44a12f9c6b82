import { type CommandAnswer, refuse } from "./command-answer.ts";
import { CHAT, type CommandForm } from "./command-form.ts";
import { listRules, revokeRules } from "./rule-commands.ts";
import type { SvcHost } from "./svc-host.ts";
import { decideTicket, listTickets, showTicket } from "./ticket-commands.ts";

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
      return listTickets((await host.openBooks()).tickets, { form });
    case "show":
      return showTicket(await host.openBooks(), first, form);
    case "approve":
      if (second !== undefined && second !== "always") {
        return refuse('After the code only "always" may stand: this and all later calls of the tool on this account.');
      }
      return decideTicket((await host.openBooks()).tickets, first, second === "always" ? "always" : "approve", form);
    case "decline":
      return decideTicket((await host.openBooks()).tickets, first, "decline", form);
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
  const { session } = await host.openDesk(undefined);
  return verb === undefined ? listRules(session, form) : revokeRules(session, which, form);
}
