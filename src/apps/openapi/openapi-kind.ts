import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { decodeBody, decodeByType, readBody } from "../../service/fetch/read-body.ts";
import { readResponseName } from "../../service/files/file-name.ts";
import { ServiceError } from "../../service/service-error.ts";
import { makeOnce } from "../../shared/base/concurrency.ts";
import { judgeArgument } from "../../shared/base/credential-name.ts";
import { isRecord, parseJson } from "../../shared/base/json.ts";
import { readChallenge, refuseScopes } from "../port/bearer-challenge.ts";
import { createAddedIntegration, toDoneAlready } from "../port/create-added-integration.ts";
import { hideSecrets } from "../port/hide-secrets.ts";
import type { ActionContext } from "../port/integration.ts";
import { checkState, refuseChanged } from "../port/preview.ts";
import { createProviderError, readNetworkFailure, readRetryAfter } from "../port/provider-failure.ts";
import { readProviderWords } from "../port/provider-words.ts";
import type { IntegrationSource, SourceKind, SourcePorts } from "../port/source.ts";
import type { StoredAction } from "../port/source-content.ts";
import { type ApiRequest, buildRequest } from "./build-request.ts";
import { createLook } from "./look-before.ts";
import { operationCallSchema, readOpenApiDefinition } from "./openapi-definition.ts";
import { planSignIn } from "./plan-sign-in.ts";
import { fillAddress } from "./server-address.ts";

/** An API that sends nothing for so long is given up. */
const ANSWER_MS = 60_000;

/** Apps were once added with actions that take a key from the model: those are not offered any more. */
function leaveOutUnsafe(source: IntegrationSource, { log }: Pick<SourcePorts, "log">): IntegrationSource {
  const { slug, content } = source;
  const actions = content.actions.filter((action) => !takesCredential(action));
  const left = content.actions.length - actions.length;
  if (left === 0) return source;
  const message = `${left} actions of "${slug}" take a secret as an argument and are not offered. Add it again with "svc add openapi ${slug} … --replace".`;
  log({ level: "warn", message });
  return { ...source, content: { ...content, actions } };
}

function takesCredential({ inputSchema, call }: StoredAction): boolean {
  const { parameters } = operationCallSchema.parse(call);
  const { properties } = inputSchema;
  return Object.entries(typeof properties === "object" && properties !== null ? properties : {}).some(
    ([argument, schema]) => {
      const parameter = parameters.find((one) => one.argument === argument);
      return judgeArgument({ name: parameter?.name ?? argument, place: parameter?.in ?? "body", schema }) === "yes";
    },
  );
}

/** HTTP APIs that an OpenAPI document describes. */
export const openApiKind: SourceKind = {
  async open(stored, ports) {
    const definition = readOpenApiDefinition(stored.definition);
    const source = leaveOutUnsafe(stored, ports);
    const getAgent = makeOnce(async () => {
      const { createAppAgent } = await import("../../service/fetch/guarded-connector.ts");
      return createAppAgent({ isPrivate: definition.isPrivate, silenceMs: ANSWER_MS });
    });
    const { name: app } = source;

    const looks = createLook({
      definition,
      content: source.content,
      fetch: async (request, action, context) =>
        fetchContent(request, { dispatcher: (await getAgent()).dispatcher, app, action, context }),
    });

    async function run(action: StoredAction, args: Readonly<Record<string, unknown>>, context: ActionContext) {
      const request = buildRequest(definition, operationCallSchema.parse(action.call), args, context);
      const { dispatcher } = await getAgent();
      const sent = { dispatcher, app, action, context };
      if (context.expectedState === undefined) return sendRequest(request, sent);
      const before = await looks.look(action, args, context);
      checkState(context, before?.seen);
      return sendShown(request, sent, before?.etag);
    }

    const check = (settings: Readonly<Record<string, unknown>>) => {
      fillAddress(definition, settings);
      planSignIn(definition, settings);
    };
    const integration = createAddedIntegration(source, run, { check, findPreview: looks.findPreview });
    const hasSignIn = definition.ways.some(({ signIn }) => signIn !== undefined);
    const findSignIn = (settings: Readonly<Record<string, unknown>>) => planSignIn(definition, settings);
    return {
      integration: { ...integration, ...(hasSignIn && { findSignIn }) },
      close: async () => (await getAgent.peek())?.close(),
    };
  },
};

/** Longest JSON or text answer, bytes. */
const MAX_ANSWER = 10 * 1024 * 1024;
const MAX_ERROR = 64 * 1024;
const MAX_REDIRECTS = 3;

