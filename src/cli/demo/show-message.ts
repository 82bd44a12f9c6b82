import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { Terminal } from "../terminal.ts";

const SHOWN_CHARACTERS = 600;

/** Prints one message of the agent: what the model calls, what came back, what it says. */
export function showMessage(terminal: Terminal, message: BaseMessage): void {
  if (AIMessage.isInstance(message)) {
    for (const call of message.tool_calls ?? []) {
      terminal.say(`${terminal.style("cyan", "Agent calls")} ${call.name} ${JSON.stringify(call.args)}`);
    }
    if (message.text !== "") terminal.say(`${terminal.style("cyan", "Agent says")} ${message.text}`);
    return;
  }
  if (!ToolMessage.isInstance(message)) return;
  const title =
    message.status === "error" ? terminal.style("yellow", "Result (not done)") : terminal.style("green", "Result");
  const text = message.text.length > SHOWN_CHARACTERS ? `${message.text.slice(0, SHOWN_CHARACTERS)} …` : message.text;
  terminal.say(`${title}\n${text.replaceAll(/^/gm, "  ")}`);
}
