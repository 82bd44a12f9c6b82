import { Worker } from "node:worker_threads";
import { ServiceError } from "../../../service/service-error.ts";
import { createGate, type Gate } from "../../../shared/base/concurrency.ts";
import {
  type MessagePart,
  type ParseAnswer,
  type ParsedMail,
  type ParseOrder,
  separateBytes,
} from "../mail-message.ts";

/** Most messages that are parsed at the same time. */
const PLACES = 4;
/** Most of one account: what one mailbox was sent holds up no other one, and a slow message not the rest of its own. */
const ACCOUNT_PLACES = PLACES - 1;
/** Messages above this size, in bytes, are parsed one at a time: that takes eight times their size in memory. */
const LARGE = 32 * 1024 * 1024;
/** Idle time after which a thread ends. */
const IDLE_MS = 30_000;
/** Parsing the largest message takes some seconds on a busy machine. */
const LIMIT_MS = 20_000;

/** Limits of a parser. */
interface ParserOptions {
  /** Milliseconds after which an idle thread ends; default 30,000. */
  readonly idleMs?: number;
  /** Megabytes for the strings and objects of one message; default 512. */
  readonly heapMb?: number;
}

/** How one message is parsed. */
interface ParseCall extends MessagePart {
  /** The `message_id` that failures name. */
  readonly id: string;
  /** The connection whose message it is; one account never takes all places. */
  readonly account?: string;
  readonly signal: AbortSignal;
  /** Milliseconds that parsing may take; default 20,000. */
  readonly limitMs?: number;
}

/** Parses messages outside the service's own thread, because the sender of a mail decides how long that takes. */
export interface MailParser {
  /**
   * Takes the bytes away from the caller. Throws ServiceError 500 `provider_error` for a message that cannot be read, or not
   * in the time or memory it may use.
   */
  parse(bytes: Uint8Array, call: ParseCall): Promise<ParsedMail>;
  /** Ends all threads; a later message starts new ones. */
  close(): Promise<void>;
}

/** Creates a parser. It starts threads when they are needed, at most four, and uses them again. */
export function createMailParser(o: ParserOptions = {}): MailParser {
  const gate = createGate(PLACES);
  const largeGate = createGate(1);
  const accounts = new Map<string, Gate>();
  const idle: { readonly thread: ParseThread; readonly timer: NodeJS.Timeout }[] = [];
  const threads = new Set<ParseThread>();

  function take(): ParseThread {
    for (let rested = idle.pop(); rested !== undefined; rested = idle.pop()) {
      clearTimeout(rested.timer);
      if (rested.thread.isAlive()) return rested.thread;
      threads.delete(rested.thread);
    }
    const thread = startParseThread(o.heapMb);
    threads.add(thread);
    return thread;
  }

  function giveBack(thread: ParseThread): void {
    if (!thread.isAlive()) return;
    const timer = setTimeout(() => {
      idle.splice(
        idle.findIndex((one) => one.thread === thread),
        1,
      );
      void end(thread);
    }, o.idleMs ?? IDLE_MS).unref();
    idle.push({ thread, timer });
  }

  function getAccountGate(account: string): Gate {
    const own = accounts.get(account) ?? createGate(ACCOUNT_PLACES);
    accounts.set(account, own);
    return own;
  }

  async function enter(size: number, account: string | undefined, signal: AbortSignal): Promise<() => void> {
    const gates = [
      ...(account === undefined ? [] : [getAccountGate(account)]),
      ...(size > LARGE ? [largeGate] : []),
      gate,
    ];
    const entered: (() => void)[] = [];
    const leave = () => {
      for (const one of entered.toReversed()) one();
    };
    try {
      for (const one of gates) entered.push(await one.enter(signal));
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  async function end(thread: ParseThread): Promise<void> {
    threads.delete(thread);
    await thread.end();
  }

  return {
    async parse(bytes, { id, account, signal, limitMs = LIMIT_MS, ...part }) {
      const leave = await enter(bytes.length, account, signal);
      const thread = take();
      try {
        const answer = await thread.carryOut({ bytes: separateBytes(bytes), part }, { limitMs, signal });
        giveBack(thread);
        leave();
        if (answer.type === "parsed") return answer.mail;
        throw refuse(id, { did: "cannot be read" });
      } catch (cause) {
        // The next message waits until this thread is gone, so that there are never more than there are places.
        if (!(cause instanceof ServiceError)) void end(thread).finally(leave);
        signal.throwIfAborted();
        throw cause instanceof ServiceError ? cause : explain(id, cause, limitMs);
      }
    },
    async close() {
      for (const { timer } of idle.splice(0)) clearTimeout(timer);
      await Promise.all([...threads].map(end));
    },
  };
}

function explain(id: string, cause: unknown, limitMs: number): ServiceError {
  if (cause instanceof ParseTimeout)
    return refuse(id, { did: `could not be read within ${limitMs / 1000} seconds`, cause });
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  if (code === "ERR_WORKER_OUT_OF_MEMORY")
    return refuse(id, { did: "could not be read: it needs more memory than one message may use", cause });
  return refuse(id, { did: "cannot be read", cause });
}

function refuse(id: string, { did, cause }: { readonly did: string; readonly cause?: unknown }): ServiceError {
  return new ServiceError(500, "provider_error", `The message "${id}" ${did}.`, {
    type: "provider",
    hint: "Do not repeat the call: open the mailbox with a mail program and look at this message.",
    cause,
  });
}

const SOURCE = new URL("./parse-worker.ts", import.meta.url);
// This file's own ending tells whether sources or the built package run.
const SCRIPT = import.meta.url.endsWith(".ts") ? SOURCE : new URL("./parse-worker.js", import.meta.url);
/** Strings and objects of one message; bytes are not counted. */
const HEAP_MB = 512;

/** A thread that parses one message at a time. It does not keep the process from ending while nobody waits for it. */
interface ParseThread {
  /**
   * Parses a message; its bytes belong to the thread from then on. Rejects with {@link ParseTimeout} after `limitMs` of
   * parsing, with the signal's reason, or with the error that ended the thread. The caller ends the thread then.
   */
  carryOut(order: ParseOrder, o: { readonly limitMs: number; readonly signal: AbortSignal }): Promise<ParseAnswer>;
  /** False for a thread that has ended. */
  isAlive(): boolean;
  /** Ends the thread, whatever it is doing. */
  end(): Promise<void>;
}

/** A message took longer than it may. */
class ParseTimeout extends Error {
  override readonly name = "ParseTimeout";
}

/** Starts a thread. */
function startParseThread(heapMb = HEAP_MB): ParseThread {
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
