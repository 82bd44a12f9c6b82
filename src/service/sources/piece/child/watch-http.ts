import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest, IncomingMessage } from "node:http";

/** One request the piece sent, and what became of it. */
export interface Exchange {
  readonly method: string;
  readonly url: string;
  status?: number;
  retryAfter?: string;
  /** True when a header says that nothing more is allowed for now. */
  isExhausted?: boolean;
  /** `code` of the error it ended with, `""` when that has none. */
  errorCode?: string;
}

/** How long a piece has to tell of a failure of its provider before it counts as waiting for another try, milliseconds. */
const GRACE_MS = 1_500;

/**
 * Sees every request of this process, whichever library sends it: pieces often keep status and `Retry-After` to
 * themselves. A request that failed is not sent a second time here: a write could act twice, and who waits for
 * minutes between tries only hides that the provider is down.
 */
export class HttpWatch {
  readonly exchanges: Exchange[] = [];
  readonly #byRequest = new WeakMap<object, Exchange>();
  readonly #giveUp: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param giveUp called when the piece tries a failed request again, or waits to do so. */
  constructor(giveUp: () => void) {
    this.#giveUp = giveUp;
  }

  start(): void {
    subscribe("http.client.request.created", (message) => {
      const { request } = message as { request: ClientRequest };
      const url = `${request.protocol}//${request.getHeader("host") ?? request.host}${request.path}`;
      if (!this.#begin(request, request.method, url)) request.destroy(new Error("Not sent a second time."));
    });
    subscribe("http.client.response.finish", (message) => {
      const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
      this.#answer(request, response.statusCode ?? 0, (name) => readHeader(response.headers[name]));
    });
    subscribe("http.client.request.error", (message) => {
      const { request, error } = message as { request: ClientRequest; error: unknown };
      this.#fail(request, error);
    });
    this.#watchUndici();
  }

  #watchUndici(): void {
    subscribe("undici:request:create", (message) => {
      const { request } = message as { request: { method: string; origin: string; path: string } };
      this.#begin(request, request.method, `${request.origin}${request.path}`);
    });
    subscribe("undici:request:headers", (message) => {
      const { request, response } = message as {
        request: object;
        response: { statusCode: number; headers: readonly Uint8Array[] };
      };
      const texts = response.headers.map((header) => Buffer.from(header).toString("latin1"));
      this.#answer(request, response.statusCode, (name) => {
        const index = texts.findIndex((text, at) => at % 2 === 0 && text.toLowerCase() === name);
        return index < 0 ? undefined : texts[index + 1];
      });
    });
    subscribe("undici:request:error", (message) => {
      const { request, error } = message as { request: object; error: unknown };
      this.#fail(request, error);
    });
    const send = globalThis.fetch;
    globalThis.fetch = async (input, init) => {
      const request = input instanceof Request ? input : undefined;
      const url = URL.parse(request?.url ?? String(input))?.href ?? "";
      if (this.#isRepeat(init?.method?.toUpperCase() ?? request?.method ?? "GET", url)) {
        this.#giveUp();
        throw new Error("Not sent a second time.");
      }
      return send(input, init);
    };
  }

  /** False for a request that must not be sent. */
  #begin(request: object, method: string, url: string): boolean {
    clearTimeout(this.#timer);
    if (this.#isRepeat(method, url)) {
      this.#giveUp();
      return false;
    }
    const exchange = { method, url };
    this.exchanges.push(exchange);
    this.#byRequest.set(request, exchange);
    return true;
  }

  #isRepeat(method: string, url: string): boolean {
    return this.exchanges.some((known) => known.method === method && known.url === url && hasFailed(known));
  }

  #answer(request: object, status: number, find: (header: string) => string | undefined): void {
    const exchange = this.#byRequest.get(request);
    if (exchange === undefined) return;
    exchange.status = status;
    const retryAfter = find("retry-after");
    if (retryAfter !== undefined) exchange.retryAfter = retryAfter;
    exchange.isExhausted = find("x-ratelimit-remaining") === "0";
    this.#awaitWords(exchange);
  }

  #fail(request: object, error: unknown): void {
    const exchange = this.#byRequest.get(request);
    if (exchange === undefined) return;
    exchange.errorCode = readCode(error);
    this.#awaitWords(exchange);
  }

  #awaitWords(exchange: Exchange): void {
    if (!hasFailed(exchange)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#giveUp, GRACE_MS);
  }
}

/** True when the provider did not take the request for now: to be sent again later, if at all. */
export function hasFailed({ status = 0, errorCode }: Exchange): boolean {
  return errorCode !== undefined || status === 429 || status >= 500;
}

function readHeader(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : value?.[0];
}

/** `code` of an error, or of what caused it; `""` when there is none. */
export function readCode(error: unknown): string {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth += 1) {
    if ("code" in one && typeof one.code === "string") return one.code;
    // Several addresses of one name were tried.
    if (one instanceof AggregateError) return readCode(one.errors[0]);
  }
  return "";
}
