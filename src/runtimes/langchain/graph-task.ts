import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { isRecord } from "../../base/json.ts";
import { isControlFlow } from "../../calls/ask/abort.ts";
import { digest, type GraphConfig, markNotRetryable, readBatch, readThread } from "./graph-config.ts";
import { GraphSteps, type StepMemory } from "./graph-steps.ts";
import { judgeAnswer, namesAny, type Question, type ShownQuestion } from "./interrupt-answer.ts";
import { createInterruptPayload } from "./interrupt-payload.ts";
import { loadLangGraph } from "./load-peer.ts";
import { TurnQueue } from "./turn-queue.ts";

/** A question that was put, as the graph's checkpoint keeps it. */
interface KeptQuestion extends ShownQuestion {
  /** How many answers the node had before: they are for other questions. */
  readonly passed: number;
}

/** Its answer. */
interface KeptAnswer {
  /** Meanings by question id. */
  readonly counted: Readonly<Record<string, unknown>>;
  readonly notice?: string | undefined;
  /** How many answers of the node were taken up to it. */
  readonly taken: number;
  readonly earlier: readonly string[];
}

/** An ended call as the graph's checkpoint keeps it. */
interface KeptCall<Result> {
  readonly key: string;
  readonly result: Result;
  readonly taken: number;
}

const tasks = new WeakMap<object, GraphTask>();
/** Runs that have put a question, with the moment it is put. */
const asking = new WeakMap<object, Promise<void>>();

/**
 * One run of a node, or of a task of the functional API. LangGraph repeats it from its start after each answer, and
 * hands out the answers it has by counting the calls of `interrupt`.
 *
 * Questions, answers and ended calls are results of LangGraph's own `task`: the checkpoint keeps them, whichever process
 * goes on, and the repetition is given them again. A plain answer reaches every node that waits, so a run puts one
 * question at a time, and an answer counts only for a question that was put before. The calls of a node run one after
 * another, in the model's order, and one without an answer stops those after it.
 */
export class GraphTask {
  readonly #config: GraphConfig;
  readonly #run: object;
  readonly #now: () => number;
  readonly #steps: GraphSteps;
  readonly #queue = new TurnQueue();
  /** Runs a function where the node stands, also from inside a task. */
  readonly #inNode = AsyncLocalStorage.snapshot();
  /** Ended calls that the checkpoint gave while another one was looked for. */
  readonly #ended = new Map<string, KeptCall<unknown>>();
  /** Answers taken from the node. */
  #taken = 0;
  /** The graph's interrupt, once it was thrown. */
  #stopped: unknown;

  private constructor(config: GraphConfig, run: object, memory: StepMemory, now: () => number) {
    this.#config = config;
    this.#run = run;
    this.#now = now;
    this.#steps = new GraphSteps(config.executionInfo, memory);
  }

  /** The running task; undefined outside a conversation of a graph. */
  static find(config: GraphConfig, memory: StepMemory, now: () => number): GraphTask | undefined {
    const { interrupt, executionInfo, control } = { ...readRunnableConfig(), ...config };
    if (!isRecord(executionInfo) || typeof interrupt !== "function" || readThread(config) === undefined)
      return undefined;
    const run = typeof control === "object" && control !== null ? control : executionInfo;
    const task = tasks.get(executionInfo) ?? new GraphTask({ ...config, executionInfo }, run, memory, now);
    tasks.set(executionInfo, task);
    return task;
  }

