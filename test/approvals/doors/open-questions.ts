import { randomUUID } from "node:crypto";
import { type Answer, keep, type ModelCall, type OpenDoor, readKept, type Turn } from "../door.ts";

interface Waiting {
  readonly message: string;
  readonly answer: (answer: Answer) => void;
}

/** What is kept of a turn. */
interface Saved {
  readonly turn: number;
  readonly process: string;
  readonly calls: readonly ModelCall[];
  readonly sent: readonly string[];
}

interface Parts {
  /** Makes a call; its human is asked by `ask` below. Gives what the model is told. Equal ids mean the same call. */
  call(call: ModelCall): Promise<string>;
  /** Messages of the human and the host so far, and how a process takes them once more. */
  sent?(): readonly string[];
  sendAgain?(sent: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/** Puts a question and waits for its answer. */
export type Ask = (message: string) => Promise<Answer>;

/** A door whose calls run on, in this process, while their questions are open. */
export async function openWaitingDoor(open: (ask: Ask) => Promise<Parts>): Promise<OpenDoor> {
  const waiting: Waiting[] = [];
  const turns: Waiting[][] = [];
  let changed = Promise.withResolvers<void>();
  let running = 0;
  let told: string[] = [];
  const tell = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const process = randomUUID();
  /** Calls that have not ended. */
  const underWay = new Set<string>();
  let made: readonly ModelCall[] = [];
  const { call, close, sent, sendAgain } = await open(
    (message) =>
      new Promise((answer) => {
        waiting.push({ message, answer });
        tell();
      }),
  );
  /** Waits until every call has ended or asks. */
  const settle = async (): Promise<Turn> => {
    while (waiting.length < running) await changed.promise;
    const asked = waiting.splice(0);
    turns.push(asked);
    running = 0;
    const state: Saved = { turn: turns.length - 1, process, calls: made, sent: sent?.() ?? [] };
    const turn = { saved: keep(state), questions: asked.map(({ message }) => message), told };
    told = [];
    return turn;
  };
  const run = async (one: ModelCall) => {
    underWay.add(one.id);
    const text = await call(one).catch((error: unknown) => String(error));
    underWay.delete(one.id);
    running -= 1;
    told.push(text);
    tell();
  };
  const make = (calls: readonly ModelCall[]) => {
    made = calls;
    running += calls.length;
    for (const one of calls) void run(one);
    return settle();
  };
  return {
    // Models give one id in two conversations.
    start: (calls) => make(calls.map((one) => ({ ...one, id: `${one.id}-${randomUUID()}` }))),
    resume(saved, answers) {
      const { turn, process: asker, calls } = readKept<Saved>(saved);
      const asked = (asker === process && turns[turn]?.splice(0)) || [];
      made = calls;
      running += asked.length;
      for (const [index, question] of asked.entries()) {
        if (answers[index] === undefined) waiting.push(question);
        else question.answer(answers[index]);
      }
      return settle();
    },
    /** The host sends everything once more, as after a lost connection. */
    async goBack(saved) {
      const { calls, sent: before } = readKept<Saved>(saved);
      await sendAgain?.(before);
      return make(calls.filter(({ id }) => !underWay.has(id)));
    },
    async close() {
      for (const { answer } of [...waiting.splice(0), ...turns.flat()]) answer("decline");
      await close();
    },
  };
}
