import { PassThrough, type Readable } from "node:stream";
import { finished, pipeline } from "node:stream/promises";
import { MAX_FILE_BYTES } from "../../shared/wire/constants.ts";
import { refuseBare, ServiceError } from "../service-error.ts";
import type { BlobStore } from "./blob-store.ts";
import { type BodyRate, DEFAULT_BODY_RATE, guardBodyRate } from "./body-limits.ts";
import { sanitiseFileName } from "./file-name.ts";
import type { IngestGrant, IngestTokens } from "./ingest-tokens.ts";
import { sniffMimetype } from "./sniff-mimetype.ts";
import type { StagedFile } from "./staged-file.ts";

/** Room for the frame of a multipart body around the file. */
const FRAME_BYTES = 64 * 1024;

/** An ingest request, taken apart by the route. */
export interface IngestRequest {
  /** The `Authorization` header as sent. */
  readonly authorization?: string | undefined;
  readonly contentType?: string | undefined;
  readonly contentLength?: number | undefined;
  /** The `x-file-name` header, percent-encoded. */
  readonly fileName?: string | undefined;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal | undefined;
}

/** Services behind the ingest route. */
export interface IngestServices {
  /** Undefined when no ingest secret is configured: the answer is 503 then. */
  readonly tokens: IngestTokens | undefined;
  readonly blobs: BlobStore;
  readonly rate?: BodyRate;
}

function refuseSize(): ServiceError {
  return refuseBare(413, "file_too_large", `The file is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB.`);
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function redeem(request: IngestRequest, tokens: IngestTokens): Promise<IngestGrant> {
  const token = /^Bearer +([A-Za-z0-9._-]+)$/i.exec(request.authorization ?? "")?.[1];
  const grant = token === undefined ? undefined : await tokens.redeem(token);
  if (grant !== undefined) return grant;
  throw refuseBare(
    401,
    "ingest_token_refused",
    "The upload token was not accepted. Tokens work once and for ten minutes: repeat the tool call to get a new one.",
  );
}

interface Upload {
  readonly name?: string | undefined;
  readonly mimetype?: string | undefined;
}

async function fill(staged: StagedFile, bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<void> {
  for await (const piece of bytes) {
    if (staged.size + piece.length > maxBytes) throw refuseSize();
    await staged.write(piece);
  }
}

/** Reads the one file part of a multipart body into `staged`; other fields are skipped. */
async function receiveMultipart(
  request: IngestRequest & { readonly contentType: string },
  bytes: AsyncIterable<Uint8Array>,
  into: { readonly staged: StagedFile; readonly maxBytes: number },
): Promise<Upload> {
  const malformed = () =>
    refuseBare(400, "malformed_upload", "The multipart body must hold exactly one complete file part.");
  const limits = { fileSize: into.maxBytes + 1, files: 1, fields: 10, parts: 11 };
  const { Busboy } = await import("@fastify/busboy");
  let parser: ReturnType<typeof Busboy>;
  try {
    parser = Busboy({ headers: { "content-type": request.contentType }, limits });
  } catch {
    throw malformed();
  }
  let upload: Upload | undefined;
  let filled: Promise<void> | undefined;
  let isOver = false;
  parser.on("file", (_field: string, file: Readable, name: string, _encoding: string, mimetype: string) => {
    upload = { name, mimetype };
    filled = fill(into.staged, file, into.maxBytes);
    filled.catch((error: Error) => parser.destroy(error));
  });
  parser.on("filesLimit", () => {
    isOver = true;
  });
  try {
    await pipeline(bytes, new PassThrough(), parser);
    await filled;
    await finished(parser, { readable: false });
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw malformed();
  }
  if (upload === undefined || isOver) throw malformed();
  return upload;
}

/**
 * Takes one file: raw bytes, or a multipart body with one file part, and gives the answer of `POST /api/files/ingest`. The
 * token is spent before a byte of the body is read.
 *
 * Throws ServiceErrors, all bare: 503 without an ingest secret, 401 for a token that is wrong, expired or spent (it does not
 * say which), 413 above 25 MB (already by the announced length), 400 for an empty file, a malformed multipart body or a
 * sender below the minimum rate. Nothing is kept when it throws. The source is left open for the caller to close.
 */
export async function receiveIngest(request: IngestRequest, services: IngestServices) {
  const { tokens, blobs } = services;
  if (tokens === undefined)
    throw refuseBare(
      503,
      "ingest_not_configured",
      "File ingest is not configured on this service; send bytes in the files envelope.",
    );
  const { contentType } = request;
  const isMultipart = contentType !== undefined && /^multipart\/form-data\b/i.test(contentType);
  if ((request.contentLength ?? 0) > MAX_FILE_BYTES + (isMultipart ? FRAME_BYTES : 0)) throw refuseSize();
  const grant = await redeem(request, tokens);
  const staged = await blobs.stage();
  try {
    const bytes = guardBodyRate(request.bytes, services.rate ?? DEFAULT_BODY_RATE, request.signal);
    const into = { staged, maxBytes: Math.min(grant.maxBytes, MAX_FILE_BYTES) };
    // The default of curl for every body.
    const isUnsaid = contentType !== undefined && /^application\/x-www-form-urlencoded\b/i.test(contentType);
    let upload: Upload = { mimetype: isUnsaid ? undefined : contentType };
    if (isMultipart) upload = await receiveMultipart({ ...request, contentType }, bytes, into);
    else await fill(staged, bytes, into.maxBytes);
    if (staged.size === 0)
      throw refuseBare(400, "empty_file", "The uploaded file is empty; send its bytes as the request body.");
    const name = sanitiseFileName(request.fileName ? decodeName(request.fileName) : (upload.name ?? ""));
    const mimetype = await sniffMimetype(staged.head, name, upload.mimetype);
    const stored = await blobs.adopt(grant.account, { name, mimetype, tool: grant.tool }, staged);
    return { s3key: stored.s3key, name: stored.name, mimetype, size: stored.size, md5: stored.md5 };
  } finally {
    await staged.discard();
  }
}
