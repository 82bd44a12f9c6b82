import { type Dispatcher, request } from "undici";
import type { z } from "zod";
import { readText } from "../../../service/fetch/read-body.ts";
import type { ServiceError } from "../../../service/service-error.ts";
import { parseJson } from "../../../shared/base/json.ts";
import { hideSecrets } from "../../port/hide-secrets.ts";
import type { Action, ActionContext } from "../../port/integration.ts";
import { createProviderError, readNetworkFailure, readRetryAfter } from "../../port/provider-failure.ts";
import { findProviderWords } from "../../port/provider-words.ts";
import { errorSchema, listSchema } from "./notion-objects.ts";
import type { NotionSettings } from "./notion-settings.ts";

/** The version of the API that this code speaks; Notion answers in the shapes of the version it is asked in. */
const NOTION_VERSION = "2026-03-11";
const APP = "Notion";
const MAX_ANSWER = 10 * 1024 * 1024;
/** Longest wait for a place in Notion's rate limit before anything was changed; longer ones are for the caller. */
const SHORT_WAIT_SECONDS = 2;
/** The same in the middle of a change, which is better finished late than left half done. */
const LONG_WAIT_SECONDS = 30;
const MAX_TRIES = 5;
const READ = { level: "read", idempotent: true } as const;

interface NotionRequest<Schema extends z.ZodType> {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below `/v1/`, each part encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly schema: Schema;
  /** True when it changes something. */
  readonly isEffect?: boolean;
}

interface NotionCall {
  readonly settings: NotionSettings;
  readonly dispatcher: Dispatcher;
  readonly context: Pick<ActionContext, "signal" | "now">;
  readonly action: Pick<Action, "level" | "idempotent">;
  wait(ms: number, signal: AbortSignal): Promise<unknown>;
}

/** The API for the length of one call. Every failure is a ServiceError. */
export class NotionClient {
  readonly #call: NotionCall;
  /** True as soon as something was changed. */
  hasWritten = false;

  constructor(call: NotionCall) {
    this.#call = call;
  }

  /** Asks once, and again where Notion says that it did nothing because of too many requests. */
  async ask<Schema extends z.ZodType>(o: NotionRequest<Schema>): Promise<z.output<Schema>> {
    for (let tries = 1; ; tries += 1) {
      const { status, headers, body } = await this.#send(o);
      const text = await this.#read(o, body);
      if (status < 300) return this.#parse(o, text);
      const after = headers["retry-after"];
      const wait = readRetryAfter(typeof after === "string" ? after : undefined, this.#call.context.now());
      const isBusy = status === 429 || status === 529;
      const longest = this.hasWritten ? LONG_WAIT_SECONDS : SHORT_WAIT_SECONDS;
      if (!isBusy || (wait ?? 1) > longest || tries === MAX_TRIES) throw this.#refuse(o, { status, text, wait });
      await this.#call.wait((wait ?? 1) * 1000, this.#call.context.signal);
    }
  }

  /** Everything of a list, in pages of 100. */
  async *list(o: Omit<NotionRequest<z.ZodType>, "schema">): AsyncGenerator<unknown> {
    let cursor: string | undefined;
    do {
      const paging = { page_size: 100, ...(cursor === undefined ? {} : { start_cursor: cursor }) };
      const isGet = o.method === "GET";
      const query = isGet ? { query: paging } : { body: { ...(o.body as object | undefined), ...paging } };
      const { results, has_more, next_cursor } = await this.ask({ ...o, ...query, schema: listSchema });
      yield* results;
      cursor = has_more ? (next_cursor ?? undefined) : undefined;
    } while (cursor !== undefined);
  }

  async #send({ method, path, query = {}, body, isEffect }: NotionRequest<z.ZodType>) {
    const { settings, dispatcher, context } = this.#call;
    const url = new URL(`/v1/${path}`, settings.origin);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const headers = {
      authorization: `Bearer ${settings.token}`,
      "notion-version": NOTION_VERSION,
      "user-agent": "svc-agent-plugin",
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    try {
      const payload = body === undefined ? {} : { body: JSON.stringify(body) };
      const reply = await request(url, { method, headers, dispatcher, signal: context.signal, ...payload });
      return { status: reply.statusCode, headers: reply.headers, body: reply.body };
    } catch (error) {
      if (context.signal.aborted) throw error;
      const blocked = "its address is not a public one; the service reaches others with --allow-host HOST:PORT";
      throw createProviderError(readNetworkFailure(error, blocked), this.#judge(isEffect));
    }
  }

  async #read({ isEffect }: NotionRequest<z.ZodType>, body: Dispatcher.ResponseData["body"]): Promise<string> {
    const text = await readText(body, MAX_ANSWER).catch((error: unknown) => {
      if (this.#call.context.signal.aborted) throw error;
      throw createProviderError({ kind: "lost" }, this.#judge(isEffect));
    });
    if (text === undefined) throw createProviderError({ kind: "garbage", message: "too long" }, this.#judge(isEffect));
    return text;
  }

  #parse<Schema extends z.ZodType>(
    { schema, isEffect = false }: NotionRequest<Schema>,
    text: string,
  ): z.output<Schema> {
    const parsed = schema.safeParse(parseJson(text));
    if (!parsed.success) throw createProviderError({ kind: "garbage" }, this.#judge(isEffect));
    this.hasWritten ||= isEffect;
    return parsed.data;
  }

  #refuse(
    { isEffect }: NotionRequest<z.ZodType>,
    { status, text, wait }: { status: number; text: string; wait: number | undefined },
  ): ServiceError {
    const words = findProviderWords(text);
    const message = words && hideSecrets(words, { token: this.#call.settings.token });
    // Notion says this, too, when it gave up after a minute: the work may have been done.
    if (status === 503 && errorSchema.safeParse(parseJson(text)).data?.code === "service_unavailable")
      return createProviderError({ kind: "lost", message }, this.#judge(isEffect));
    // 529 is "overloaded": nothing was done.
    const known = status === 529 ? 503 : status;
    return createProviderError(
      { kind: "status", status: known, message, retryAfterSeconds: wait },
      this.#judge(isEffect),
    );
  }

  /** If a look-up before a change fails, the change was not sent. */
  #judge(isEffect = false) {
    return { app: APP, action: isEffect ? this.#call.action : READ };
  }
}
