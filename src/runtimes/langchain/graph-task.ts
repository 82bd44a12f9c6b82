import { isRecord } from "../../base/json.ts";
import { isControlFlow } from "../../calls/ask/abort.ts";
import type { CallJournal } from "../../calls/journal/journal.ts";
import { toMapKey } from "../../calls/journal/journal.ts";
import type { JournalRecord } from "../../calls/journal/journal-record.ts";
import { type GraphConfig, markNotRetryable, readBatch, readText } from "./graph-config.ts";
import { type Judged, judgeAnswer, type Question, replayAnswer } from "./interrupt-answer.ts";
import {
  createInterruptPayload,
  type PastQuestion,
  readShownQuestion,
  type ShownQuestion,
} from "./interrupt-payload.ts";
import { createTaskJournal } from "./task-journal.ts";
import {
  countAnswers,
  findTaskRun,
  getInterrupt,
  hasStoredAnswer,
  type InterruptFunction,
  type PendingInterrupts,
  readPendingInterrupts,
} from "./task-state.ts";
import { TurnQueue } from "./turn-queue.ts";

/** A call's way to ask through the graph. */
export interface TaskTurn {
  /** Answers by question id, all of them. Throws the graph's interrupt while one is missing. */
  ask(questions: readonly Question[]): Promise<Map<string, unknown>>;
}

/**
 * How many answers a call took, kept where its journal is: a call that is made again and asks nothing has to take as
 * many, or the host's own `interrupt` after it would get the answer that was meant for the call. `nth` is 1 for the
 * first call of its name in this run of the task, then 2, 3 and so on.
 */
export interface TakenAnswers {
  load(nth: number): Promise<number>;
  save(nth: number, count: number): Promise<void>;
}

interface Opening {
  readonly pending: PendingInterrupts | undefined;
  readonly shown: ShownQuestion | undefined;
}

const tasks = new WeakMap<object, GraphTask>();

/**
 * One run of one task of a graph. LangGraph runs the task again from its start after each answer and hands out stored
 * answers by counting the interrupts. So the calls of a task run one after another, in the model's order, and the first
 * one that has no answer stops those after it.
 */
export class GraphTask {
  readonly #config: GraphConfig;
  readonly #interrupt: InterruptFunction;
  readonly #now: () => number;
  readonly #queue = new TurnQueue();
  /** How many calls of each name there were. */
  readonly #names = new Map<string, number>();
  readonly #ended = new Set<string>();
  readonly #past: PastQuestion[] = [];
  /** Calls that the runs of the task have sent, by key in the journal. */
  readonly #sent = new Map<string, JournalRecord>();
  /** Questions answered in an earlier run that is not known: nothing is sent on such an answer. */
  readonly #replayed = new Set<string>();
  /** The graph's interrupt, once it was thrown. */
  #stopped: unknown;
  #opening: Promise<Opening> | undefined;

  private constructor(config: GraphConfig, interrupt: InterruptFunction, now: () => number) {
    this.#config = config;
    this.#interrupt = interrupt;
    this.#now = now;
  }

  /** The running task; undefined where no answer could come back. */
  static find(config: GraphConfig, now: () => number): GraphTask | undefined {
    const [run, interrupt] = [findTaskRun(config), getInterrupt(config)];
    if (run === undefined || interrupt === undefined) return undefined;
    const task = tasks.get(run) ?? new GraphTask(config, interrupt, now);
    tasks.set(run, task);
    return task;
  }

