import { generateText, isStepCount, type ModelMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { openAiSdkTools } from "../../../src/ai-sdk.ts";
import { type Answer, type Door, EXPIRES_AFTER_MS, type ModelCall, type Turn, toSettings } from "../door.ts";

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that makes these calls at once and is then done; without calls it is done. */
function scriptModel(calls: readonly ModelCall[]) {
  let step = 0;
  return new MockLanguageModelV4({
    doGenerate: async () => {
      step += 1;
      const isCalling = step === 1 && calls.length > 0;
      return {
        content: isCalling
          ? calls.map(({ id, name, args }) => ({
              type: "tool-call" as const,
              toolCallId: id,
              toolName: name,
              input: JSON.stringify(args),
            }))
          : [{ type: "text" as const, text: "Done." }],
        finishReason: { unified: isCalling ? ("tool-calls" as const) : ("stop" as const), raw: undefined },
        usage,
        warnings: [],
      };
    },
  });
}

/** The open requests among messages. */
function findRequests(messages: readonly ModelMessage[]) {
  const said = messages.flatMap((one) => (one.role === "tool" ? one.content : []));
  const answered = new Set(said.flatMap((part) => (part.type === "tool-approval-response" ? part.approvalId : [])));
  return messages
    .flatMap((one) => (one.role === "assistant" && typeof one.content !== "string" ? one.content : []))
    .filter((part) => part.type === "tool-approval-request")
    .filter(({ approvalId }) => !answered.has(approvalId));
}

/** `generateText` of the AI SDK: what is saved is the list of messages. */
export const AI_SDK: Door = {
  name: "AI SDK",
  canEdit: false,
  hasModel: true,
  outlives: true,
  expiresAfterMs: EXPIRES_AFTER_MS,
  cannot: {},
  hasPeer: true,
  async open(host) {
    const { tools, toolApproval, close } = await openAiSdkTools(toSettings(host));
    const run = async (calls: readonly ModelCall[], messages: ModelMessage[]): Promise<Turn> => {
      const settings = { model: scriptModel(calls), tools, toolApproval, messages, stopWhen: isStepCount(5) };
      const { responseMessages } = await generateText(settings);
      const all = [...messages, ...responseMessages];
      return {
        saved: JSON.stringify(all),
        questions: findRequests(all).map(({ reason = "" }) => reason),
        told: responseMessages.flatMap(({ role, content }) =>
          role === "tool"
            ? content.flatMap((part) => (part.type === "tool-result" ? JSON.stringify(part.output) : []))
            : [],
        ),
      };
    };
    return {
      start: (calls) => run(calls, [{ role: "user", content: "Please." }]),
      resume(saved, answers, calls = []) {
        const messages = JSON.parse(saved) as ModelMessage[];
        const content = findRequests(messages).flatMap(({ approvalId }, index) => {
          const answer: Answer = answers[index];
          if (answer === undefined) return [];
          return { type: "tool-approval-response" as const, approvalId, approved: answer === "approve" };
        });
        return run(calls, content.length === 0 ? messages : [...messages, { role: "tool", content }]);
      },
      close,
    };
  },
};
