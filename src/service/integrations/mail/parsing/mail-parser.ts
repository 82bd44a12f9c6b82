import { createGate } from "../../../files/gate.ts";
import { ServiceError } from "../../../service-error.ts";
import type { MessagePart, ParsedMail } from "../mail-message.ts";
import { separateBytes } from "./parse-order.ts";
import { type ParseThread, ParseTimeout, startParseThread } from "./parse-thread.ts";

/** Most messages that are parsed at the same time. */
const PLACES = 4;
/** Messages above this size, in bytes, are parsed one at a time: that takes eight times their size in memory. */
const LARGE = 32 * 1024 * 1024;
/** A thread that nobody used for so long is ended. */
const IDLE_MS = 30_000;
/** Parsing the largest message takes some seconds on a busy machine. */
const LIMIT_MS = 20_000;

/** What a parser may use. */
interface ParserOptions {
  /** Milliseconds after which a thread that nobody uses ends; default 30,000. */
  readonly idleMs?: number;
  /** Megabytes for the strings and objects of one message; default 512. */
  readonly heapMb?: number;
}

/** How one message is parsed. */
interface ParseCall extends MessagePart {
  /** The `message_id` that failures name. */
  readonly id: string;
  readonly signal: AbortSignal;
  /** Milliseconds that parsing may take; default 20,000. */
  readonly limitMs?: number;
}

/** Parses messages outside the service's own thread, because whoever sends a mail decides how long that takes. */
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

  async function enter(size: number, signal: AbortSignal): Promise<() => void> {
    const leaveLarge = size > LARGE ? await largeGate.enter(signal) : undefined;
    try {
      const leave = await gate.enter(signal);
      return () => {
        leave();
        leaveLarge?.();
      };
    } catch (error) {
      leaveLarge?.();
      throw error;
    }
  }

  async function end(thread: ParseThread): Promise<void> {
    threads.delete(thread);
    await thread.end();
  }

  return {
    async parse(bytes, { id, signal, limitMs = LIMIT_MS, ...part }) {
      const leave = await enter(bytes.length, signal);
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
