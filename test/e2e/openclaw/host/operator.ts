import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { HostState } from "./isolated-state.ts";
import type { Gateway } from "./start-gateway.ts";

/** An event of the gateway. */
interface GatewayEvent {
  readonly event: string;
  readonly payload: Record<string, unknown>;
}

/** A file that goes with a chat message. */
interface ChatAttachment {
  readonly fileName: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** A chat message on its way through the agent. */
interface Turn {
  readonly runId: string;
  /** The agent's last words; rejects when the turn fails. */
  readonly done: Promise<string>;
}

/** A person at the gateway's control interface. */
export interface Operator {
  readonly events: readonly GatewayEvent[];
  /** Calls a method of the gateway. */
  request(method: string, params?: object): Promise<Record<string, unknown>>;
  /**
   * Waits for an event, seen or to come, and takes it: the next call waits for another one.
   * @param fits Default: any event of this name.
   */
  take(name: string, fits?: (payload: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  /** Sends a message to the agent `main`, or to the one that the session names. */
  chat(message: string, options?: { sessionKey?: string; attachments?: readonly ChatAttachment[] }): Promise<Turn>;
  /** Takes the next approval card and answers it. Returns what the person was shown. */
  answerCard(decision: "allow-once" | "allow-always" | "deny"): Promise<Record<string, unknown>>;
  /** Comes back when the gateway has let go, too: until then it may still count this person as there. */
  close(): Promise<void>;
}

/** With several agents, the host takes a session only with the agent it is of. */
export const nameSession = (key: string) => (key.startsWith("agent:") ? key : `agent:main:${key}`);

const SCOPES = ["read", "write", "approvals", "questions", "admin"].map((name) => `operator.${name}`);
/** A client without "approvals" is never asked for one, whatever its scopes. */
const CAPS = ["tool-events", "approvals"];
const PROTOCOL = 4;
/** For what hangs; below the time a test has, so that it can say what came instead. */
const EVENT_MS = 240_000;
const RETRY_MS = 200;
const CONNECT_TRIES = 150;

/** Opens a control connection. A gateway that is still starting is asked again. */
export async function connectOperator(
  gateway: Pick<Gateway, "url">,
  { token }: Pick<HostState, "token">,
  scopes: readonly string[] = SCOPES,
  caps: readonly string[] = CAPS,
): Promise<Operator> {
  for (let tries = 1; ; tries += 1) {
    const line = new Line(gateway.url.replace("http", "ws"));
    try {
      await line.greet(token, scopes, caps);
      return createOperator(line);
    } catch (error) {
      await line.close();
      const busy = error instanceof GatewayError && error.code === "UNAVAILABLE";
      if (!busy || tries === CONNECT_TRIES) throw error;
      await wait(RETRY_MS);
    }
  }
}

/** A refusal of the gateway. */
class GatewayError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

interface Frame {
  type: string;
  id?: string;
  event?: string;
  ok?: boolean;
  payload?: Record<string, unknown>;
  error?: { code: string; message: string };
}

/** One WebSocket with the gateway's frames on it. */
class Line {
  readonly events: GatewayEvent[] = [];
  readonly taken = new Set<GatewayEvent>();
  readonly #socket: WebSocket;
  readonly #closed = Promise.withResolvers<void>();
  readonly #bell = new EventEmitter().setMaxListeners(0);
  readonly #waiting = new Map<
    string,
    { resolve: (payload: Record<string, unknown>) => void; reject: (e: Error) => void }
  >();

  constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#socket.onmessage = ({ data }) => this.#receive(JSON.parse(String(data)) as Frame);
    this.#socket.onclose = ({ code, reason }) => {
      this.#end(new GatewayError("CLOSED", `${code} ${reason}`));
      this.#closed.resolve();
    };
    this.#socket.onerror = () => this.#end(new GatewayError("UNAVAILABLE", "no connection"));
  }

  async greet(token: string, scopes: readonly string[], caps: readonly string[]): Promise<void> {
    await this.take("connect.challenge", () => true);
    const client = { id: "gateway-client", version: "0.0.0", platform: process.platform, mode: "backend" };
    const auth = { minProtocol: PROTOCOL, maxProtocol: PROTOCOL, role: "operator", scopes, auth: { token } };
    await this.request("connect", { ...auth, client, caps });
  }

  request(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = randomUUID();
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
    this.#waiting.set(id, { resolve, reject });
    this.#socket.send(JSON.stringify({ type: "req", id, method, params }));
    return promise;
  }

  async take(name: string, fits: (payload: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    const deadline = AbortSignal.timeout(EVENT_MS);
    for (;;) {
      const found = this.events.find((event) => event.event === name && !this.taken.has(event) && fits(event.payload));
      if (found !== undefined) {
        this.taken.add(found);
        return found.payload;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const giveUp = () => reject(new Error(`No ${name} came. Seen: ${this.events.map(({ event }) => event)}`));
      deadline.addEventListener("abort", giveUp);
      this.#bell.once("event", resolve);
      this.#bell.once("end", reject);
      try {
        await promise;
      } finally {
        deadline.removeEventListener("abort", giveUp);
        this.#bell.off("event", resolve);
        this.#bell.off("end", reject);
      }
    }
  }

  close(): Promise<void> {
    this.#socket.close();
    return this.#closed.promise;
  }

  #receive(frame: Frame): void {
    if (frame.type === "event") {
      this.events.push({ event: frame.event ?? "", payload: frame.payload ?? {} });
      this.#bell.emit("event");
      return;
    }
    const waiting = this.#waiting.get(frame.id ?? "");
    this.#waiting.delete(frame.id ?? "");
    if (frame.ok) waiting?.resolve(frame.payload ?? {});
    else waiting?.reject(new GatewayError(frame.error?.code ?? "", frame.error?.message ?? ""));
  }

  #end(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    this.#bell.emit("end", error);
  }
}

function createOperator(line: Line): Operator {
  const take: Operator["take"] = (name, fits = () => true) => line.take(name, fits);
  return {
    events: line.events,
    request: (method, params) => line.request(method, params),
    take,
    async chat(message, { sessionKey = "main", attachments = [] } = {}) {
      const started = await line.request("chat.send", {
        sessionKey: nameSession(sessionKey),
        message,
        idempotencyKey: randomUUID(),
        attachments: attachments.map(({ fileName, mimeType, bytes }) => ({
          type: mimeType.startsWith("image/") ? "image" : "file",
          mimeType,
          fileName,
          content: Buffer.from(bytes).toString("base64"),
        })),
      });
      const runId = String(started.runId);
      const done = take("chat", (payload) => payload.runId === runId && isEnd(payload.state)).then((payload) => {
        if (payload.state !== "final") throw new Error(`The turn ended: ${JSON.stringify(payload)}`);
        return readWords(payload.message);
      });
      done.catch(() => {});
      return { runId, done };
    },
    async answerCard(decision) {
      const card = await take("plugin.approval.requested");
      await line.request("plugin.approval.resolve", { id: card.id, decision });
      return (card.request ?? card) as Record<string, unknown>;
    },
    close: () => line.close(),
  };
}

const isEnd = (state: unknown) => state === "final" || state === "error" || state === "aborted";

function readWords(message: unknown): string {
  const { content } = (message ?? {}) as { content?: string | { text?: string }[] };
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}
