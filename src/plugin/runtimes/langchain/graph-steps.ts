import { digest, markNotRetryable, readText } from "./graph-config.ts";
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

  /** Name of the step that runs, or of the node. */
  get place(): string {
    return this.#place;
  }

  /**
   * Does a step once for as long as the graph repeats the node from the same checkpoint. A result that only the memory
   * has is handed to the step where it `isOutdated`, and the step is done again. A graph's interrupt leaves the step from
   * the node alone: an outer graph would show it once for the node and once for each step it went through.
   */
  async once<Result>(
    kind: string,
    step: (outdated: Result | undefined) => Promise<Result>,
    isOutdated: (kept: Result) => boolean = () => false,
  ): Promise<{ result: Result; isFresh: boolean }> {
    const { task, GraphInterrupt, isGraphInterrupt } = await loadLangGraph();
    const around = this.#place;
    const count = digest([around, kind]);
    const nth = this.#counts.get(count) ?? 0;
    this.#counts.set(count, nth + 1);
    const name = digest([around, kind, nth]);
    let isFresh = false;
    let stopped: unknown;
    const runStep = async () => {
      // A step that fails would end the run, and the checkpoint keeps the result as well.
      const known = (await this.#memory.find(name).catch(() => undefined)) as Result | undefined;
      if (known !== undefined && !isOutdated(known)) return known;
      isFresh = true;
      this.#place = name;
      try {
        const result = await step(known);
        await this.#memory.keep(name, result).catch(() => undefined);
        return result;
      } catch (error) {
        if (!isGraphInterrupt(error)) throw error;
        stopped = error;
        throw markNotRetryable(new GraphInterrupt());
      } finally {
        this.#place = around;
      }
    };
    try {
      return { result: await task(kind, runStep)(), isFresh };
    } catch (error) {
      throw stopped ?? error;
    }
  }

  /** True if another step of the conversation has taken an equal answer since the outermost checkpoint `from`. */
  async isTaken(answer: unknown, from: unknown): Promise<boolean> {
    const name = digest(["taken", from, answer]);
    const by = await this.#memory.find(name).catch(() => undefined);
    if (by === undefined) await this.#memory.keep(name, this.#place).catch(() => undefined);
    return by !== undefined && by !== this.#place;
  }
}
