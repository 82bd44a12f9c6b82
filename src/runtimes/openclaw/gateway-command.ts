import { answerError, refuse } from "./command-answer.ts";
import { TERMINAL } from "./command-form.ts";
import { runDecisionCommand } from "./decision-commands.ts";
import type { HostGatewayCall } from "./host-command.ts";
import type { SvcHost } from "./svc-host.ts";

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
