import {
  Annotation,
  type BaseCheckpointSaver,
  END,
  entrypoint,
  MemorySaver,
  START,
  StateGraph,
  task,
} from "@langchain/langgraph";
import type { SvcTool } from "../../../../src/langchain.ts";
import type { AgentState, RunningAgent } from "./adapters.ts";

/** A graph of one node that the host wrote. */
export function startNode(
  work: (run: Parameters<SvcTool["invoke"]>[1]) => Promise<unknown>,
  checkpointer: BaseCheckpointSaver = new MemorySaver(),
): RunningAgent {
  const state = Annotation.Root({ done: Annotation<boolean> });
  const graph = new StateGraph(state)
    .addNode("work", async (_, run) => {
      await work(run);
      return { done: true };
    })
    .addEdge(START, "work")
    .addEdge("work", END)
    .compile({ checkpointer });
  return toAgent(graph);
}

/** Each title is written by a task of its own; several at once. */
export function startTasks(
  write: (title: string) => Promise<unknown>,
  titles: string[],
  checkpointer: BaseCheckpointSaver = new MemorySaver(),
): RunningAgent {
  const writing = task("write", write);
  const workflow = entrypoint({ name: "workflow", checkpointer }, async (_: unknown) => {
    await Promise.all(titles.map((title) => writing(title)));
    return {};
  });
  return toAgent(workflow);
}

/** Whatever can be invoked, as an agent. */
export function toAgent(graph: { invoke: (input: never, config: never) => Promise<unknown> }): RunningAgent {
  return {
    invoke: async (input, run) => (await graph.invoke(input as never, run as never)) as AgentState,
    getStateHistory: () => {
      throw new Error("Not needed here.");
    },
  };
}
