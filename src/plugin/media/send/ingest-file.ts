import { SvcError } from "../../../shared/errors.ts";
import type { SvcClient } from "../../client/client.ts";
import type { CallOptions } from "../../client/transport.ts";
import { looksLocal } from "../locate/classify-reference.ts";
import type { MediaRoots } from "../open/roots.ts";
import type { InspectedFile } from "./inspect-files.ts";
import { countBytes, type OnBytes, readInspected } from "./send-files.ts";
import { createFormBody } from "./upload-form.ts";
import type { UploadPlan } from "./upload-hint.ts";

/** The upload of a `SvcClient`. */
export type IngestClient = Pick<SvcClient, "ingestFile">;

const spent = new WeakSet<UploadPlan>();

/**
 * Uploads an inspected file by the plan of a hint ("File ingest") and returns the storage key to retry the call with.
 * The bytes come from the media roots, never from the hint; the same checks as for an envelope apply while they are
 * read. A plan's token is used for one call only.
 *
 * @throws SvcError `media_refused` or `file_missing` for the file, `unsupported` for a used plan, `bad_response` for a
 * malformed key, and the client's errors.
 */
export async function ingestFile(
  client: IngestClient,
  roots: MediaRoots,
  file: InspectedFile,
  plan: UploadPlan,
  { onBytes, ...options }: CallOptions & { readonly onBytes?: OnBytes } = {},
): Promise<string> {
  if (spent.has(plan)) throw new SvcError("unsupported", "This upload token was used already.", { field: file.field });
  if (plan.maxBytes !== undefined && file.size > plan.maxBytes) throw refuseLarge(file, plan.maxBytes);
  spent.add(plan);
  const { url, method } = plan;
  const headers = { accept: "application/json", ...plan.headers, "x-file-name": toHeaderText(file.name) };
  const open = () => copyPieces(file, roots, onBytes);
  const raw = { contentType: file.mimetype, contentLength: file.size, open };
  const body = plan.part === undefined ? raw : createFormBody(plan.part, file, open);
  const reply = await client.ingestFile({ url, method, headers, body }, options);
  const key = reply.s3key;
  if (looksLocal(key) || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(key)) {
    throw new SvcError("bad_response", "The ingest endpoint answered with something that is not a storage key.", {
      field: file.field,
      sent: true,
    });
  }
  return key;
}

/** The service's own limit, which need not be the usual one. */
function refuseLarge({ field, size }: InspectedFile, maxBytes: number): SvcError {
  return new SvcError("media_refused", `${field}: the file has ${size} bytes, and the service takes ${maxBytes}.`, {
    serviceCode: "too_large",
    hint: "Make it smaller, or give a public https URL instead.",
    field,
    sent: false,
  });
}

/** Percent-encoded: header values hold ASCII only. */
function toHeaderText(name: string): string {
  return encodeURIComponent(name).replaceAll("'", "%27");
}

/** Copies: the reader reuses its buffers while a socket may still hold earlier bytes. */
async function* copyPieces(file: InspectedFile, roots: MediaRoots, onBytes?: OnBytes): AsyncGenerator<Uint8Array> {
  for await (const piece of countBytes(readInspected(file, roots), file, onBytes)) yield new Uint8Array(piece);
}
