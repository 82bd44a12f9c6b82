import {
  Agent,
  type AgentInputItem,
  type Model,
  type ModelResponse,
  Runner,
  RunState,
  setTracingDisabled,
  Usage,
} from "@openai/agents";
import { openAgentTools } from "../../../src/openai-agents.ts";
import { type Door, EXPIRES_AFTER_MS, type ModelCall, type Turn, toSettings } from "../door.ts";

/** A model that makes these calls at once and is then done. */
function scriptModel(calls: readonly ModelCall[]): Model {
  let step = 0;
  return {
    async getResponse(): Promise<ModelResponse> {
      step += 1;
      const output: ModelResponse["output"] =
        step === 1 && calls.length > 0
          ? calls.map(({ id, name, args }) => ({
              type: "function_call",
              callId: id,
              name,
              arguments: JSON.stringify(args),
              status: "completed",
            }))
          : [
              {
                type: "message",
                role: "assistant",
                status: "completed",
                content: [{ type: "output_text", text: "Done." }],
              },
            ];
      return { usage: new Usage(), output };
    },
    getStreamedResponse() {
      throw new Error("Nothing is streamed here.");
    },
  };
}

/** `Runner.run` of the OpenAI Agents SDK: what is saved is the text of the run's state. */
export const OPENAI_AGENTS: Door = {
  name: "OpenAI Agents SDK",
  canEdit: false,
  hasModel: true,
  outlives: true,
  expiresAfterMs: EXPIRES_AFTER_MS,
  cannot: {},
  hasPeer: true,
  async open(host) {
    setTracingDisabled(true);
    const opened = await openAgentTools(toSettings(host));
    const create = (calls: readonly ModelCall[]) =>
      new Agent({ name: "Assistant", model: scriptModel(calls), tools: opened.tools });
    const run = async (agent: Agent, input: string | RunState<object, Agent>): Promise<Turn> => {
      const before = typeof input === "string" ? 0 : readOutputs(input.history).length;
      const result = await new Runner({ tracingDisabled: true }).run(agent, input as string);
      const { state } = result;
      const approvals = await opened.readApprovals(state);
      if (approvals.length !== result.interruptions.length) throw new Error("A question has no card.");
      return {
        saved: state.toString(),
        questions: approvals.map(({ card }) => card.join("\n")),
        told: readOutputs(result.history).slice(before),
      };
    };
    return {
      start: (calls) => run(create(calls), "Please."),
      async resume(saved, answers, calls = []) {
        const agent = create(calls);
        const state = await RunState.fromString<object, Agent>(agent, saved);
        for (const [index, interruption] of state.getInterruptions().entries()) {
          if (answers[index] === "approve") state.approve(interruption);
          else if (answers[index] !== undefined) state.reject(interruption);
        }
        return run(agent, state);
      },
      close: opened.close,
    };
  },
};

function readOutputs(items: readonly AgentInputItem[]): string[] {
  return items.flatMap((item) => (item.type === "function_call_result" ? JSON.stringify(item.output) : []));
}
