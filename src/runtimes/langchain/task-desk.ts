import { setImmediate as nextTurn } from "node:timers/promises";
import { isRecord } from "../../base/json.ts";
import { isControlFlow, withAbort } from "../../calls/ask/abort.ts";
import type { CallJournal } from "../../calls/journal/journal.ts";
import { type JournalRecord, toMapKey } from "../../calls/journal/journal-record.ts";
import {
  type GraphConfig,
  getInterrupt,
  type InterruptFunction,
  markNotRetryable,
  readBatch,
  readText,
} from "./graph-config.ts";
import type { Question } from "./interrupt-answer.ts";
import { type Judged, judgeAnswer, replayAnswer } from "./interrupt-answer.ts";
import {
  createInterruptPayload,
  type PastQuestion,
  readShownQuestion,
  type ShownQuestion,
} from "./interrupt-payload.ts";
import { type PendingInterrupts, readPendingInterrupts } from "./pending-interrupts.ts";
import { countAnswers, hasStoredAnswer, type SkippableRun, skipCount, skipShown } from "./skip-stored.ts";
import { createTaskJournal } from "./task-journal.ts";

type Awaitable<T> = T | Promise<T>;

interface Place {
  /** Unique at the desk. */
  readonly caller: string;
  readonly order: number;
  /** waiting: would ask as soon as it is its turn, or does nothing until another call has ended. */
  state: "running" | "waiting" | "asking" | "left";
  /** Answers it was given in this run, also those that did not count. */
  taken: number;
}

interface Opening {
  readonly pending: PendingInterrupts | undefined;
  readonly shown: ShownQuestion | undefined;
}

const desks = new WeakMap<object, TaskDesk>();

/**
 * One run of one task of a graph. LangGraph runs the task again from its start after each answer and hands out stored
 * answers by counting the interrupts, so all calls of a task must ask in the same order every time: a call asks when
 * those before it have ended, and when those after it have ended or wait, so that no work is cut off half-way.
 */
export class TaskDesk {
  readonly #config: GraphConfig;
  readonly #interrupt: InterruptFunction;
  readonly #now: () => number;
  readonly #places: Place[] = [];
  readonly #names = new Map<string, number>();
  readonly #past: PastQuestion[] = [];
  /** What the runs of the task have sent, by its key in the journal. */
  readonly #sent = new Map<string, JournalRecord>();
  /** Questions answered in an earlier run that is not known: nothing is sent on such an answer. */
  readonly #replayed = new Set<string>();
  #stopped: unknown;
  #opening: Promise<Opening> | undefined;
  #changed = Promise.withResolvers<void>();

  private constructor(config: GraphConfig, interrupt: InterruptFunction, now: () => number) {
    this.#config = config;
    this.#now = now;
    this.#interrupt = interrupt;
  }

  /** The desk of the running task; undefined where no answer could come back. */
  static find(config: GraphConfig, now: () => number): TaskDesk | undefined {
    const interrupt = getInterrupt(config);
    if (interrupt === undefined) return undefined;
    const run: unknown = config.configurable?.__pregel_scratchpad;
    if (typeof run !== "object" || run === null) return new TaskDesk(config, interrupt, now);
    const desk = desks.get(run) ?? new TaskDesk(config, interrupt, now);
    desks.set(run, desk);
    return desk;
  }

