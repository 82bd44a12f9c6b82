import { isRecord } from "../../base/json.ts";
import { MAX_FILE_BYTES, MAX_REQUEST_FILE_BYTES } from "../../wire/constants.ts";
import { ServiceError } from "../service-error.ts";
import type { BlobStore } from "./blob-store.ts";
import { type BodyRate, DEFAULT_BODY_RATE, guardBodyRate } from "./body-rate.ts";
import { createValueGuard, isTooDeep, MAX_JSON_DEPTH } from "./json-limits.ts";

import { MAX_ENTRIES, type ReceivedFile, readEnvelope } from "./read-envelope.ts";
import { SplitError, splitBody } from "./split-body.ts";
import type { StagedFile } from "./staged-file.ts";

const MIB = 1024 * 1024;
/** Most bytes of a body besides files; they are parsed in memory. */
const MAX_REST_BYTES = 8 * MIB;
const MAX_BODY_BYTES = Math.ceil(MAX_REQUEST_FILE_BYTES / 3) * 4 + MAX_REST_BYTES;
/** From here on a body counts as large and needs one of the store's places. */
const LARGE_BODY_BYTES = MIB;

/** An execute request with its files on the disk. */
export interface ExecuteBody {
  /** The request object without `files`. */
  readonly body: Record<string, unknown>;
  /** Undefined when the request has no `files` (absent or null). */
  readonly files: ReceivedFile[] | undefined;
  /** Removes the temporary files that were not adopted. Call it when the request is over. */
  dispose(): Promise<void>;
}

/** Options of {@link readExecuteBody}. */
export interface ReadBodyOptions {
  readonly contentLength?: number;
  readonly blobs: BlobStore;
  readonly account: string;
  readonly signal?: AbortSignal;
  /** Slowest sender that is accepted. Default 1 KiB/s over 20 s of waiting. */
  readonly rate?: BodyRate;
}

function refuseSize(what: string): ServiceError {
  return new ServiceError(413, "request_too_large", what, { bare: true });
}

function refuseTotal(): ServiceError {
  return refuseSize(
    `files hold more than ${MAX_REQUEST_FILE_BYTES / MIB} MB of decoded bytes; send fewer files per request or upload them one by one.`,
  );
}

function malformed(message: string): ServiceError {
  return new ServiceError(400, "malformed_request", message, { bare: true });
}

/** Counts bytes and takes one of the store's places as soon as the body turns out to be large. */
async function* admitLargeBody(
  bytes: AsyncIterable<Uint8Array>,
  options: ReadBodyOptions,
  onEnter: (leave: () => void) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  let total = 0;
  let isAdmitted = false;
  const guardValues = createValueGuard();
  for await (const piece of bytes) {
    total += piece.length;
    if (total > MAX_BODY_BYTES) throw refuseTotal();
    if (!isAdmitted && total > LARGE_BODY_BYTES) {
      isAdmitted = true;
      onEnter(await options.blobs.largeBodies.enter(options.signal));
    }
    guardValues(piece);
    yield piece;
  }
}

async function split(bytes: AsyncIterable<Uint8Array>, options: ReadBodyOptions, target: FileTarget) {
  let leave: (() => void) | undefined;
  const guarded = guardBodyRate(bytes, options.rate ?? DEFAULT_BODY_RATE, options.signal);
  const admitted = admitLargeBody(guarded, options, (left) => {
    leave = left;
  });
  try {
    return await splitBody(admitted, { ...target, maxFileBytes: MAX_FILE_BYTES, maxRestBytes: MAX_REST_BYTES });
  } catch (error) {
    if (!(error instanceof SplitError)) throw error;
    if (error.reason === "malformed") throw malformed("The request body is not valid JSON (UTF-8).");
    throw refuseSize(`The request without its file bytes is larger than ${MAX_REST_BYTES / MIB} MB.`);
  } finally {
    leave?.();
  }
}

/** Where the files of one request go and how their sum is watched. */
interface FileTarget {
  readonly stage: () => Promise<StagedFile>;
  readonly count: (bytes: number) => void;
  discardAll(): Promise<void>;
}

function createFileTarget(blobs: BlobStore): FileTarget {
  const staged: StagedFile[] = [];
  let decoded = 0;
  return {
    stage: async () => {
      // The list itself can be counted only once its end was read.
      if (staged.length >= MAX_ENTRIES) throw malformed(`files holds more than ${MAX_ENTRIES} files.`);
      const file = await blobs.stage();
      staged.push(file);
      return file;
    },
    count: (size) => {
      decoded += size;
      if (decoded > MAX_REQUEST_FILE_BYTES) throw refuseTotal();
    },
    async discardAll() {
      for (const file of staged.splice(0)) await file.discard();
    },
  };
}

/**
 * Reads the body of `POST /api/tools/{name}/execute` in bounded memory: `files[i].dataBase64` is decoded on the way into
 * temporary files, everything else is parsed as JSON ("FileAttachment", "Limits").
 *
 * Throws ServiceError 413 (bare) for an announced length no valid envelope can have, for more than 100 MB of decoded bytes
 * (as soon as they are passed) and for more than 8 MB besides file bytes; 400 (bare) for malformed JSON, a malformed
 * envelope (naming `files[i].<field>`) and a sender below the minimum rate; 400 `file_too_large` (envelope) for one file
 * above 25 MB. Temporary files are removed before it throws. The source is left open: the caller answers, then closes it.
 */
export async function readExecuteBody(
  bytes: AsyncIterable<Uint8Array>,
  options: ReadBodyOptions,
): Promise<ExecuteBody> {
  if (options.contentLength !== undefined && options.contentLength > MAX_BODY_BYTES) throw refuseTotal();
  const target = createFileTarget(options.blobs);
  try {
    const document = await split(bytes, options, target);
    if (isTooDeep(document.value)) throw malformed(`The request body nests deeper than ${MAX_JSON_DEPTH} levels.`);
    if (!isRecord(document.value)) throw malformed("The request body must be a JSON object.");
    const { files, ...body } = document.value;
    const received = await readEnvelope(files, { ...target, findFile: document.findFile });
    return { body, files: received, dispose: () => target.discardAll() };
  } catch (error) {
    await target.discardAll();
    throw error;
  }
}
