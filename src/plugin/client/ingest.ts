import { isRecord } from "../../shared/base/json.ts";
import { SvcError } from "../../shared/errors.ts";
import { API_KEY_HEADER } from "../../shared/wire/constants.ts";
import { type IngestReply, ingestReplySchema } from "../../shared/wire/file.ts";
import { pathBelow } from "./base-url.ts";
import { badResponse, isRedirect, recogniseShape, toServiceError } from "./reply.ts";
import type { RequestBody } from "./request.ts";
import type { CallOptions, Transport } from "./transport.ts";

const MAX_INGEST_REPLY_BYTES = 64 * 1024;

/** An upload as the hint of a `missing_file_bytes` failure describes it. */
export interface IngestRequest {
  readonly url: string;
  readonly method: "POST" | "PUT";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RequestBody;
}

/**
 * `POST /api/files/ingest` ("File ingest"), authenticated by the token of the hint alone.
 * The API key is never sent, the address must be on the origin of the base URL, and no redirect is followed.
 *
 * @throws SvcError `media_refused` before anything is sent, or `service_failure` with the status of the refusal
 */
export async function ingestFile(
  transport: Transport,
  request: IngestRequest,
  options?: CallOptions,
): Promise<IngestReply> {
  const url = URL.parse(request.url);
  const path = pathBelow(transport.baseUrl, url);
  if (url === null || url.username !== "" || path === undefined) {
    throw refuse("url", "the upload address is not below the base URL of the service");
  }
  const sent = Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const hasKey = sent.some(([name, value]) => name === API_KEY_HEADER || transport.holdsCredential(value));
  if (hasKey || transport.holdsCredential(request.url)) {
    throw refuse(hasKey ? "headers" : "url", "the API key must not be sent to the upload address");
  }
  const reply = await transport.call({
    method: request.method,
    path,
    label: `${request.method} ${url.pathname}`,
    headers: Object.fromEntries(sent),
    body: request.body,
    secrets: [...sent.flatMap(([, value]) => value.split(" ")), ...url.searchParams.values()],
    credential: "none",
    maxReplyBytes: MAX_INGEST_REPLY_BYTES,
    options,
  });
  if (reply.status >= 200 && reply.status < 300) {
    const parsed = ingestReplySchema.safeParse(withStorageKey(reply.json));
    if (parsed.success) return parsed.data;
    throw badResponse(reply, "a body without a storage key (s3key)");
  }
  const shape = isRedirect(reply.status) ? undefined : recogniseShape(reply.json);
  if (shape === undefined) throw badResponse(reply);
  // A 401 here is about the upload token, so it must not tell anybody to pair again.
  const error = toServiceError(reply, shape);
  if (error.code !== "unauthorized") throw error;
  throw new SvcError("service_failure", error.message, {
    status: error.status,
    serviceCode: error.serviceCode,
    hint: "The upload token is used up or expired: run the call again to get a new one.",
    sent: true,
  });
}

/** Members in which services put the facts of an answer. */
const WRAPPERS = ["data", "file", "result"] as const;

/** The shape of this answer is not shown in the document: `s3key` is ours, the others are what services use. */
function withStorageKey(json: unknown): unknown {
  if (!isRecord(json) || "s3key" in json) return json;
  const inner = WRAPPERS.map((name) => json[name]).find(isRecord);
  return inner === undefined ? { ...json, s3key: json.key ?? json.storage_key } : withStorageKey(inner);
}

function refuse(field: string, reason: string): SvcError {
  return new SvcError("media_refused", `Upload refused: ${reason}; nothing was sent.`, { field, sent: false });
}