  /**
   * Takes part under the name `caller`: a tool call's id keeps the model's order. Call `leave` at the end. What has the
   * name of somebody else is numbered: a model may use an id twice.
   */
  enter(caller: string): DeskSeat {
    const nth = (this.#names.get(caller) ?? 0) + 1;
    this.#names.set(caller, nth);
    const name = nth === 1 ? caller : `${caller}#${nth}`;
    const place: Place = { caller: name, order: this.#findOrder(caller), state: "running", taken: 0 };
    const at = this.#places.findIndex((other) => other.order > place.order);
    this.#places.splice(at === -1 ? this.#places.length : at, 0, place);
    return {
      nth,
      waitFor: (earlier, signal) => this.#waitFor(place, earlier, signal),
      ask: (questions) => this.#ask(place, questions),
      countTaken: () => place.taken,
      leave: (recallTaken) => this.#leave(place, recallTaken),
    };
  }

  /** A journal for the task's calls: `inner`, and what the graph's checkpoint holds. */
  keepIn(inner: CallJournal, remembers: boolean): CallJournal {
    const memory = {
      sent: this.#sent,
      recall: async () => void (await this.#open()),
      mayHaveSent: async ({ approval }: JournalRecord) =>
        (approval !== undefined && this.#replayed.has(approval.id)) || (!remembers && (await this.#isRepeated())),
    };
    return createTaskJournal(memory, inner);
  }

  /** True while the task comes to where it stopped with a question of somebody else: it may have sent all up to there. */
  async #isRepeated(): Promise<boolean> {
    const { pending, shown } = await this.#open();
    if (pending === undefined || !pending.wasAsked || shown !== undefined) return false;
    return countAnswers(this.#config).passed <= pending.answers;
  }

  #findOrder(caller: string): number {
    const { state } = this.#config;
    const calls = readBatch(isRecord(state) ? state.messages : state, caller)?.calls ?? [];
    const index = calls.findIndex((call) => call.id === caller);
    return index === -1 ? calls.length + this.#places.length : index;
  }

  async #waitFor(place: Place, earlier: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
    place.state = "waiting";
    this.#notify();
    await withAbort(Promise.allSettled([earlier]), signal);
    if (this.#stopped !== undefined) throw this.#stopped;
    place.state = "running";
  }

  async #ask(place: Place, questions: readonly Question[]): Promise<Map<string, unknown>> {
    const answers = new Map<string, unknown>();
    let notice: string | undefined;
    let open = questions;
    const { pending } = await this.#open();
    while (open.length > 0) {
      await this.#waitForTurn(place);
      const { caller } = place;
      const before = countAnswers(this.#config);
      const context = { task: readTask(this.#config), caller, past: this.#past, sent: this.#sent.values(), notice };
      const value = this.#put(createInterruptPayload(open, context));
      place.taken += 1;
      const wasStored = pending === undefined ? this.#hadStored(before) : before.passed < pending.answers;
      const judged = await this.#judge(value, open, wasStored);
      this.#past.push({ caller, asked: open.map(({ id }) => id), counted: [...judged.counted.keys()] });
      for (const [id, meaning] of judged.counted) answers.set(id, meaning);
      open = open.filter(({ id }) => !answers.has(id));
      notice = judged.notice;
    }
    place.state = "running";
    return answers;
  }

  async #waitForTurn(place: Place): Promise<void> {
    place.state = "waiting";
    this.#notify();
    // Calls of one batch start together: let those that are on their way here arrive.
    await nextTurn();
    while (!this.#isTurnOf(place)) await this.#changed.promise;
    if (this.#stopped !== undefined) throw this.#stopped;
    place.state = "asking";
  }

  #isTurnOf(place: Place): boolean {
    if (this.#stopped !== undefined) return true;
    const own = this.#places.indexOf(place);
    return this.#places.every((other, index) => {
      if (index === own || other.state === "left") return true;
      return index > own && other.state === "waiting";
    });
  }

  /** Throws the graph's own interrupt when there is no answer yet; nobody else of this run asks after that. */
  #put(payload: unknown): unknown {
    try {
      return this.#interrupt(payload);
    } catch (error) {
      if (isControlFlow(error)) {
        this.#stopped = markNotRetryable(error);
        this.#notify();
      }
      throw error;
    }
  }

  /** Without a readable checkpoint: an answer that is given now is the last one, or none of the stored. */
  #hadStored({ passed, stored }: ReturnType<typeof countAnswers>): boolean {
    if (stored <= passed) return false;
    return hasStoredAnswer(this.#config) || !isRecord(this.#config.configurable?.__pregel_resume_map);
  }

  async #judge(value: unknown, questions: readonly Question[], wasStored: boolean): Promise<Judged> {
    const { pending, shown } = await this.#open();
    const past = shown?.past[this.#past.length];
    if (past !== undefined) return replayAnswer(value, questions, past, pending?.interruptId);
    if (wasStored) {
      for (const { id } of questions) this.#replayed.add(id);
      const scene = { shown: undefined, interruptId: pending?.interruptId, isAsked: true, isForUs: true };
      return judgeAnswer(value, questions, { ...scene, now: this.#now() });
    }
    const isAsked = pending === undefined || shown !== undefined;
    const isForUs = pending === undefined ? this.#isOnlyCall() : pending.isAddressed || pending.isAlone;
    const { interruptId } = pending ?? {};
    return judgeAnswer(value, questions, { shown, interruptId, isAsked, isForUs, now: this.#now() });
  }

  /** Without a readable checkpoint: the model asked for one call only, so no other can be waiting. */
  #isOnlyCall(): boolean {
    const { state } = this.#config;
    return readBatch(isRecord(state) ? state.messages : state)?.calls.length === 1;
  }

  #open(): Promise<Opening> {
    this.#opening ??= this.#readOpening();
    return this.#opening;
  }

  async #readOpening(): Promise<Opening> {
    const pending = await readPendingInterrupts(this.#config);
    // After a step back in time the graph has dropped the answers: everything begins anew.
    if (pending !== undefined && countAnswers(this.#config).stored < pending.answers)
      return { pending: { ...pending, wasAsked: false, answers: 0 }, shown: undefined };
    const shown = readShownQuestion(pending?.shown, readTask(this.#config));
    for (const record of shown?.sent ?? []) {
      const key = toMapKey(record);
      if (!this.#sent.has(key)) this.#sent.set(key, record);
    }
    return { pending, shown };
  }

  /**
   * A call that was answered from the journal asked nothing this time, but its stored answers are still counted by the
   * graph: they are taken, so that the next question gets its own, also when that is the host's.
   */
  async #leave(place: Place, recallTaken: DeskSeat["countTaken"] | undefined): Promise<void> {
    place.state = "left";
    if (this.#stopped === undefined && hasStoredAnswer(this.#config)) {
      const { shown } = await this.#open();
      if (shown !== undefined) skipShown(this.#describeRun(), shown);
      else skipCount(this.#describeRun(), place.caller, ((await recallTaken?.()) ?? 0) - place.taken);
    }
    this.#notify();
  }

  #describeRun(): SkippableRun {
    const hasLeft = (caller: string) => this.#places.some((place) => place.caller === caller && place.state === "left");
    return { config: this.#config, interrupt: this.#interrupt, past: this.#past, hasLeft };
  }

  #notify(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }
}

function readTask({ configurable }: GraphConfig): string {
  return readText(configurable, "checkpoint_ns") ?? "";
}

/** One call's place at the desk. */
export interface DeskSeat {
  /** 1 for the first of its name in this run of the task, then 2, 3 and so on. */
  readonly nth: number;
  /** Waits until a call that came earlier has ended, however. Throws the graph's interrupt when the run has stopped. */
  waitFor(earlier: Promise<unknown>, signal: AbortSignal | undefined): Promise<void>;
  /** Answers by question id, all of them. Throws the graph's interrupt while one is missing. */
  ask(questions: readonly Question[]): Promise<Map<string, unknown>>;
  /** How many answers it took in this run. */
  countTaken(): Awaitable<number>;
  /** `recallTaken` says how many answers the call took when it was first made. */
  leave(recallTaken?: DeskSeat["countTaken"]): Promise<void>;
}
