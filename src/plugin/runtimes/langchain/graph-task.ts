import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";
import { AsyncLocalStorageProviderSingleton } from "@langchain/core/singletons";
import { isRecord } from "../../../shared/base/json.ts";
import { isControlFlow } from "../../calls/ask/abort.ts";
import { type GraphConfig, markNotRetryable, readBatch, readCheckpoint, readThread } from "./graph-config.ts";
import { GraphSteps, type StepMemory } from "./graph-steps.ts";
import { isDecline, isPermission } from "./human-channel.ts";
import { judgeAnswer, namesAny, type Question } from "./interrupt-answer.ts";
import { createInterruptPayload } from "./interrupt-payload.ts";
import { type GivenAnswer, isOpen, type KeptAnswer, type KeptQuestion, recheck } from "./kept-answer.ts";
import { loadLangGraph } from "./load-peer.ts";
import { NodeAnswers } from "./node-answers.ts";
import { TurnQueue } from "./turn-queue.ts";

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
  readonly #given = new NodeAnswers(() => this.#inNode(readConfigurable));
  /** LangGraph's ids of the questions so far. */
  readonly #interrupts = new Set<string>();
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

  /** True while an answer of this time counts. */
  isOpen(expiresAt: string | undefined): boolean {
    return isOpen(expiresAt, this.#now());
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
      const isOutdated = (kept: KeptCall<Result> | { readonly taken: number }) =>
        "result" in kept && isDeclined(kept.result) && this.#given.hasChanged(kept.taken);
      const { result: kept, isFresh } = await this.#steps.once("svc_call", call, isOutdated);
      if (failure !== undefined) throw failure.error;
      if (!isFresh) await this.#takeAgain(kept.taken);
      if ("key" in kept) this.#ended.set(kept.key, kept);
    }
  }

  /**
   * Answers by question id, all of them; undefined where no answer can come back. Throws the graph's interrupt while one
   * is missing.
   */
  async ask(questions: readonly Question[]): Promise<Map<string, GivenAnswer> | undefined> {
    const answers = new Map<string, GivenAnswer>();
    let open = questions;
    let last: KeptAnswer | undefined;
    while (open.length > 0) {
      const kept = await this.#put(open, last);
      if (kept === undefined) return undefined;
      for (const { id } of open) {
        if (id in kept.counted) answers.set(id, { value: kept.counted[id], expiresAt: kept.expiresAt[id] ?? "" });
      }
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
    const { shown, early } = await this.#show(questions, ask);
    if (shown === null) return undefined;
    const { expiresAt } = shown;
    const answer = async (outdated: KeptAnswer | undefined): Promise<KeptAnswer> => {
      const isChanged = outdated !== undefined && this.#given.countChanged(outdated.taken) > 0;
      const before = isChanged ? outdated.taken : shown.passed;
      if (early === undefined) await this.#takeAgain(before);
      let value: unknown;
      try {
        value = early === undefined ? ask() : early.value;
      } catch (error) {
        // Another question was put meanwhile: this one is taken back.
        if (asking.has(this.#run)) return { counted: {}, taken: before, expiresAt };
        asking.set(this.#run, Promise.resolve());
        throw markNotRetryable(error);
      }
      const { counted, notice } = judgeAnswer(value, questions, shown, await this.#trace(value, shown.interruptId));
      // Wherever the graph goes on from here, this yes is known to be unused.
      for (const { id, grant } of questions) if (isPermission(counted.get(id))) await grant?.();
      return { counted: Object.fromEntries(counted), notice, taken: before + 1, expiresAt };
    };
    const isOutdated = ({ counted, taken }: KeptAnswer) =>
      early === undefined && Object.values(counted).some(isDecline) && this.#given.hasChanged(taken);
    const { result, isFresh } = await this.#steps.once("svc_answer", answer, isOutdated);
    if (isFresh) return result;
    await this.#takeAgain(result.taken);
    return recheck(result, questions, { expiresAt, now: this.#now() });
  }

  /** How an answer came that was just taken. */
  async #trace(value: unknown, interruptId: string | undefined) {
    const interrupts = this.#given.readInterrupts();
    const checkpoint = readCheckpoint(this.#config);
    const from = [readThread(this.#config), this.#given.outerCheckpoint ?? checkpoint];
    const isTaken = await this.#steps.isTaken(value, from);
    const isShared = isTaken || (await this.#given.isShared(value, interruptId ?? "", checkpoint));
    return { now: this.#now(), interrupts, isTaken: isShared };
  }

  /**
   * Throws the graph's interrupt where the questions were not put before; null where no answer can come back. Where an
   * answer names a question, and the model asked for nothing else, it was put by a run that is not known.
   */
  async #show(questions: readonly Question[], ask: () => unknown) {
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
      const outer = await this.#given.readOuter();
      for (let passed = 0; ; passed += 1) {
        const describe = () => {
          const taken = this.#given.readTaken();
          return { asked, expiresAt, earlier: taken && [...new Set([...taken, ...outer])], passed };
        };
        try {
          const value = ask();
          if (this.#readCalls()?.length !== 1 || !namesAny(value, asked)) continue;
          early = { value };
          return describe();
        } catch (error) {
          stop = error;
          if (!isGraphInterrupt(error)) return null;
          const interruptId = error.interrupts[0]?.id;
          return { ...describe(), interruptId, isOwnId: !this.#interrupts.has(interruptId ?? "") };
        }
      }
    });
    putting.resolve();
    if (shown?.interruptId !== undefined) this.#interrupts.add(shown.interruptId);
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

function isDeclined(outcome: unknown): boolean {
  return isRecord(outcome) && outcome.status === "declined";
}

function readConfigurable(): Record<string, unknown> {
  const { configurable } = readRunnableConfig();
  return isRecord(configurable) ? configurable : {};
}
