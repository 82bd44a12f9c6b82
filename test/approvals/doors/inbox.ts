import { setImmediate } from "node:timers/promises";
import { createToolSession } from "../../../src/index.ts";
import { type Answer, type Door, ENDS_WITH_PROCESS, HOLDS_CALLS, toSettings } from "../door.ts";
import { openWaitingDoor } from "./open-questions.ts";
import { answerInInbox, openOwnerBrowser } from "./owner-browser.ts";

/** A service that holds each call for its owner, who opens the call's page in a browser and presses a button. */
export const INBOX: Door = {
  name: "inbox",
  ...HOLDS_CALLS,
  canEdit: true,
  hasModel: false,
  outlives: false,
  approvals: "owner",
  cannot: {
    ...HOLDS_CALLS.cannot,
    ...ENDS_WITH_PROCESS,
    "a file that has changed since": "The service holds the bytes that it shows: the file that is sent is another one.",
    "a file as a line of the card": "The page shows the file itself, with its digest.",
  },
  open: (host) =>
    openWaitingDoor(async (ask) => {
      const owner = await openOwnerBrowser(host);
      const decided = new Set<string>();
      const pressed: [string, Answer][] = [];
      const chosen: [string, Answer][] = [];
      /** What is answered at the same time is one press. */
      const answer = async (named: string, said: Answer) => {
        chosen.push([named, said]);
        await setImmediate();
        const all = chosen.splice(0);
        pressed.push(...all);
        await answerInInbox(owner, all);
      };
      const decide = async (id: string, isAgain: boolean) => {
        // The same call is told of again when it goes on waiting, and when it waits anew.
        if (decided.has(id) && !isAgain) return;
        decided.add(id);
        const { shown, named } = await owner.read(id);
        await answer(named, await ask(shown));
      };
      const session = await createToolSession({
        ...toSettings(host),
        approve: "owner",
        onEvent: (event) => {
          if (event.type === "awaiting_owner") void decide(event.approvalId, event.reason !== undefined);
        },
      });
      return {
        call: async ({ id: callId, name, args }) =>
          JSON.stringify(await session.call({ callId, toolName: name, arguments: args })),
        sent: () => pressed.map((one) => JSON.stringify(one)),
        /** The forms that were sent, once more. */
        async sendAgain(sent) {
          const forms = sent.map((one) => JSON.parse(one) as [string, Answer]);
          for (const form of forms) await answerInInbox(owner, [form]).catch(() => undefined);
        },
        close: () => session.close(),
      };
    }),
};
