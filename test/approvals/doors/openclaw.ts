import type { HostApproval } from "../../../src/plugin/runtimes/openclaw/host/host-tool.ts";
import { openApprovalKit, readCard } from "../../plugin/runtimes/openclaw/approval-kit.ts";
import { type Door, ENDS_WITH_PROCESS } from "../door.ts";
import { openWaitingDoor } from "./open-questions.ts";

/** The plugin for OpenClaw in a host that is played: its gate before a call, and its card within one. */
export const OPENCLAW: Door = {
  name: "OpenClaw",
  canEdit: false,
  hasModel: false,
  outlives: false,
  expiresAfterMs: undefined,
  cannot: {
    ...ENDS_WITH_PROCESS,
    "replay eight days later": "The plugin has the clock of its machine; 10,000 records later its journal forgets too.",
    "a yes that comes too late": "The host ends its cards, and says so: test/plugin/runtimes/openclaw/approvals.",
  },
  open: ({ baseUrl: url, apiKey, media, home: stateDir }) =>
    openWaitingDoor(async (ask) => {
      const allowed: HostApproval[] = [];
      const kit = await openApprovalKit({
        service: { url, apiKey },
        mediaRoots: [media],
        stateDir,
        ask: async (card) => {
          const isYes = (await ask(readCard(card))) === "approve";
          if (isYes) allowed.push(card);
          return isYes ? "allow-once" : "deny";
        },
      });
      return {
        call: async ({ id, name, args }) =>
          JSON.stringify(await kit.play({ tool: name, args, callId: id, runId: `run of ${id}` })),
        sent: () => [],
        /** The host tells of each Allow once more. */
        async sendAgain() {
          for (const card of allowed) await card.onResolution?.("allow-once");
        },
        close: () => kit.close(),
      };
    }),
};
