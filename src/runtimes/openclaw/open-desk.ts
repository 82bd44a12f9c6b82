import { openFlowTools } from "../../flows/open-flow-tools.ts";
import { createToolSession, type SessionSettings, type ToolSession } from "../../tools/session.ts";
import type { SessionEvent } from "../../tools/session-events.ts";
import { createEmitter } from "../../tools/tell-listener.ts";
import type { Desk, OwnedDesk } from "./desk.ts";
import { watchKey } from "./key-watch.ts";
import type { HostOutcome } from "./translate-tool.ts";

/**
 * Opens a session with its static and flow tools. Nothing is sent before the first call.
 *
 * @throws SvcError `invalid_config` for a bad address or media folder
 */
export async function openDesk(
  options: Omit<SessionSettings, "onEvent"> & { readonly baseUrl: string; readonly apiKey: string },
): Promise<OwnedDesk> {
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
    tools: nameTools(opened, emit, run),
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

function nameTools(session: ToolSession, emit: (event: SessionEvent) => void, run: RunTool): Desk["tools"] {
  const flowTools = openFlowTools({ client: session.client, journal: session.journal, emit });
  const watched = [
    ...session.staticTools.map((tool) => ({
      ...tool,
      run: (...call: Parameters<typeof tool.run>) => run(() => tool.run(...call)),
    })),
    ...flowTools.map((tool) => ({
      ...tool,
      run: (...call: Parameters<typeof tool.run>) => run(() => tool.run(...call)),
    })),
  ];
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
