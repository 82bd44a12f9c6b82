import { createToolSession } from "../../../src/index.ts";
import type { ContinueAnswer, ContinuedCall, PreparedCall } from "../../../src/plugin/calls/continue.ts";
import { renderOutcome } from "../../../src/plugin/calls/outcome.ts";
import { type Answer, type Door, EXPIRES_AFTER_MS, toSettings } from "../door.ts";

function toAnswer(answer: Answer | undefined): ContinueAnswer | undefined {
  return typeof answer === "object" ? { type: "edit", arguments: answer.edit } : answer && { type: answer };
}

/** `prepare` and `continue` of a session. */
export const LIBRARY: Door = {
  name: "library",
  canEdit: true,
  hasModel: false,
  outlives: true,
  expiresAfterMs: EXPIRES_AFTER_MS,
  cannot: {},
  async open(host) {
    const session = await createToolSession(toSettings(host));
    const goOn = async (states: readonly string[], answers: readonly Answer[]) => {
      const ended: ContinuedCall[] = [];
      // The order is the host's.
      for (const [index, state] of states.entries())
        ended.push(await session.continue(state, toAnswer(answers[index])));
      return {
        told: ended.map(({ outcome }) => renderOutcome(outcome)),
        next: ended.flatMap(({ next }) => next ?? []),
      };
    };
    const toTurn = (asked: readonly Extract<PreparedCall, { kind: "approval" }>[], told: readonly string[]) => ({
      saved: JSON.stringify(asked.map(({ state }) => state)),
      questions: asked.map(({ card }) => card.join("\n")),
      told,
    });
    return {
      async start(calls) {
        const prepared = await Promise.all(
          calls.map(({ id, name, args }) => session.prepare({ callId: id, toolName: name, arguments: args })),
        );
        const { told, next } = await goOn(
          prepared.flatMap((one) => (one.kind === "none" ? one.state : [])),
          [],
        );
        return toTurn([...prepared.filter((one) => one.kind === "approval"), ...next], told);
      },
      async resume(saved, answers) {
        const { told, next } = await goOn(JSON.parse(saved) as string[], answers);
        return toTurn(next, told);
      },
      close: () => session.close(),
    };
  },
};
