import mime from "mime";
import { createGate } from "../../shared/base/concurrency.ts";
import type { BlobStore } from "../files/blob-store.ts";
import { readResponseName } from "../files/file-name.ts";
import { sniffMimetype } from "../files/sniff-mimetype.ts";
import type { StagedFile } from "../files/staged-file.ts";
import type { AllowedHosts } from "./address-rules.ts";
import { type Network, SYSTEM_NETWORK } from "./guarded-connector.ts";
import { findPreviewImage, isHtmlPage, OPENING_BYTES } from "./html-page.ts";
import {
  FETCH_LIMITS,
  type FetchLimits,
  type OpenedUrl,
  type OpenUrlOptions,
  openRoutes,
  openUrl,
  readUrl,
} from "./open-url.ts";
import { findDirectLink } from "./share-links.ts";
import { explainFailure, refuseUrl } from "./url-refusal.ts";

/** Fetches in flight, each with 25 MB of disk and two connections. */
const MAX_FETCHES = 8;

/** A file fetched from a URL; the receiver adopts or discards `staged`. */
export interface UrlFile {
  /** From the answer's headers, or the path. */
  readonly name: string;
  /** From the bytes, then the name, then the answer's headers. */
  readonly mimetype: string;
  /** True when the URL gave a page and this is its social preview image. */
  readonly isPreview: boolean;
  readonly staged: StagedFile;
}

/** Fetches files that arguments name by URL. */
export type UrlFiles = ReturnType<typeof createUrlFiles>;

/** The first 512 bytes, or all when there are fewer, and an iterable that still gives everything once. */
async function peek(bytes: AsyncIterable<Uint8Array>): Promise<{ head: Uint8Array; all: AsyncIterable<Uint8Array> }> {
  const source = bytes[Symbol.asyncIterator]();
  const pieces: Uint8Array[] = [];
  let size = 0;
  while (size < OPENING_BYTES) {
    const next = await source.next();
    if (next.done) break;
    pieces.push(next.value);
    size += next.value.length;
  }
  const head = Buffer.concat(pieces);
  const rest = { [Symbol.asyncIterator]: () => source };
  async function* replay(): AsyncGenerator<Uint8Array, void, undefined> {
    yield head;
    yield* rest;
  }
  return { head, all: replay() };
}

/** A name that tells its type, also when the address ended in a number. */
function completeName(name: string, mimetype: string): string {
  const extension = mime.getType(name) === null ? mime.getExtension(mimetype) : null;
  return extension === null || extension === "bin" ? name : `${name}.${extension}`;
}

async function save(blobs: Pick<BlobStore, "stage">, opened: OpenedUrl, bytes: AsyncIterable<Uint8Array>) {
  const staged = await blobs.stage();
  try {
    for await (const piece of bytes) await staged.write(piece);
    if (staged.size === 0) throw refuseUrl("media_url_failed", "leads to an empty file.");
    const name = readResponseName(opened.disposition, opened.url);
    const mimetype = await sniffMimetype(staged.head, name, opened.contentType);
    return { name: completeName(name, mimetype), mimetype, staged };
  } catch (error) {
    await staged.discard();
    throw error;
  }
}

async function fetchFile(blobs: Pick<BlobStore, "stage">, asked: URL, o: OpenUrlOptions): Promise<UrlFile> {
  const direct = findDirectLink(asked);
  const opened = await openUrl(direct?.url ?? asked, o, direct?.hint);
  const { head, all } = await peek(opened.body);
  if (!isHtmlPage(opened.contentType, head)) return { ...(await save(blobs, opened, all)), isPreview: false };
  const refuse = (cause?: unknown) =>
    refuseUrl("media_url_not_a_file", "leads to a web page, not to a file.", { hint: direct?.hint, cause });
  // The page of a share link asks to sign in; its picture is the host's, not the file that was shared.
  const image = direct === undefined ? await findPreviewImage(all, opened.url) : undefined;
  if (image === undefined) throw refuse();
  try {
    return await fetchPreview(blobs, image, { ...o, mayTrust: opened.isTrusted });
  } catch (error) {
    o.signal.throwIfAborted();
    throw refuse(error);
  }
}

async function fetchPreview(blobs: Pick<BlobStore, "stage">, image: URL, o: OpenUrlOptions): Promise<UrlFile> {
  const opened = await openUrl(image, o);
  const { head, all } = await peek(opened.body);
  if (isHtmlPage(opened.contentType, head)) throw refuseUrl("media_url_not_a_file", "leads to another page.");
  const file = await save(blobs, opened, all);
  if (file.mimetype.startsWith("image/")) return { ...file, isPreview: true };
  await file.staged.discard();
  throw refuseUrl("media_url_not_a_file", "names a preview that is no image.");
}

/**
 * Fetches public https URLs ("File rules" 1 to 5): share links become direct downloads, private addresses are refused at
 * every hop, a file above 25 MB is cut off while it arrives, and a page gets one try for its preview image. At most eight
 * fetches run at a time.
 */
export function createUrlFiles(o: {
  readonly blobs: Pick<BlobStore, "stage">;
  readonly allowed: AllowedHosts;
  readonly network?: Network;
  readonly limits?: FetchLimits;
}) {
  const { blobs, allowed, network = SYSTEM_NETWORK, limits = FETCH_LIMITS } = o;
  const gate = createGate(MAX_FETCHES);
  return {
    /**
     * Throws ServiceErrors with the codes of {@link refuseUrl}, their messages beginning with "The URL", and 503
     * `client_gone` when `signal` aborts.
     */
    async fetch(reference: string, signal?: AbortSignal): Promise<UrlFile> {
      const url = readUrl(reference);
      const leave = await gate.enter(signal).catch((error: unknown) => {
        throw explainFailure(error, { isOver: false, isCallerGone: true });
      });
      const total = AbortSignal.timeout(limits.totalMs);
      const routes = openRoutes(network, limits);
      try {
        const either = signal === undefined ? total : AbortSignal.any([signal, total]);
        return await fetchFile(blobs, url, { routes, allowed, mayTrust: true, signal: either });
      } catch (error) {
        throw explainFailure(error, { isOver: total.aborted, isCallerGone: signal?.aborted === true });
      } finally {
        await routes.close();
        leave();
      }
    },
  };
}
