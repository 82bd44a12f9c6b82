import { askGateway } from "./ask-gateway.ts";
import type { CliCall } from "./cli-commands.ts";
import { type CommandAnswer, EXIT } from "./command-answer.ts";
import { unpair } from "./unpair-command.ts";

/** `openclaw svc unpair`: a running gateway remembers keys it has read, so it is told to look again. */
export async function unpairInTerminal({ host, api, config }: CliCall): Promise<CommandAnswer> {
  const answer = await unpair(host, api, config);
  if (answer.exit !== EXIT.ok) return answer;
  const told = await askGateway("models.authRefresh", { operation: "logout" }, "operator.admin");
  if (told.ok || isAbsent(told.message)) return answer;
  const text = `${answer.text}\nA running gateway may remember the key (${told.message}): openclaw gateway restart`;
  return { ...answer, text };
}

/** Nothing listens: the gateway is stopped, and reads the store when it starts. */
function isAbsent(message: string): boolean {
  return message.includes("ECONNREFUSED");
}
