import type { ImapFlow, Logger } from "imapflow";
import { createGate } from "../../../shared/base/concurrency.ts";
import type { Action } from "../../port/integration.ts";
import { MAX_MESSAGE_BYTES } from "../mail-box.ts";
import { explainConnect, explainImap, explainImapSignIn, isRefusal } from "./mail-failure.ts";
import type { ServerSettings } from "./server-settings.ts";
import { GREETING_MS } from "./speaks-tls.ts";

const CONNECT_MS = 10_000;
/** Silence in the middle of a command after which a connection counts as lost; less than a call may take. */
const SILENCE_MS = 45_000;
/** Idle time after which a connection is closed. */
const IDLE_MS = 60_000;

/** A live connection, for the length of one piece of work. */
export interface ImapLine {
  readonly client: ImapFlow;
  /** Who is signed in. */
  readonly user: string;
  /** The value of a command; imapflow answers `false` where the server refused, and tells why only its log. */
  need<T>(value: T | false | undefined): T;
  /** Forgets refusals of earlier work. */
  forget(): void;
}

/** One piece of work, as far as errors and repetitions depend on it. */
interface ImapWork {
  readonly signal: AbortSignal;
  /** What a failure at this moment counts as. Undefined: nothing is changed, so it may be done again. */
  readonly changes?: () => Pick<Action, "level" | "idempotent">;
}

/** The only connection of an account: opened on demand, closed when idle. */
export interface ImapSession {
  /** Runs one piece of work at a time. Failures come out as ServiceErrors. */
  use<T>(o: ImapWork, work: (line: ImapLine) => Promise<T>): Promise<T>;
  /** Signs out; work that still runs fails. A later use opens a new connection. */
  close(): Promise<void>;
}

/** A failure of what changes nothing. */
export const READ = { level: "read", idempotent: true } as const;

/** Creates a session; does no I/O yet. `look` gives the settings that hold when a connection is opened. */
export function createImapSession(look: () => ServerSettings, idleMs = IDLE_MS): ImapSession {
  const gate = createGate(1);
  let open: (ImapLine & { readonly client: ImapFlow }) | undefined;
  let idle: NodeJS.Timeout | undefined;

  async function connect(signal: AbortSignal): Promise<ImapLine> {
    const settings = look();
    const line = await createLine(settings);
    try {
      await untilAbort(line, signal, () => line.client.connect());
    } catch (error) {
      line.client.close();
      signal.throwIfAborted();
      throw explainImapSignIn(error, settings) ?? (await explainConnect(error, settings.imap));
    }
    open = line;
    return line;
  }

  async function reuse(o: ImapWork): Promise<ImapLine | undefined> {
    const line = open;
    if (line === undefined || !line.client.usable) return undefined;
    // Never send a change over a dead connection. Besides, a server reports news in the selected folder
    // only in reply to a command.
    if (await isAlive(line, o.signal)) return line;
    line.client.close();
    return undefined;
  }

  async function attempt<T>(o: ImapWork, line: ImapLine, work: (line: ImapLine) => Promise<T>): Promise<T> {
    try {
      line.forget();
      return await untilAbort(line, o.signal, () => work(line));
    } catch (error) {
      o.signal.throwIfAborted();
      const failure = explainImap(error, { server: look().imap, action: o.changes?.() ?? READ });
      if (failure !== error && !isRefusal(error)) line.client.close();
      throw failure;
    }
  }

  return {
    async use(o, work) {
      const leave = await gate.enter(o.signal);
      clearTimeout(idle);
      try {
        const line = await reuse(o);
        if (line === undefined) return await attempt(o, await connect(o.signal), work);
        try {
          return await attempt(o, line, work);
        } catch (error) {
          if (o.changes !== undefined || line.client.usable || o.signal.aborted) throw error;
          return await attempt(o, await connect(o.signal), work);
        }
      } finally {
        idle = setTimeout(() => open?.client.logout().catch(() => open?.client.close()), idleMs).unref();
        leave();
      }
    },

    async close() {
      clearTimeout(idle);
      const line = open;
      open = undefined;
      if (line?.client.usable) await Promise.race([line.client.logout().catch(() => undefined), pause(1000)]);
      line?.client.close();
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** Closes the connection when the signal aborts. */
async function untilAbort<T>({ client }: ImapLine, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const leave = () => {
    client.close();
    reject(signal.reason);
  };
  signal.throwIfAborted();
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

async function isAlive(line: ImapLine, signal: AbortSignal): Promise<boolean> {
  await untilAbort(line, signal, () => line.client.noop().catch(() => undefined));
  return line.client.usable;
}

async function createLine({ imap, user, signIn, secret, ca }: ServerSettings): Promise<ImapLine> {
  const { ImapFlow } = await import("imapflow");
  let refused: unknown;
  const hear = (entry: { readonly err?: unknown }) => {
    if (entry?.err !== undefined) refused = entry.err;
  };
  const logger: Logger = { debug() {}, info() {}, warn: hear, error: hear };
  const client = new ImapFlow({
    host: imap.host,
    port: imap.port,
    secure: imap.security === "tls",
    ...(imap.security === "tls" ? {} : { doSTARTTLS: imap.security === "starttls" }),
    auth: { user, ...(signIn === "password" ? { pass: secret } : { accessToken: secret }) },
    ...(ca === undefined ? {} : { tls: { ca } }),
    clientInfo: { name: "svc" },
    logger,
    disableAutoIdle: true,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: GREETING_MS,
    socketTimeout: SILENCE_MS,
    maxLineLength: 4 * 1024 * 1024,
    maxLiteralSize: MAX_MESSAGE_BYTES + 1024,
    maxResponseSize: MAX_MESSAGE_BYTES + 8 * 1024 * 1024,
  });
  // The command that was running fails by itself; without a listener the process would end.
  client.on("error", (error) => {
    refused = error;
  });
  return {
    client,
    user,
    need(value) {
      if (value !== false && value !== undefined) return value;
      throw refused ?? new Error("The server did not say why.");
    },
    forget() {
      refused = undefined;
    },
  };
}
