import { digest, readText } from "./graph-config.ts";
import { loadLangGraph } from "./load-peer.ts";

/**
 * Steps of a task by name, beside the checkpoint: LangGraph gives the results of tasks back to a graph only that no other
 * graph has called.
 */
export interface StepMemory {
  find(name: string): Promise<unknown>;
  keep(name: string, result: unknown): Promise<void>;
}

/** The steps of one run of a node. Their results are those of LangGraph's own `task`, which its checkpoint keeps. */
export class GraphSteps {
  readonly #memory: StepMemory;
  /** How many steps of each kind there were at a place. */
  readonly #counts = new Map<string, number>();
  /** The step that runs, or the node. */
  #place: string;

  /** `run` is what LangGraph says of the node's run. */
  constructor(run: unknown, memory: StepMemory) {
    this.#memory = memory;
    this.#place = digest(["threadId", "checkpointId", "checkpointNs"].map((key) => readText(run, key)));
  }

  /** Does a step once for as long as the graph repeats the node from the same checkpoint. */
  async once<Result>(kind: string, step: () => Promise<Result>): Promise<{ result: Result; isFresh: boolean }> {
    const { task } = await loadLangGraph();
    const around = this.#place;
    const count = digest([around, kind]);
    const nth = this.#counts.get(count) ?? 0;
    this.#counts.set(count, nth + 1);
    const name = digest([around, kind, nth]);
    let isFresh = false;
    const runStep = async () => {
      // A step that fails would end the run, and the checkpoint keeps the result as well.
      const known = await this.#memory.find(name).catch(() => undefined);
      if (known !== undefined) return known as Result;
      isFresh = true;
      this.#place = name;
      try {
        const result = await step();
        await this.#memory.keep(name, result).catch(() => undefined);
        return result;
      } finally {
        this.#place = around;
      }
    };
    return { result: await task(kind, runStep)(), isFresh };
  }
}