interface Sent {
  readonly dispatcher: Dispatcher;
  readonly app: string;
  readonly action: StoredAction;
  readonly context: ActionContext;
}

/** Sends a request and reads the answer. Throws ServiceError for every failure. */
export async function sendRequest(api: ApiRequest, sent: Sent): Promise<unknown> {
  const { value, headers } = await fetchContent(api, sent);
  return addHeaders(value, headers, api);
}

/** Sends a write for the version that was shown, where the app tells versions. */
async function sendShown(api: ApiRequest, sent: Sent, etag: string | undefined): Promise<unknown> {
  if (etag === undefined || "if-match" in api.headers) return sendRequest(api, sent);
  const headers = { ...api.headers, "if-match": etag };
  return sendRequest({ ...api, headers }, sent).catch((error: unknown) => {
    const isOther = error instanceof ServiceError && error.message.startsWith(`${sent.app} answered 412`);
    throw isOther ? refuseChanged() : error;
  });
}

async function fetchContent(api: ApiRequest, sent: Sent) {
  const answer = await ask(api, sent);
  const { status, headers, body } = answer;
  // A write that is answered so is done: the address is that of its result.
  const isDone = status === 303 && !isRead(api);
  if (status >= 300 && !isDone) throw await readFailure(answer, sent);
  if (isDone || api.method === "HEAD" || status === 204 || headers["content-length"] === "0") {
    await body.dump();
    return { value: { status }, headers };
  }
  try {
    return { value: await readContent(api, answer, sent), headers };
  } catch (error) {
    if (sent.context.signal.aborted) throw error;
    if (error instanceof ServiceError) throw toDoneAlready(error, sent);
    throw createProviderError({ kind: "lost" }, sent);
  }
}

async function readContent(api: ApiRequest, { status, headers, body }: Answer, sent: Sent): Promise<unknown> {
  const type = String(headers["content-type"] ?? "").toLowerCase();
  const bytes = decodeBody(body, headers["content-encoding"]);
  if (!isJson(type) && !isText(type)) return keepBody(api.url, headers, bytes, sent);
  const text = decodeByType(await readAnswer(bytes), type);
  if (text === "") return { status };
  return isJson(type) ? readJson(text, sent) : { text };
}

/** Headers that say where something is, what comes next, how much there is, and which version this is. */
const TOLD =
  /^(?:location|content-location|operation-location|azure-asyncoperation|link|retry-after|content-range|(?:x-)?(?:total|pages?|per-page|next|prev|pagination|cursor|result-count|[\w-]+-(?:total|total-count|continuation|continuationtoken|next-page|cursor))(?:-[\w-]+)?)$/;
/** An answer without a body is told by these as well. */
const OF_HEAD = /^(?:content-(?:type|length|disposition)|last-modified|accept-ranges|allow|etag)$/;
const MOST_HEADERS = 12;
const HEADER_MAX = 1_000;

/** An answer with the headers that belong to it: in an object as a member more, beside everything else. */
function addHeaders(value: unknown, headers: Record<string, unknown>, { method }: ApiRequest): unknown {
  const told = Object.entries(headers).filter(([name, given]) => {
    // A weak one is of no use for a change, and many servers send one with everything.
    const isVersion = name === "etag" && !String(given).startsWith("W/");
    return isVersion || TOLD.test(name) || (method === "HEAD" && OF_HEAD.test(name));
  });
  if (told.length === 0) return value;
  const shown = Object.fromEntries(
    told.slice(0, MOST_HEADERS).map(([name, given]) => [name, [given].flat().join(", ").slice(0, HEADER_MAX)]),
  );
  return isRecord(value) && !Object.hasOwn(value, "headers")
    ? { ...value, headers: shown }
    : { body: value, headers: shown };
}

type Answer = { status: number; headers: Record<string, unknown>; body: Dispatcher.ResponseData["body"] };

async function ask(api: ApiRequest, sent: Sent): Promise<Answer> {
  let { url } = api;
  for (let redirects = 0; ; redirects += 1) {
    const { statusCode, headers, body } = await send({ ...api, url }, sent);
    const next = findRedirect(api, url, { statusCode, headers });
    if (next === undefined || redirects === MAX_REDIRECTS) return { status: statusCode, headers, body };
    await body.dump();
    url = next;
  }
}

