import type { request } from "undici";
import { readText } from "../../service/fetch/read-body.ts";
import { refuseUnavailable, ServiceError } from "../../service/service-error.ts";
import { hideSecrets } from "./hide-secrets.ts";
import type { Action, ActionContext } from "./integration.ts";
import { createProviderError, readNetworkFailure, readRetryAfter } from "./provider-failure.ts";
import { findProviderWords } from "./provider-words.ts";

type Reply = Awaited<ReturnType<typeof request>>;

const READ = { level: "read", idempotent: true } as const;
const REFUSED_KEY = /<Code>(?:InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken)</;
const MAX_WORDS_BYTES = 64 * 1024;
const BLOCKED = "its address is not a public one; the service reaches others with --allow-host HOST:PORT";

/** How a request may end. */
interface RemoteRequest {
  /** True when it changes something that people see: an answer that is lost leaves its effect unknown then. */
  readonly isEffect?: boolean;
  /** Statuses beside those below 300 that the caller understands. */
  readonly expects?: readonly number[];
}

/** The requests of one call to a server. Every failure is a ServiceError; nothing is sent twice, no redirect followed. */
export class RemoteCall {
  readonly #o: ConstructorParameters<typeof RemoteCall>[0];

  /**
   * @param o.app the server as errors name it
   * @param o.secrets settings that no error may repeat
   */
  constructor(o: {
    readonly app: string;
    readonly action: Pick<Action, "level" | "idempotent">;
    readonly context: Pick<ActionContext, "signal" | "now">;
    readonly secrets: Readonly<Record<string, unknown>>;
  }) {
    this.#o = o;
  }

  get signal(): AbortSignal {
    return this.#o.context.signal;
  }

  get now(): () => number {
    return this.#o.context.now;
  }

  /** Sends, and returns an answer that is expected; the caller reads or dumps its body. */
  async ask(send: () => Promise<Reply>, o: RemoteRequest = {}): Promise<Reply> {
    const reply = await send().catch((error: unknown) => {
      throw this.explain(error, o);
    });
    const { statusCode: status, headers, body } = reply;
    if (status < 300 || o.expects?.includes(status)) return reply;
    const text = (await readText(body, MAX_WORDS_BYTES).catch(() => "")) ?? "";
    this.signal.throwIfAborted();
    const message = hideSecrets(findWords(text) ?? "", this.#o.secrets);
    if (status === 507)
      throw refuseUnavailable(`${this.#o.app} has no space left.`, "Free some space, then repeat the call.");
    if (status === 501) throw refuseServer(this.#o.app, message);
    const after = headers["retry-after"];
    const retryAfterSeconds = readRetryAfter(typeof after === "string" ? after : undefined, this.now());
    // 423 is a lock that somebody else holds. A bucket says 403 for a key that it does not know, too.
    const known = status === 423 ? 409 : REFUSED_KEY.test(text) ? 401 : status;
    throw createProviderError({ kind: "status", status: known, message, retryAfterSeconds }, this.#judge(o));
  }

  /** The error for a network that failed; also while a body is read. */
  explain(error: unknown, o: RemoteRequest = {}): unknown {
    if (error instanceof ServiceError && error.code !== "media_url_blocked") return error;
    if (this.signal.aborted) return error;
    return createProviderError(readNetworkFailure(error, BLOCKED), this.#judge(o));
  }

  /** The error for an answer that cannot be read. */
  refuseGarbage(o: RemoteRequest = {}): ServiceError {
    return createProviderError({ kind: "garbage" }, this.#judge(o));
  }

  /** Does what takes several requests that change something. Once `hasActed` says so, a failure leaves a part done. */
  async finish<T>(what: string, work: () => Promise<T>, hasActed: () => boolean): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!hasActed() || !(error instanceof ServiceError)) throw error;
      const message = `${what} was begun and not finished: ${error.message}`;
      const hint = "List both places to see what is where, then do the rest.";
      throw new ServiceError(500, "outcome_unknown", message, { type: "provider", hint, cause: error });
    }
  }

  /** If a look-up before a change fails, the change was not sent. */
  #judge({ isEffect = false }: RemoteRequest) {
    return { app: this.#o.app, action: isEffect ? this.#o.action : READ };
  }
}

/** 422 for a server that says it does not know such requests; nothing was done. */
function refuseServer(app: string, message: string): ServiceError {
  const said = message === "" ? "" : `: ${message}`;
  return new ServiceError(422, "integration_misconfigured", `${app} does not know this kind of request${said}`, {
    type: "configuration",
    hint: "Changes need a store that knows conditional writes, or a server that knows the methods of WebDAV. Reading works.",
  });
}

/** The words of an error answer: JSON, or the message or code in the XML of a bucket or of a WebDAV server. */
function findWords(text: string): string | undefined {
  const [, message] = /<(?:\w+:)?message>([^<]{1,300})</i.exec(text) ?? /<Code>(\w{1,100})</.exec(text) ?? [];
  return message ?? (text.trimStart().startsWith("<") ? undefined : findProviderWords(text));
}

/**
 * At most `length` bytes from `from` on, out of an answer that begins there (206), or, from a server that knows no ranges,
 * at the beginning of the file.
 */
export async function* takeRange(
  { statusCode, body }: { readonly statusCode: number; readonly body: AsyncIterable<Uint8Array> },
  from: number,
  length: number,
): AsyncGenerator<Uint8Array> {
  let skip = statusCode === 206 ? 0 : from;
  let left = length;
  for await (const piece of body) {
    const part = piece.subarray(skip, skip + left);
    skip -= Math.min(skip, piece.length);
    left -= part.length;
    if (part.length > 0) yield part;
    if (left === 0) return;
  }
}
