import { AIMessage, type BaseMessage, coerceMessageLikeToMessage, type ToolCall } from "@langchain/core/messages";
import type { FakeBuiltModel } from "@langchain/core/testing";
import type { StructuredToolInterface } from "@langchain/core/tools";
import {
  type BaseCheckpointSaver,
  type BaseStore,
  Command,
  END,
  entrypoint,
  MessagesAnnotation,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph";
import { createReactAgent, ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { type AgentMiddleware, createAgent, createMiddleware, toolRetryMiddleware } from "langchain";
import { createApprovalMiddleware, type SvcToolkit } from "../../../../src/langchain.ts";

/** What a test needs of an agent, whatever runs it. */
export interface RunningAgent {
  invoke(input: unknown, config: Record<string, unknown>): Promise<AgentState>;
  getStateHistory(config: Record<string, unknown>): AsyncIterable<{ config: Record<string, unknown>; next: string[] }>;
}

/** The state an agent stopped in. */
export interface AgentState {
  messages: BaseMessage[];
  __interrupt__?: { id: string; value: Record<string, unknown> }[];
}

/** What an agent is made of. */
export interface AgentParts {
  readonly toolkit: SvcToolkit;
  readonly model: FakeBuiltModel;
  readonly checkpointer: BaseCheckpointSaver;
  readonly store?: BaseStore | undefined;
  /** Whose tools are offered. Default notes and drive. */
  readonly integrations?: readonly string[];
  /** Tools of the host beside ours. */
  readonly more?: readonly StructuredToolInterface[];
}

/** One way to run tools in LangChain. */
export interface Adapter {
  readonly name: string;
  /**
   * batch: one interrupt for all calls · single: one after the other, each call being a task of its own · serial: one
   * after the other, all calls in one task.
   */
  readonly asks: "batch" | "single" | "serial";
  start(parts: AgentParts): Promise<RunningAgent>;
}

const passThrough = createMiddleware({ name: "PassThrough", wrapToolCall: (request, handler) => handler(request) });
const retry = () => toolRetryMiddleware({ maxRetries: 2, initialDelayMs: 1, jitter: false });

export const ADAPTERS: readonly Adapter[] = [
  { name: "createAgent", asks: "single", start: (parts) => startAgent(parts, []) },
  {
    name: "createAgent with a wrapToolCall middleware",
    asks: "single",
    start: (parts) => startAgent(parts, [passThrough]),
  },
  {
    name: "createAgent with the approval middleware",
    asks: "batch",
    start: async (parts) => startAgent(parts, [await createApprovalMiddleware(parts.toolkit)]),
  },
  {
    name: "createAgent with the approval middleware before a retry middleware",
    asks: "batch",
    start: async (parts) => startAgent(parts, [await createApprovalMiddleware(parts.toolkit), retry(), passThrough]),
  },
  { name: "StateGraph with the prebuilt ToolNode", asks: "serial", start: startGraph },
  { name: "createReactAgent", asks: "serial", start: startReactAgent },
  { name: "tasks of the functional API", asks: "single", start: startWorkflow },
  { name: "deepagents", asks: "single", start: (parts) => startDeepAgent(parts, []) },
  {
    name: "deepagents with the approval middleware before a retry middleware",
    asks: "batch",
    start: async (parts) => startDeepAgent(parts, [await createApprovalMiddleware(parts.toolkit), retry()]),
  },
];

/** A store that is not there must be left out, not undefined. */
function pickParts({ model, checkpointer, store }: AgentParts) {
  return { model, checkpointer, ...(store === undefined ? {} : { store }) };
}

function pick({ toolkit, integrations = ["notes", "drive"], more = [] }: AgentParts) {
  return [...toolkit.getTools({ integrations }), ...more];
}

async function startAgent(parts: AgentParts, middleware: AgentMiddleware[]): Promise<RunningAgent> {
  const agent = createAgent({ ...pickParts(parts), tools: pick(parts), middleware });
  return { invoke: toInvoke(agent), getStateHistory: (config) => agent.graph.getStateHistory(config) } as RunningAgent;
}

async function startDeepAgent(parts: AgentParts, middleware: AgentMiddleware[]): Promise<RunningAgent> {
  // Loaded where it is used: many tests start processes that use another agent.
  const { createDeepAgent } = await import("deepagents");
  const agent = createDeepAgent({ ...pickParts(parts), tools: pick(parts), middleware });
  return { invoke: toInvoke(agent), getStateHistory: (config) => agent.graph.getStateHistory(config) } as RunningAgent;
}

async function startReactAgent(parts: AgentParts): Promise<RunningAgent> {
  const { model, checkpointer, ...rest } = pickParts(parts);
  const agent = createReactAgent({ llm: model, tools: pick(parts), checkpointSaver: checkpointer, ...rest });
  return { invoke: toInvoke(agent), getStateHistory: (config) => agent.getStateHistory(config) } as RunningAgent;
}

async function startGraph(parts: AgentParts): Promise<RunningAgent> {
  const { model, ...kept } = pickParts(parts);
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("agent", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode("tools", new ToolNode(pick(parts)))
    .addEdge(START, "agent")
    .addConditionalEdges("agent", toolsCondition, ["tools", END])
    .addEdge("tools", "agent")
    .compile(kept);
  return { invoke: toInvoke(graph), getStateHistory: (config) => graph.getStateHistory(config) } as RunningAgent;
}

/** An agent written by hand: each turn of the model and each call is a task. */
async function startWorkflow(parts: AgentParts): Promise<RunningAgent> {
  const { model, ...kept } = pickParts(parts);
  const tools = pick(parts);
  const think = task("think", async (messages: BaseMessage[]) => model.invoke(messages));
  const act = task("act", async (call: ToolCall): Promise<BaseMessage> => {
    return tools.find(({ name }) => name === call.name)?.invoke({ ...call, type: "tool_call" });
  });
  const agent = entrypoint({ name: "agent", ...kept }, async (input: Pick<AgentState, "messages">) => {
    let messages = input.messages.map(coerceMessageLikeToMessage);
    for (;;) {
      const said = await think(messages);
      const calls = AIMessage.isInstance(said) ? (said.tool_calls ?? []) : [];
      messages = [...messages, said, ...(await Promise.all(calls.map((call) => act(call))))];
      if (calls.length === 0) return { messages };
    }
  });
  return { invoke: toInvoke(agent), getStateHistory: (config) => agent.getStateHistory(config) } as RunningAgent;
}

function toInvoke(agent: { invoke: (input: never, config: never) => Promise<unknown> }): RunningAgent["invoke"] {
  return async (input, config) => (await agent.invoke(input as never, config as never)) as AgentState;
}

/** Resumes with one value for every waiting question, or with values by interrupt id. */
export function resume(value: unknown): Command {
  return new Command({ resume: value });
}

/** The adapter of this name. */
export function findAdapter(name: string): Adapter {
  const adapter = ADAPTERS.find((candidate) => candidate.name === name);
  if (adapter === undefined) throw new Error(`No adapter ${name}`);
  return adapter;
}
