import { Worker } from "node:worker_threads";
import type { ParseAnswer, ParseOrder } from "./parse-order.ts";

const SOURCE = new URL("./parse-worker.ts", import.meta.url);
// This file's own ending tells whether sources or the built package run.
const SCRIPT = import.meta.url.endsWith(".ts") ? SOURCE : new URL("./parse-worker.js", import.meta.url);
/** Strings and objects of one message; bytes are not counted. */
const HEAP_MB = 512;

/** A thread that parses one message at a time. It does not keep the process from ending while nobody waits for it. */
export interface ParseThread {
  /**
   * Parses a message; its bytes belong to the thread from then on. Rejects with {@link ParseTimeout} after `limitMs` of
   * parsing, with the signal's reason, or with what ended the thread. Whoever gets a rejection has to end the thread.
   */
  carryOut(order: ParseOrder, o: { readonly limitMs: number; readonly signal: AbortSignal }): Promise<ParseAnswer>;
  /** False for a thread that has ended. */
  isAlive(): boolean;
  /** Ends the thread, whatever it is doing. */
  end(): Promise<void>;
}

/** A message took longer than it may. */
export class ParseTimeout extends Error {
  override readonly name = "ParseTimeout";
}

/** Starts a thread. */
export function startParseThread(heapMb = HEAP_MB): ParseThread {
  const worker = new Worker(SCRIPT, { env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: heapMb } });
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<never>();
  for (const { promise } of [ready, ended]) promise.catch(() => undefined);
  let answer: ((answer: ParseAnswer) => void) | undefined;
  let isAlive = true;
  worker.unref();
  worker.on("message", (said: ParseAnswer) => {
    if (said.type === "ready") ready.resolve();
    else answer?.(said);
  });
  worker.on("messageerror", ended.reject);
  worker.on("error", ended.reject);
  worker.on("exit", () => {
    isAlive = false;
    ended.reject(new Error("The thread ended."));
  });

  return {
    async carryOut(order, { limitMs, signal }) {
      signal.throwIfAborted();
      const stopped = Promise.withResolvers<never>();
      const stop = () => stopped.reject(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      let limit: NodeJS.Timeout | undefined;
      worker.ref();
      try {
        // Loading the code is no fault of the message.
        await Promise.race([ready.promise, ended.promise, stopped.promise]);
        const parsed = new Promise<ParseAnswer>((resolve) => {
          answer = resolve;
        });
        limit = setTimeout(() => stopped.reject(new ParseTimeout()), limitMs);
        worker.postMessage(order, [order.bytes.buffer]);
        return await Promise.race([parsed, ended.promise, stopped.promise]);
      } finally {
        worker.unref();
        clearTimeout(limit);
        signal.removeEventListener("abort", stop);
      }
    },
    isAlive: () => isAlive,
    async end() {
      isAlive = false;
      await worker.terminate();
    },
  };
}