  /** Runs `work` when it is its turn. Throws the graph's interrupt once the run has stopped. */
  run<Result>(toolCallId: string | undefined, work: () => Promise<Result>): Promise<Result> {
    return this.#queue.run(this.#findOrder(toolCallId), async () => {
      this.throwIfStopped();
      try {
        return await work();
      } catch (error) {
        if (isControlFlow(error)) this.#stopped = error;
        throw error;
      }
    });
  }

  /** For a caller around a middleware that may have swallowed the graph's interrupt. */
  throwIfStopped(): void {
    if (this.#stopped !== undefined) throw this.#stopped;
  }

  #findOrder(toolCallId: string | undefined): number {
    const index = this.#readCalls(toolCallId)?.findIndex((call) => call.id === toolCallId);
    return index ?? Number.POSITIVE_INFINITY;
  }

  #readCalls(toolCallId?: string) {
    const { state } = this.#config;
    return readBatch(isRecord(state) ? state.messages : state, toolCallId)?.calls;
  }

  /** Does `work` once, however often the graph repeats the node: `key` says which work it is. */
  async keep<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      const found = this.#ended.get(key) as KeptCall<Result> | undefined;
      this.#ended.delete(key);
      if (found !== undefined) return found.result;
      let failure: { readonly error: unknown } | undefined;
      const call = async (): Promise<KeptCall<Result> | { readonly taken: number }> => {
        const before = this.#taken;
        try {
          const result = await work();
          return { key, result, taken: this.#taken - before };
        } catch (error) {
          // A task that fails would end the run, whoever catches the error.
          if (isControlFlow(error)) throw error;
          failure = { error };
          return { taken: this.#taken - before };
        }
      };
      const { result: kept, isFresh } = await this.#steps.once("svc_call", call);
      if (failure !== undefined) throw failure.error;
      if (!isFresh) await this.#takeAgain(kept.taken);
      if ("key" in kept) this.#ended.set(kept.key, kept);
    }
  }

  /**
   * Answers by question id, all of them; undefined where no answer can come back. Throws the graph's interrupt while one
   * is missing.
   */
  async ask(questions: readonly Question[]): Promise<Map<string, unknown> | undefined> {
    const answers = new Map<string, unknown>();
    let open = questions;
    let last: KeptAnswer | undefined;
    while (open.length > 0) {
      const kept = await this.#put(open, last);
      if (kept === undefined) return undefined;
      for (const { id } of open) if (id in kept.counted) answers.set(id, kept.counted[id]);
      open = open.filter(({ id }) => !answers.has(id));
      last = kept;
    }
    return answers;
  }

  /** Puts questions, or reads how they were answered. */
  async #put(questions: readonly Question[], last?: KeptAnswer): Promise<KeptAnswer | undefined> {
    const { interrupt } = await loadLangGraph();
    const payload = createInterruptPayload(questions, last?.notice);
    const ask = () => {
      const value: unknown = this.#inNode(() => interrupt(payload));
      this.#taken += 1;
      return value;
    };
    const { shown, early } = await this.#show(questions, ask, last?.earlier ?? []);
    if (shown === null) return undefined;
    const { result, isFresh } = await this.#steps.once("svc_answer", async (): Promise<KeptAnswer> => {
      const { earlier } = shown;
      if (early === undefined) await this.#takeAgain(shown.passed);
      let value: unknown;
      try {
        value = early === undefined ? ask() : early.value;
      } catch (error) {
        // Another question was put meanwhile: this one is taken back.
        if (asking.has(this.#run)) return { counted: {}, taken: shown.passed, earlier };
        asking.set(this.#run, Promise.resolve());
        throw markNotRetryable(error);
      }
      const { counted, notice } = judgeAnswer(value, questions, shown, this.#now());
      return { counted: Object.fromEntries(counted), notice, taken: shown.passed + 1, earlier };
    });
    if (!isFresh) await this.#takeAgain(result.taken);
    return result;
  }

  /**
   * Throws the graph's interrupt where the questions were not put before; null where no answer can come back. Where an
   * answer names a question, and the model asked for nothing else, it was put by a run that is not known.
   */
  async #show(questions: readonly Question[], ask: () => unknown, before: readonly string[]) {
    const { GraphInterrupt, isGraphInterrupt } = await loadLangGraph();
    const putting = Promise.withResolvers<void>();
    const asked = questions.map(({ id }) => id);
    const expiresAt = Object.fromEntries(questions.map((question) => [question.id, question.expiresAt]));
    let stop: unknown;
    let early: { readonly value: unknown } | undefined;
    const { result: shown } = await this.#steps.once("svc_question", async (): Promise<KeptQuestion | null> => {
      const other = asking.get(this.#run);
      if (other !== undefined) {
        // Of several tasks that stop, the graph shows the question of the first.
        await other.then(() => setImmediate());
        throw markNotRetryable(new GraphInterrupt());
      }
      asking.set(this.#run, putting.promise);
      const passed: string[] = [];
      const describe = () => ({ asked, expiresAt, earlier: [...before, ...passed], passed: passed.length });
      for (;;) {
        try {
          const value = ask();
          if (this.#readCalls()?.length === 1 && namesAny(value, asked)) {
            early = { value };
            return describe();
          }
          passed.push(digest(value));
        } catch (error) {
          stop = error;
          return isGraphInterrupt(error) ? { ...describe(), interruptId: error.interrupts[0]?.id } : null;
        }
      }
    });
    putting.resolve();
    if (shown === null || early !== undefined) asking.delete(this.#run);
    else if (stop !== undefined) throw markNotRetryable(stop);
    return { shown, early };
  }

  /** Takes answers that were taken in an earlier run, so that the next question of the node gets its own. */
  async #takeAgain(count: number): Promise<void> {
    const { interrupt } = await loadLangGraph();
    for (let left = count; left > 0; left -= 1) {
      try {
        this.#inNode(() => interrupt(null));
      } catch {
        return;
      }
      this.#taken += 1;
    }
  }
}

/** The configuration of the running node: callers are handed parts of it. */
export function readRunnableConfig(): Record<string, unknown> {
  const run: unknown = AsyncLocalStorageProviderSingleton.getRunnableConfig();
  return isRecord(run) ? run : {};
}
