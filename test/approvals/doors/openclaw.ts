import { openApprovalKit, readCard } from "../../runtimes/openclaw/approval-kit.ts";
import type { Door } from "../door.ts";
import { openWaitingDoor } from "./open-questions.ts";

/** The plugin for OpenClaw in a host that is played: its gate before a call, and its card within one. */
export const OPENCLAW: Door = {
  name: "OpenClaw",
  canEdit: false,
  hasModel: false,
  outlives: false,
  expiresAfterMs: undefined,
  open: ({ baseUrl: url, apiKey, media }) =>
    openWaitingDoor(async (ask) => {
      const kit = await openApprovalKit({
        service: { url, apiKey },
        mediaRoots: [media],
        ask: async (card) => ((await ask(readCard(card))) === "approve" ? "allow-once" : "deny"),
      });
      return {
        call: async ({ name, args }) => JSON.stringify(await kit.play({ tool: name, args })),
        close: () => kit.close(),
      };
    }),
};
