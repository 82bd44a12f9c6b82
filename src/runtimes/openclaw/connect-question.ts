import type { ConnectLink } from "../../tools/await-connection.ts";
import type { HostQuestion } from "./ask-question.ts";
import { toCardText } from "./card-text.ts";

/** The answer that says: done, go on. */
export const CONNECTED = "I have connected it";

/** Shows a human where to connect an app. The link stands in the text too, for chats without buttons. */
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
