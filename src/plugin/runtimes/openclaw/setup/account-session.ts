import { join } from "node:path";
import { createEmitter } from "../../../../shared/base/concurrency.ts";
import { sha256Hex } from "../../../../shared/base/hash.ts";
import { isSvcError } from "../../../../shared/errors.ts";
import { createToolSession, type SessionSettings, type ToolSession } from "../../../calls/session.ts";
import type { SessionEvent } from "../../../calls/session-events.ts";
import type { StaticTool } from "../../../calls/static-tools.ts";
import { createResultSaver } from "../files/result-files.ts";
import { listMediaPlaces, type Places } from "../host/places.ts";
import { ASK_TO_PAIR } from "./find-key.ts";
import type { PluginSettings } from "./plugin-settings.ts";

/** One account's way to its tools. Hold it for one call only: it is closed when settings or key change. */
export type AccountSession = Omit<OwnedAccountSession, "retire">;

/** An account that can be closed. */
export type OwnedAccountSession = Awaited<ReturnType<typeof openAccount>>;

/**
 * Opens a session with its static and flow tools. Nothing is sent before the first call.
 *
 * @throws SvcError `invalid_config` for a bad address or media folder
 */
export async function openAccount(options: Omit<SessionSettings, "onEvent"> & Key) {
  const listeners = new Set<(event: SessionEvent) => void>();
  const emit = (event: SessionEvent) => {
    for (const listener of listeners) listener(event);
  };
  const opened = await createToolSession({ ...options, onEvent: emit });
  const running = createRunCount(() => opened.close());
  const tools = [...opened.staticTools, ...opened.flowTools].map((tool) => ({
    ...tool,
    run: (...call: Parameters<typeof tool.run>) => running.during(() => tool.run(...call)),
  }));
  const session: ToolSession = {
    ...opened,
    call: (call) => running.during(() => opened.call(call)),
    prepare: (call) => running.during(() => opened.prepare(call)),
    continue: (...given) => running.during(() => opened.continue(...given)),
    readResult: (page) => running.during(() => opened.readResult(page)),
    close: running.end,
  };
  return {
    session,
    /** Static tools and flow tools, by name. */
    tools: new Map<string, StaticTool>(tools.map((tool) => [tool.name, tool])),
    /** Asks the service whether a human's yes could have an effect now. */
    findObstacle: (signal?: AbortSignal) => findObstacle(opened.client, signal),
    /**
     * Tells `listener` of everything that happens, of all calls; returns how to stop. For progress, never for decisions:
     * a listener that fails changes nothing, for the call and for other listeners.
     */
    onEvent(listener: (event: SessionEvent) => void) {
      const tell = createEmitter(listener);
      listeners.add(tell);
      return () => void listeners.delete(tell);
    },
    /** Closes the session as soon as no call runs in it any more; a call that runs is never cut off. */
    retire: running.end,
  };
}

/** Counts what runs, and closes when it was told to end and nothing runs any more. */
function createRunCount(close: () => Promise<void>) {
  let count = 0;
  let isEnding = false;
  const ended = Promise.withResolvers<void>();
  const closeIfIdle = () => {
    if (isEnding && count === 0) ended.resolve(close());
  };
  return {
    async during<Result>(work: () => Promise<Result>): Promise<Result> {
      count += 1;
      try {
        return await work();
      } finally {
        count -= 1;
        closeIfIdle();
      }
    },
    end(): Promise<void> {
      isEnding = true;
      closeIfIdle();
      return ended.promise;
    },
  };
}

/** Milliseconds for the question; a call that waits for it has 60 seconds in the host. */
const ASK_MS = 10_000;

/** Why a human's yes would have no effect now: the service refuses the key, or does not answer. */
export type Obstacle = "refused" | "away";

/** Undefined for a service that takes the key, and for one with some other trouble, of which the call tells more. */
async function findObstacle(
  client: Pick<ToolSession["client"], "listTools">,
  signal: AbortSignal | undefined,
): Promise<Obstacle | undefined> {
  try {
    await client.listTools({ limit: 1 }, { signal, timeoutMs: ASK_MS });
    return undefined;
  } catch (error) {
    signal?.throwIfAborted();
    if (!isSvcError(error)) return undefined;
    if (error.code === "unauthorized") return "refused";
    return error.code === "unreachable" || error.code === "timeout" ? "away" : undefined;
  }
}

const NOTHING = "Nothing was run and nobody was asked for approval.";
const OBSTACLES: Readonly<Record<Obstacle, string>> = {
  refused:
    "The service does not accept the key any more: it was revoked, or it belongs to another service. " +
    `${NOTHING} Do not make this call again before the user has paired anew. ${ASK_TO_PAIR}`,
  away:
    `The service does not answer now. ${NOTHING} Make the same call once more a little later; when it still does not ` +
    'answer, tell the user, to whom "/svc status" in a chat or "openclaw svc status" in a terminal says more.',
};

/** For a call that the host blocks. */
export function describeObstacle(obstacle: Obstacle): string {
  return OBSTACLES[obstacle];
}

interface Key {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The account that this key continues; default one of its own. */
  readonly principal?: string | undefined;
}

/** More accounts than a host has agents with accounts of their own; the least recently used one is closed. */
const MOST = 16;

/** The open sessions, one per account. */
export type SessionCache = ReturnType<typeof createSessionCache>;

/** Sessions keep their files below `places.state`, in a folder per account. */
export function createSessionCache(places: Places) {
  interface Entry {
    readonly key: Key;
    readonly setup: string;
    readonly account: Promise<OwnedAccountSession>;
  }
  const entries = new Map<string, Entry>();
  const retire = async (name: string, entry: Entry) => {
    if (entries.get(name) === entry) entries.delete(name);
    const account = await entry.account.catch(() => undefined);
    await account?.retire();
  };
  return {
    /** Keys in use, to be kept out of logs. */
    listSecrets: () => [...entries.values()].map(({ key }) => key.apiKey),
    /** The session of this account with these settings; an open one with other settings is closed when it is idle. */
    async open(key: Key, { mediaRoots, upload, validation }: PluginSettings): Promise<AccountSession> {
      const { baseUrl, apiKey, principal } = key;
      // Says nothing about the key, which has far more than 64 random bits.
      const name = sha256Hex(`${baseUrl}\n${apiKey}`).slice(0, 16);
      const known = entries.get(name);
      const setup = JSON.stringify([mediaRoots, upload, validation]);
      const open = () =>
        openAccount({
          baseUrl,
          apiKey,
          principal,
          stateDir: join(places.state, "accounts", principal ?? name),
          ...listMediaPlaces(places, mediaRoots),
          receiveResult: createResultSaver(),
          upload,
          validation,
        });
      const entry = known?.setup === setup ? known : { key, setup, account: open() };
      // Deleted first, so that the map stays in the order of last use.
      entries.delete(name);
      entries.set(name, entry);
      // Not waited for: a call may run in an old account for as long as a human thinks about it.
      if (known !== undefined && known !== entry) void retire(name, known);
      const [oldest] = entries;
      if (entries.size > MOST && oldest !== undefined) void retire(...oldest);
      try {
        return await entry.account;
      } catch (error) {
        await retire(name, entry);
        throw error;
      }
    },
    /** Closes all sessions, each when it is idle. */
    async close(): Promise<void> {
      await Promise.all([...entries].map(([name, entry]) => retire(name, entry)));
    },
  };
}
