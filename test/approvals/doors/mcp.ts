import { connectHere } from "../../runtimes/mcp/mcp-client.ts";
import type { Answer, Door, Turn } from "../door.ts";

interface Waiting {
  readonly message: string;
  readonly answer: (answer: Answer) => void;
}

/** `svc mcp` with a client that shows forms: a question ends with the server that asked it. */
export const MCP: Door = {
  name: "svc mcp",
  canEdit: false,
  hasModel: false,
  outlives: false,
  expiresAfterMs: undefined,
  async open({ home, baseUrl: url, apiKey, ...settings }) {
    const waiting: Waiting[] = [];
    const turns: Waiting[][] = [];
    let changed = Promise.withResolvers<void>();
    let running = 0;
    let told: string[] = [];
    const tell = () => {
      changed.resolve();
      changed = Promise.withResolvers();
    };
    const { now, idempotencyKeys } = settings;
    const client = await connectHere(
      home,
      { url, apiKey },
      {
        session: { ...(now && { now }), ...(idempotencyKeys && { idempotencyKeys }) },
        human: ({ message }) =>
          new Promise((resolve) => {
            const answer = (given: Answer) =>
              resolve(given === "approve" ? { action: "accept", content: { approve: true } } : { action: "decline" });
            waiting.push({ message, answer });
            tell();
          }),
      },
    );
    /** Waits until every call has ended or asks. */
    const settle = async (): Promise<Turn> => {
      while (waiting.length < running) await changed.promise;
      turns.push(waiting.splice(0));
      running = 0;
      const [questions, said] = [turns.at(-1)?.map(({ message }) => message) ?? [], told];
      told = [];
      return { saved: String(turns.length - 1), questions, told: said };
    };
    return {
      start(calls) {
        for (const { name, args } of calls) {
          running += 1;
          const ended = client.call(name, args).then((outcome) => {
            running -= 1;
            told.push(JSON.stringify(outcome));
            tell();
          });
          ended.catch(() => undefined);
        }
        return settle();
      },
      resume(saved, answers) {
        const asked = turns[Number(saved)]?.splice(0) ?? [];
        running += asked.length;
        for (const [index, { answer }] of asked.entries()) answer(answers[index] ?? "decline");
        return settle();
      },
      close: () => client.close(),
    };
  },
};
