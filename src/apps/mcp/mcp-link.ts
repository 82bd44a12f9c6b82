import { connectMcp, McpConnectError, type McpDefinition, type McpSession } from "./connect-mcp.ts";
import { isRefusal } from "./mcp-failure.ts";

/** Events that a link reports to its creator. */
interface LinkEvents {
  /** A session was opened; awaited before it is used, unless the signal says that the link is closed. */
  onOpen(session: McpSession, signal: AbortSignal): Promise<void>;
  /** The server cannot be started or reached, or refuses the credentials, for the first time since it worked. */
  onDown(error: unknown): void;
  onToolsChanged(session: McpSession): void;
  /** The settings with a token that lasts. */
  readLive?(): Promise<Readonly<Record<string, unknown>>>;
}

/** Milliseconds until the next try, by the number of failures in a row. */
const WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000];

/** The one session with a server for a connection: opened when it is first used, and again when it has broken. */
export class McpLink {
  readonly #definition: McpDefinition;
  readonly #settings: Readonly<Record<string, unknown>>;
  readonly #events: LinkEvents;
  #session: McpSession | undefined;
  #opening: Promise<McpSession> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  readonly #end = new AbortController();
  #isClosed = false;
  #running = 0;
  #onIdle: (() => void) | undefined;

  constructor(definition: McpDefinition, settings: Readonly<Record<string, unknown>>, events: LinkEvents) {
    this.#definition = definition;
    this.#settings = settings;
    this.#events = events;
  }

  /** True while a session is open. */
  get isOpen(): boolean {
    return this.#session !== undefined;
  }

  /** True while somebody works with the session, or waits for it. */
  get isBusy(): boolean {
    return this.#running > 0;
  }

  /** Works with the open session; opens one first. Rejects with the error of `work` or of the opening. */
  async use<T>(work: (session: McpSession) => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await work(await this.open());
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#onIdle?.();
    }
  }

  /** The open session; several callers share one attempt. Rejects with `McpConnectError`. */
  open(): Promise<McpSession> {
    if (this.#session !== undefined) return Promise.resolve(this.#session);
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** Ends this session, if it is still the open one; the next call opens another. */
  drop(session: McpSession): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    void session.close();
  }

  /** Tries again and again, each time after a longer wait, until the server is there or the link is closed. */
  recover(): void {
    if (this.#isClosed || this.#timer !== undefined || this.#session !== undefined) return;
    const wait = WAITS_MS[Math.min(this.#failures, WAITS_MS.length - 1)];
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.open().catch(() => {});
    }, wait).unref();
  }

  /** Waits up to `graceMs` for calls under way, then ends the session, also one that is just being opened. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (this.#running > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onIdle = resolve;
      const timer = setTimeout(resolve, graceMs);
      await promise;
      clearTimeout(timer);
    }
    this.#end.abort();
    await this.#opening?.catch(() => {});
    await this.#session?.close();
  }

  async #connect(): Promise<McpSession> {
    if (this.#isClosed) throw new McpConnectError("", new Error("The service is stopping."));
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { signal } = this.#end;
    let session: McpSession | undefined;
    try {
      session = await connectMcp(this.#definition, this.#settings, {
        signal,
        onClose: () => this.#lose(session),
        ...(this.#events.readLive !== undefined && { readLive: this.#events.readLive }),
        onToolsChanged: () => session !== undefined && this.#events.onToolsChanged(session),
      });
      await this.#events.onOpen(session, signal);
    } catch (cause) {
      await session?.close();
      const error =
        cause instanceof McpConnectError ? cause : new McpConnectError(session?.readComplaint() ?? "", cause);
      this.#failures += 1;
      // Once: each further try would tell the same.
      if (this.#failures === 1 && !this.#isClosed) this.#events.onDown(error);
      if (!isRefusal(error)) this.recover();
      throw error;
    }
    this.#failures = 0;
    this.#session = session;
    return session;
  }

  #lose(session: McpSession | undefined): void {
    if (session === undefined || this.#session !== session) return;
    this.#session = undefined;
    this.recover();
  }
}
