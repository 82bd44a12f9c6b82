import type { CallbackManagerForToolRun } from "@langchain/core/callbacks/manager";
import { withAbort } from "../../calls/ask/abort.ts";
import type { SessionEvent } from "../../calls/session-events.ts";

/** One step of a call, as it reaches the host's streams. */
export interface ProgressEvent {
  readonly type: "svc_progress";
  readonly tool: string;
  /** Id the model gave the call. */
  readonly toolCallId: string | undefined;
  readonly step: "waiting_for_approval" | "uploading" | "sending" | "flow" | "finished";
  /** Page on which the owner of the service decides, when the call waits for them. */
  readonly url?: string | undefined;
  /** Which file is uploaded, e.g. `attachments[0]`. */
  readonly field?: string;
  /** Bytes of this file that were sent so far, and its size. */
  readonly sentBytes?: number;
  readonly totalBytes?: number;
  /** How the call ended, or how the flow stands. */
  readonly status?: string;
  readonly flowId?: string;
  /** The step the flow is at. */
  readonly flowStep?: string | null;
}

/** Name of the custom event. */
const EVENT = "svc_progress";

type Listener = (event: SessionEvent) => void;

/** Passes a session's events on to the host and to the calls they belong to. */
export class ProgressFeed {
  readonly #tellHost: Listener | undefined;
  readonly #listeners = new Map<string, Set<Listener>>();

  constructor(tellHost: Listener | undefined) {
    this.#tellHost = tellHost;
  }

  /** Give this to the session. */
  readonly emit = (event: SessionEvent): void => {
    this.#tellHost?.(event);
    const listeners = "callId" in event ? this.#listeners.get(event.callId) : undefined;
    for (const listener of listeners ?? []) listener(event);
  };

  /** Listens to one call until the returned function is called. */
  listen(callId: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(callId) ?? new Set();
    this.#listeners.set(callId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(callId);
    };
  }
}

/** The call that is reported, and where to. */
interface ProgressTarget {
  readonly toolCallId: string | undefined;
  /** LangGraph's own stream, where there is one. */
  readonly writer: unknown;
  readonly runManager: CallbackManagerForToolRun | undefined;
}

/** Reports a call's steps in the three ways LangChain has: custom event, stream writer, tool event. */
export function createProgressReporter({ toolCallId, writer, runManager }: ProgressTarget): {
  report(event: SessionEvent): void;
  flush(signal: AbortSignal | undefined): Promise<void>;
} {
  const pending: Promise<unknown>[] = [];
  // A listener that fails must not cost the call, nor, long before anybody waits for it, the process.
  const follow = (told: Promise<unknown>) => void pending.push(told.catch(() => undefined));
  return {
    report(event) {
      const progress = toProgress(event, toolCallId);
      if (progress === undefined) return;
      write(writer, progress);
      if (runManager === undefined) return;
      follow(runManager.handleCustomEvent(EVENT, progress, runManager.runId));
      // Older releases have no tool events.
      if ("handleToolEvent" in runManager) follow(runManager.handleToolEvent(progress));
    },
    // A listener that never answers keeps nobody who gives up.
    flush: async (signal) => void (await withAbort(Promise.all(pending), signal).catch(() => undefined)),
  };
}

function write(writer: unknown, progress: ProgressEvent): void {
  if (typeof writer !== "function") return;
  try {
    writer(progress);
  } catch {
    // The stream was closed by its reader.
  }
}

function toProgress(event: SessionEvent, toolCallId: string | undefined): ProgressEvent | undefined {
  if (!("callId" in event)) return undefined;
  const base = { type: "svc_progress" as const, tool: event.toolName, toolCallId };
  switch (event.type) {
    case "approval_requested":
      return { ...base, step: "waiting_for_approval" };
    case "awaiting_owner":
      return { ...base, step: "waiting_for_approval", url: event.url };
    case "uploading": {
      const { field, sentBytes, totalBytes } = event;
      return { ...base, step: "uploading", field, sentBytes, totalBytes };
    }
    case "sending":
      return { ...base, step: "sending" };
    case "flow_progress":
      return { ...base, step: "flow", flowId: event.flowId, flowStep: event.step, status: event.status };
    case "finished":
      return { ...base, step: "finished", status: event.status };
    default:
      return undefined;
  }
}
