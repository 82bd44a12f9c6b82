/** The thread in which messages are parsed: answers one order after another. */
import { parentPort } from "node:worker_threads";
import { type ParseAnswer, type ParseOrder, separateBytes } from "../mail-message.ts";
import { parseMessage } from "./parse-message.ts";

async function carryOut({ bytes, part }: ParseOrder): Promise<void> {
  try {
    const { content, ...mail } = await parseMessage(bytes, part);
    const own = content === undefined ? undefined : separateBytes(content);
    say({ type: "parsed", mail: { ...mail, content: own } }, own === undefined ? [] : [own.buffer]);
  } catch (error) {
    say({ type: "unreadable", words: error instanceof Error ? error.message : "" });
  }
}

function say(answer: ParseAnswer, moved: ArrayBuffer[] = []): void {
  parentPort?.postMessage(answer, moved);
}

// The parser writes the time of a forwarded message in the zone of this machine, and does not say so.
Object.defineProperty(Intl, "DateTimeFormat", {
  value: class {
    format(date: Date): string {
      return date.toISOString();
    }
  },
});

parentPort?.on("message", (order: ParseOrder) => void carryOut(order));
say({ type: "ready" });
