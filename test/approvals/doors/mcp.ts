import { connectHere } from "../../runtimes/mcp/mcp-client.ts";
import type { Door } from "../door.ts";
import { openWaitingDoor } from "./open-questions.ts";

/** `svc mcp` with a client that shows forms: a question ends with the server that asked it. */
export const MCP: Door = {
  name: "svc mcp",
  canEdit: false,
  hasModel: false,
  outlives: false,
  expiresAfterMs: undefined,
  open: ({ home, baseUrl: url, apiKey, idempotencyKeys }) =>
    openWaitingDoor(async (ask) => {
      const client = await connectHere(
        home,
        { url, apiKey },
        {
          session: { ...(idempotencyKeys && { idempotencyKeys }) },
          human: async ({ message }) =>
            (await ask(message)) === "approve"
              ? { action: "accept", content: { approve: true } }
              : { action: "decline" },
        },
      );
      return {
        call: async ({ name, args }) => JSON.stringify(await client.call(name, args)),
        close: () => client.close(),
      };
    }),
};