/** Only reads follow, and only on the same origin: the request may carry a key. */
function findRedirect(
  api: ApiRequest,
  from: URL,
  { statusCode, headers }: { statusCode: number; headers: Record<string, unknown> },
) {
  if (!isRead(api) || ![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  const next = URL.parse(String(headers.location ?? ""), from.href);
  return next?.origin === from.origin ? next : undefined;
}

function isRead({ method }: ApiRequest): boolean {
  return method === "GET" || method === "HEAD";
}

async function send(api: ApiRequest, { dispatcher, context, app, action }: Sent): Promise<Dispatcher.ResponseData> {
  const { request } = await import("undici");
  try {
    return await request(api.url, {
      dispatcher,
      method: api.method as Dispatcher.HttpMethod,
      headers: api.headers,
      signal: context.signal,
      ...(api.body === undefined ? {} : { body: typeof api.body === "string" ? api.body : Readable.from(api.body) }),
    });
  } catch (error) {
    if (context.signal.aborted) throw error;
    throw createProviderError(readNetworkFailure(error), { app, action });
  }
}

async function readFailure({ status, headers, body }: Answer, { app, action, context }: Sent): Promise<ServiceError> {
  const missing = status === 403 ? refuseScopes(readChallenge(textOf(headers["www-authenticate"])), app) : undefined;
  if (missing !== undefined) {
    await body.dump();
    return missing;
  }
  const bytes = decodeBody(body, headers["content-encoding"]);
  const read = await readBody(bytes, MAX_ERROR).catch(() => undefined);
  const { message, details } = readProviderWords(
    read === undefined ? "" : decodeByType(read, textOf(headers["content-type"])),
  );
  const retryAfterSeconds = readRetryAfter(textOf(headers["retry-after"]), context.now());
  // GitHub and others say "too many" as 403, and tell by this header.
  const isLimited = status === 403 && (headers["x-ratelimit-remaining"] === "0" || retryAfterSeconds !== undefined);
  const reset = isLimited ? readReset(textOf(headers["x-ratelimit-reset"]), context.now()) : undefined;
  return createProviderError(
    {
      kind: "status",
      status: isLimited ? 429 : status,
      message: message && hideSecrets(message, context.connection.settings),
      details,
      retryAfterSeconds: retryAfterSeconds ?? reset,
    },
    { app, action },
  );
}

function readReset(text: string | undefined, now: number): number | undefined {
  return text !== undefined && /^\d{9,11}$/.test(text) ? Math.max(1, Math.ceil(Number(text) - now / 1000)) : undefined;
}

function textOf(header: unknown): string | undefined {
  return typeof header === "string" ? header : undefined;
}

function isJson(type: string): boolean {
  return /^(?:application|text)\/([\w.-]+\+)?(?:x-)?json(?:\s*;|\s*$)/.test(type);
}

/** Types that are text although their names do not say so. */
const TEXTS =
  /^application\/(?:[\w.-]+\+)?(?:x-)?(?:xml|yaml|ndjson|jsonl|jsonlines|json-seq|javascript|ecmascript|sql|toml|csv|graphql|www-form-urlencoded|sh|latex|tex)(?:\s*;|\s*$)|^image\/svg\+xml/;

function isText(type: string): boolean {
  return type === "" || type.startsWith("text/") || TEXTS.test(type);
}

function readJson(text: string, { app, action }: Sent): unknown {
  const value = parseJson(text);
  if (value === undefined) throw createProviderError({ kind: "garbage" }, { app, action });
  return value;
}

/** Throws ServiceError 500 `provider_error` for an answer that is too long. */
async function readAnswer(body: Readable): Promise<Buffer> {
  const bytes = await readBody(body, MAX_ANSWER);
  if (bytes !== undefined) return bytes;
  throw new ServiceError(500, "provider_error", `The answer is longer than ${MAX_ANSWER} bytes.`, {
    type: "provider",
    hint: "Ask for less: use filters, fields or a page size.",
  });
}

/** Bytes become a file of the service, never base64. */
async function keepBody(url: URL, headers: Record<string, unknown>, body: Readable, { context }: Sent) {
  const mimetype = String(headers["content-type"]).split(";")[0]?.trim() ?? "application/octet-stream";
  if (context.keepFile === undefined) {
    body.on("error", () => {}).destroy();
    throw new ServiceError(500, "provider_error", "The answer is a file, and files cannot be kept here.", {
      type: "provider",
    });
  }
  const name = readResponseName(textOf(headers["content-disposition"]), url);
  const { s3key, size } = await context.keepFile({ name, mimetype }, body);
  return { file: { name, mimetype, s3key, size } };
}
