import { MAX_REQUEST_FILE_BYTES } from "../../shared/wire/constants.ts";
import type { FileField } from "../files/file-fields.ts";
import { bareType, sniffMimetype } from "../files/sniff-mimetype.ts";
import type { UrlFile, UrlFiles } from "./url-files.ts";
import { nameArgument, refuseUrl } from "./url-refusal.ts";

/** True for text that can only be meant as a web address. */
export function isWebUrl(reference: string): boolean {
  return /^\s*https?:/i.test(reference);
}

/** Bounds the time of one call: each URL may take 30 s. */
const MAX_URLS = 20;

/** The files fetched for one call, each URL once. */
export type FetchedFiles = ReturnType<typeof createFetchedFiles>;

/** Collects the fetched files of one call: at most 20 URLs, together at most 100 MB. */
export function createFetchedFiles(urlFiles: UrlFiles, signal?: AbortSignal) {
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

  /** Fetches the file of an argument; refusals name `path`. */
  const fetch = (reference: string, path: string): Promise<UrlFile> =>
    fetchOnce(reference).catch((error: unknown) => {
      throw nameArgument(error, path);
    });

  return {
    fetch,
    /**
     * Fetches the file of a file-uploadable object and corrects the object: a MIME type that the bytes
     * contradict, and the name when a page gave its preview image for something that was not called an image.
     */
    async fill({ field, value }: FileField): Promise<UrlFile> {
      const file = await fetch(String(value.s3key), `arguments.${field}.s3key`);
      const name = String(value.name);
      const mimetype = file.isPreview
        ? file.mimetype
        : await sniffMimetype(file.staged.head, name, String(value.mimetype));
      if (file.isPreview && !bareType(value.mimetype).startsWith("image/")) value.name = file.name;
      if (bareType(value.mimetype) !== bareType(mimetype)) value.mimetype = mimetype;
      return file;
    },
    async discard(): Promise<void> {
      for (const { staged } of files.values()) await staged.discard();
    },
  };
}
