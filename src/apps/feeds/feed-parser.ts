import { Worker } from "node:worker_threads";
import { createGate } from "../../shared/base/concurrency.ts";
import { type FeedDocument, type ParsedFeed, readFeed } from "./read-feed.ts";

/** Smaller feeds are read at once: that takes some milliseconds. */
const LARGE = 256 * 1024;
/** Strings and objects of one feed. */
const HEAP_MB = 256;
const LIMIT_MS = 15_000;

const SOURCE = new URL("./feed-worker.ts", import.meta.url);
// This file's own ending tells whether sources or the built package run.
const SCRIPT = import.meta.url.endsWith(".ts") ? SOURCE : new URL("./feed-worker.js", import.meta.url);

/** Reads a feed as `readFeed` does; undefined also for one that takes too much time or memory. */
export type FeedParser = (document: FeedDocument, signal: AbortSignal) => Promise<ParsedFeed | undefined>;

/** Reads large feeds outside the service's own thread, one at a time: others decide how long that takes. */
export function createFeedParser(): FeedParser {
  const gate = createGate(1);
  return async (document, signal) => {
    if (document.bytes.length <= LARGE) return readFeed(document);
    const leave = await gate.enter(signal);
    try {
      return await readAside(document, signal);
    } finally {
      leave();
    }
  };
}

async function readAside(document: FeedDocument, signal: AbortSignal): Promise<ParsedFeed | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<ParsedFeed | undefined>();
  const resourceLimits = { maxOldGenerationSizeMb: HEAP_MB };
  const worker = new Worker(SCRIPT, { workerData: document, env: {}, execArgv: [], resourceLimits });
  const giveUp = () => resolve(undefined);
  const stop = () => reject(signal.reason);
  worker.on("message", resolve).on("error", giveUp).on("exit", giveUp);
  signal.addEventListener("abort", stop, { once: true });
  const limit = setTimeout(giveUp, LIMIT_MS);
  try {
    signal.throwIfAborted();
    return await promise;
  } finally {
    clearTimeout(limit);
    signal.removeEventListener("abort", stop);
    await worker.terminate();
  }
}
