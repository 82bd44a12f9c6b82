import { createToolSession } from "../../../src/index.ts";
import type { ApprovalDecision, ApprovalRequest } from "../../../src/plugin/calls/ask/request.ts";
import { openScreen } from "../../hostile/terminal-screen.ts";
import { type Answer, type Door, ENDS_WITH_PROCESS, EXPIRES_AFTER_MS, toSettings } from "../door.ts";
import { type Ask, openWaitingDoor } from "./open-questions.ts";

/** `svc call` and programs that ask in a terminal: a person at a real emulator reads every page, then types. */
export const TERMINAL: Door = {
  name: "terminal",
  canEdit: true,
  hasModel: false,
  outlives: false,
  expiresAfterMs: EXPIRES_AFTER_MS,
  cannot: ENDS_WITH_PROCESS,
  open: (host) =>
    openWaitingDoor(async (ask) => {
      const session = await createToolSession({
        ...toSettings(host),
        approve: (request) => answerOnScreen(request, ask),
      });
      return {
        call: async ({ id: callId, name, args }) =>
          JSON.stringify(await session.call({ callId, toolName: name, arguments: args })),
        close: () => session.close(),
      };
    }),
};

async function answerOnScreen(request: ApprovalRequest, ask: Ask): Promise<ApprovalDecision> {
  const screen = await openScreen(request, { columns: 80, rows: 24 });
  try {
    await screen.type("v");
    while (/^Page \d+ of \d+/m.test(screen.look().slice(-2).join("\n"))) await screen.type("");
    for (const line of toLines(await ask(screen.scrollBack().join("\n")))) await screen.type(line);
    return await screen.decision;
  } finally {
    screen.close();
  }
}

function toLines(answer: Answer): string[] {
  if (typeof answer === "object") return ["e", JSON.stringify(answer.edit), "a"];
  return [answer === "approve" ? "a" : "d"];
}
