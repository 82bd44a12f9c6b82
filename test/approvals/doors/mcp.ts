import { connectHere } from "../../plugin/runtimes/mcp/mcp-client.ts";
import { type Door, ENDS_WITH_PROCESS, EXPIRES_AFTER_MS } from "../door.ts";
import { openWaitingDoor } from "./open-questions.ts";

/** `svc mcp` with a client that shows forms: a question ends with the server that asked it. */
export const MCP: Door = {
  name: "svc mcp",
  canEdit: false,
  hasModel: false,
  outlives: false,
  expiresAfterMs: EXPIRES_AFTER_MS,
  cannot: ENDS_WITH_PROCESS,
  open: ({ home, baseUrl: url, apiKey, idempotencyKeys, now }) =>
    openWaitingDoor(async (ask) => {
      const client = await connectHere(
        home,
        { url, apiKey },
        {
          session: { ...(idempotencyKeys && { idempotencyKeys }), ...(now && { now }) },
          human: async ({ message }) =>
            (await ask(message)) === "approve"
              ? { action: "accept", content: { approve: true } }
              : { action: "decline" },
        },
      );
      return {
        call: async ({ name, args }) => JSON.stringify(await client.call(name, args)),
        sent: () => client.lines.sent,
        /** The messages of the client as they were, also those that hold a yes. */
        async sendAgain(sent) {
          for (const line of sent) await client.lines.repeat(line);
        },
        close: () => client.close(),
      };
    }),
};
