import { MAX_REQUEST_FILE_BYTES } from "../../wire/constants.ts";
import type { FileField } from "../files/file-fields.ts";
import { sniffMimetype } from "../files/sniff-mimetype.ts";
import type { UrlFile, UrlFiles } from "./url-files.ts";
import { nameArgument, refuseUrl } from "./url-refusal.ts";

/** Bounds the time of one call: each URL may take 30 s. */
const MAX_URLS = 20;

/** The files fetched for one call, each URL once. */
export interface FetchedFiles {
  /** Fetches the file of an argument; refusals name `path`. */
  fetch(reference: string, path: string): Promise<UrlFile>;
  /**
   * Fetches the file of a file-uploadable object and corrects the object: a MIME type that the bytes
   * contradict, and the name when a page gave its preview image for something that was not called an image.
   */
  fill(field: FileField): Promise<UrlFile>;
  /** Removes the files that the store did not adopt. */
  discard(): Promise<void>;
}

function bareType(mimetype: unknown): string {
  return typeof mimetype === "string" ? (mimetype.split(";")[0] ?? "").trim().toLowerCase() : "";
}

/** Collects the fetched files of one call: at most 20 URLs, together at most 100 MB. */
export function createFetchedFiles(urlFiles: UrlFiles, signal?: AbortSignal): FetchedFiles {
  const files = new Map<string, UrlFile>();
  let size = 0;

  async function fetchOnce(reference: string): Promise<UrlFile> {
    const known = files.get(reference);
    if (known !== undefined) return known;
    if (files.size >= MAX_URLS) {
      const hint = "Use fewer URLs in one call.";
      throw refuseUrl("media_url_failed", `is one of more than ${MAX_URLS} in this call.`, { hint });
    }
    const file = await urlFiles.fetch(reference, signal);
    files.set(reference, file);
    size += file.staged.size;
    if (size > MAX_REQUEST_FILE_BYTES) {
      const hint = "Use fewer or smaller files in one call.";
      throw refuseUrl("file_too_large", "brings the files of this call above 100 MB.", { hint });
    }
    return file;
  }

  const fetch: FetchedFiles["fetch"] = (reference, path) =>
    fetchOnce(reference).catch((error: unknown) => {
      throw nameArgument(error, path);
    });

  return {
    fetch,
    async fill({ field, value }) {
      const file = await fetch(String(value.s3key), `arguments.${field}.s3key`);
      const name = String(value.name);
      const mimetype = file.isPreview
        ? file.mimetype
        : await sniffMimetype(file.staged.head, name, String(value.mimetype));
      if (file.isPreview && !bareType(value.mimetype).startsWith("image/")) value.name = file.name;
      if (bareType(value.mimetype) !== bareType(mimetype)) value.mimetype = mimetype;
      return file;
    },
    async discard() {
      for (const { staged } of files.values()) await staged.discard();
    },
  };
}
