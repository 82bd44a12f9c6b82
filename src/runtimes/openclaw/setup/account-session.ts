import { createToolSession, type SessionSettings, type ToolSession } from "../../../calls/session.ts";
import type { SessionEvent } from "../../../calls/session-events.ts";
import { createEmitter } from "../../../calls/session-events.ts";
import type { StaticTool } from "../../../calls/static-tools.ts";
import { isSvcError } from "../../../errors.ts";
import type { HostOutcome } from "../translate-tool.ts";

import { ASK_TO_PAIR } from "./explain-pairing.ts";

/**
 * Opens a session with its static and flow tools. Nothing is sent before the first call.
 *
 * @throws SvcError `invalid_config` for a bad address or media folder
 */
export async function openAccount(
  options: Omit<SessionSettings, "onEvent"> & { readonly baseUrl: string; readonly apiKey: string },
): Promise<OwnedAccountSession> {
  const listeners = new Set<(event: SessionEvent) => void>();
  const emit = (event: SessionEvent) => {
    for (const listener of listeners) listener(event);
  };
  const opened = await createToolSession({ ...options, onEvent: emit });
  const running = createRunCount(() => opened.close());
  const key = watchKey(opened.client);
  const run: RunTool = (work) =>
    running.during(async () => {
      const outcome = await work();
      key.note(outcome);
      return outcome;
    });
  const session: ToolSession = {
    ...opened,
    call: (call) => run(() => opened.call(call)),
    preview: (call) => running.during(() => opened.preview(call)),
    readResult: (page) => running.during(() => opened.readResult(page)),
    close: () => running.end(),
  };
  return {
    session,
    tools: nameTools(opened, run),
    key,
    onEvent(listener) {
      const tell = createEmitter(listener);
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    retire: () => running.end(),
  };
}

/** Runs a call that counts as running, and looks at how it ended. */
type RunTool = <Outcome extends HostOutcome>(work: () => Promise<Outcome>) => Promise<Outcome>;

function nameTools({ staticTools, flowTools }: ToolSession, run: RunTool): AccountSession["tools"] {
  const watched = [...staticTools, ...flowTools].map((tool) => ({
    ...tool,
    run: (...call: Parameters<typeof tool.run>) => run(() => tool.run(...call)),
  }));
  return new Map(watched.map((tool) => [tool.name, tool]));
}

/** Counts what runs, and closes when it was told to end and nothing runs any more. */
interface RunCount {
  during<Result>(work: () => Promise<Result>): Promise<Result>;
  end(): Promise<void>;
}

function createRunCount(close: () => Promise<void>): RunCount {
  let count = 0;
  let isEnding = false;
  const ended = Promise.withResolvers<void>();
  const closeIfIdle = () => {
    if (isEnding && count === 0) ended.resolve(close());
  };
  return {
    async during(work) {
      count += 1;
      try {
        return await work();
      } finally {
        count -= 1;
        closeIfIdle();
      }
    },
    end() {
      isEnding = true;
      closeIfIdle();
      return ended.promise;
    },
  };
}

/** One account's way to its tools. Hold it for one call only: it is closed when settings or key change. */
export interface AccountSession {
  readonly session: ToolSession;
  /** Static tools and flow tools, by name. */
  readonly tools: ReadonlyMap<string, StaticTool>;
  /** Whether the service still takes the key, as far as calls have shown it. */
  readonly key: Pick<KeyWatch, "isRefused">;
  /**
   * Tells `listener` of everything that happens, of all calls; returns how to stop. For progress, never for decisions:
   * one that fails changes nothing, for the call and for other listeners.
   */
  onEvent(listener: (event: SessionEvent) => void): () => void;
}

/** A account that can be closed. */
export interface OwnedAccountSession extends AccountSession {
  /** Closes the session as soon as no call runs in it any more; a call that runs is never cut off. */
  retire(): Promise<void>;
}

/** What the answers of the service have told about the key of one account. */
interface KeyWatch {
  /** Looks at how a call ended. */
  note(outcome: Pick<HostOutcome, "code">): void;
  /**
   * True when the service refuses the key. Nothing is sent as long as no call has met a refusal; after one the service is
   * asked again each time, so that a key it takes again is good at once. False when it cannot be asked.
   */
  isRefused(signal?: AbortSignal): Promise<boolean>;
}

/** Milliseconds for the question; a call that waits for it has 60 seconds in the host. */
const ASK_MS = 10_000;

/** For a call the host is told to block because the service refuses the key. */
export const KEY_REFUSED =
  "The service does not accept the key any more: it was revoked, or it belongs to another service. Nothing was run " +
  `and nobody was asked for approval. Do not make this call again before the user has paired anew. ${ASK_TO_PAIR}`;

/** Watches the key of this client; to begin with it is taken for good. */
function watchKey(client: Pick<ToolSession["client"], "listTools">): KeyWatch {
  let hasRefusal = false;
  return {
    note({ code }) {
      if (code === "unauthorized") hasRefusal = true;
    },
    async isRefused(signal) {
      if (!hasRefusal) return false;
      try {
        await client.listTools({ limit: 1 }, { signal, timeoutMs: ASK_MS });
        hasRefusal = false;
        return false;
      } catch (error) {
        signal?.throwIfAborted();
        return isSvcError(error) && error.code === "unauthorized";
      }
    },
  };
}
