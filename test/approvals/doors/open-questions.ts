import type { Answer, ModelCall, OpenDoor, Turn } from "../door.ts";

interface Waiting {
  readonly message: string;
  readonly answer: (answer: Answer) => void;
}

interface Parts {
  /** Makes a call; its human is asked by `ask` below. Gives what the model is told. */
  call(call: ModelCall): Promise<string>;
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
  const { call, close } = await open(
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
    const turn = { saved: String(turns.length - 1), questions: asked.map(({ message }) => message), told };
    told = [];
    return turn;
  };
  const run = async (one: ModelCall) => {
    const text = await call(one).catch((error: unknown) => String(error));
    running -= 1;
    told.push(text);
    tell();
  };
  return {
    start(calls) {
      running += calls.length;
      for (const one of calls) void run(one);
      return settle();
    },
    resume(saved, answers) {
      const asked = turns[Number(saved)]?.splice(0) ?? [];
      running += asked.length;
      for (const [index, { answer }] of asked.entries()) answer(answers[index] ?? "decline");
      return settle();
    },
    async close() {
      for (const { answer } of [...waiting.splice(0), ...turns.flat()]) answer("decline");
      await close();
    },
  };
}