  /**
   * Runs `work` when it is its turn. A tool call's id as `caller` keeps the model's order; a name that was there before
   * is numbered, because a model may use an id twice. Throws the graph's interrupt when the run has stopped.
   */
  async run<Result>(
    caller: string,
    work: (turn: TaskTurn) => Promise<Result>,
    taken?: TakenAnswers | undefined,
  ): Promise<Result> {
    const nth = (this.#names.get(caller) ?? 0) + 1;
    this.#names.set(caller, nth);
    return this.#queue.run(this.#findOrder(caller), () => this.#runNow(caller, nth, work, taken));
  }

  /** A journal for the task's calls: `inner`, and the calls in the graph's checkpoint. */
  keepIn(inner: CallJournal, remembers: boolean): CallJournal {
    const memory = {
      sent: this.#sent,
      recall: async () => void (await this.#open()),
      mayHaveSent: async ({ approval }: JournalRecord) =>
        (approval !== undefined && this.#replayed.has(approval.id)) || (!remembers && (await this.#isRepeated())),
    };
    return createTaskJournal(memory, inner);
  }

  /** True up to the host's question at which the task had stopped: every call before it may have been sent. */
  async #isRepeated(): Promise<boolean> {
    const { pending, shown } = await this.#open();
    if (pending === undefined || !pending.wasAsked || shown !== undefined) return false;
    return countAnswers(this.#config).passed <= pending.answers;
  }

  #findOrder(caller: string): number {
    const index = this.#readCalls(caller)?.findIndex((call) => call.id === caller);
    return index ?? Number.POSITIVE_INFINITY;
  }

  #readCalls(caller?: string) {
    const { state } = this.#config;
    return readBatch(isRecord(state) ? state.messages : state, caller)?.calls;
  }

  async #runNow<Result>(
    caller: string,
    nth: number,
    work: (turn: TaskTurn) => Promise<Result>,
    taken: TakenAnswers | undefined,
  ): Promise<Result> {
    if (this.#stopped !== undefined) throw this.#stopped;
    const name = nth === 1 ? caller : `${caller}#${nth}`;
    const ask = async (questions: readonly Question[]) => {
      const answers = await this.#ask(name, questions);
      await taken?.save(nth, this.#countTaken(name));
      return answers;
    };
    try {
      return await work({ ask });
    } finally {
      this.#ended.add(name);
      await this.#takeLeftover(name, async () => (await taken?.load(nth)) ?? 0);
    }
  }

  async #ask(caller: string, questions: readonly Question[]): Promise<Map<string, unknown>> {
    const answers = new Map<string, unknown>();
    let notice: string | undefined;
    let open = questions;
    const { pending } = await this.#open();
    while (open.length > 0) {
      const { passed, stored } = countAnswers(this.#config);
      const context = { task: readTask(this.#config), caller, past: this.#past, sent: this.#sent.values(), notice };
      const value = this.#put(createInterruptPayload(open, context));
      // Without a readable checkpoint an answer that the graph held already may be one of an earlier run.
      const judged = await this.#judge(value, open, passed < (pending?.answers ?? stored));
      this.#past.push({ caller, asked: open.map(({ id }) => id), counted: [...judged.counted.keys()] });
      for (const [id, meaning] of judged.counted) answers.set(id, meaning);
      open = open.filter(({ id }) => !answers.has(id));
      notice = judged.notice;
    }
    return answers;
  }

  /** Throws the graph's own interrupt when there is no answer yet; no other call of this run asks after that. */
  #put(payload: unknown): unknown {
    try {
      return this.#interrupt(payload);
    } catch (error) {
      if (isControlFlow(error)) this.#stopped = markNotRetryable(error);
      throw error;
    }
  }

  async #judge(value: unknown, questions: readonly Question[], wasStored: boolean): Promise<Judged> {
    const { pending, shown } = await this.#open();
    const interruptId = pending?.interruptId;
    const past = shown?.past[this.#past.length];
    if (past !== undefined) return replayAnswer(value, questions, past, interruptId);
    const scene = { interruptId, now: this.#now() };
    if (wasStored) {
      for (const { id } of questions) this.#replayed.add(id);
      return judgeAnswer(value, questions, { ...scene, shown: undefined, isAsked: true, isForUs: true });
    }
    const isAsked = pending === undefined || shown !== undefined;
    // Without a readable checkpoint: the model asked for one call only, so no other can be waiting.
    const isForUs = pending === undefined ? this.#readCalls()?.length === 1 : pending.isAddressed || pending.isAlone;
    return judgeAnswer(value, questions, { ...scene, shown, isAsked, isForUs });
  }

  #open(): Promise<Opening> {
    this.#opening ??= this.#readOpening();
    return this.#opening;
  }

  async #readOpening(): Promise<Opening> {
    const pending = await readPendingInterrupts(this.#config);
    // After a step back in time the graph has dropped the answers: everything starts again.
    if (pending !== undefined && countAnswers(this.#config).stored < pending.answers)
      return { pending: { ...pending, wasAsked: false, answers: 0 }, shown: undefined };
    const shown = readShownQuestion(pending?.shown, readTask(this.#config));
    for (const record of shown?.sent ?? []) {
      const key = toMapKey(record);
      if (!this.#sent.has(key)) this.#sent.set(key, record);
    }
    return { pending, shown };
  }

  #countTaken(name: string): number {
    return this.#past.filter(({ caller }) => caller === name).length;
  }

  /**
   * A call that was answered from the journal asked nothing this time, but its stored answers are still counted by the
   * graph: they are taken, so that the next question gets its own, also when that is the host's.
   */
  async #takeLeftover(name: string, loadTaken: () => Promise<number>): Promise<void> {
    if (this.#stopped !== undefined || !hasStoredAnswer(this.#config)) return;
    const { shown } = await this.#open();
    const asked = shown && [...shown.past, { caller: shown.caller, asked: shown.asked, counted: [] }];
    const takenBefore = asked === undefined ? await loadTaken() : 0;
    while (hasStoredAnswer(this.#config)) {
      const unknown = this.#countTaken(name) < takenBefore ? { caller: name, asked: [], counted: [] } : undefined;
      const next = asked === undefined ? unknown : asked[this.#past.length];
      if (next === undefined || !this.#ended.has(next.caller)) return;
      this.#interrupt(null);
      this.#past.push(next);
    }
  }
}

function readTask({ configurable }: GraphConfig): string {
  return readText(configurable, "checkpoint_ns") ?? "";
}
