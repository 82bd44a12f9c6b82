import { isTooDeep, MAX_JSON_DEPTH } from "../json-depth.ts";
import { ServiceError } from "../service-error.ts";

/** Largest body of a route that sets no other limit, in bytes. */
const DEFAULT_BODY_LIMIT = 1024 * 1024;

/**
 * Reads a JSON object; an empty body is `{}`. A declared length above the limit is refused before a byte is
 * read, an undeclared one while it is read.
 *
 * @throws ServiceError bare: 413 too large, 400 not a JSON object, or nested too deep.
 */
export async function readJsonObject(request: Request, limit = DEFAULT_BODY_LIMIT): Promise<Record<string, unknown>> {
  const bytes = await readBytes(request, limit);
  if (bytes.length === 0) return {};
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new ServiceError(400, "invalid_json", "The request body is not valid JSON.", { bare: true, cause });
  }
  if (isTooDeep(body)) {
    throw new ServiceError(400, "too_deep", `The request body nests deeper than ${MAX_JSON_DEPTH} levels.`, {
      bare: true,
    });
  }
  if (isObject(body)) return body;
  throw new ServiceError(400, "invalid_body", "The request body must be a JSON object.", { bare: true });
}

/** @throws ServiceError 413, bare. */
export async function readBytes(request: Request, limit: number): Promise<Buffer> {
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge(limit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(limit: number): ServiceError {
  return new ServiceError(413, "body_too_large", `The request body is larger than ${limit} bytes.`, { bare: true });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
