import { loadSdk } from "./load-sdk.ts";

/** A file the host stored. */
export interface StoredMedia {
  /** Name in the store, ending in a random id. */
  readonly id: string;
  /** Bytes. */
  readonly size: number;
  /** By content where that tells, else as declared. */
  readonly contentType: string | undefined;
}

/** The host's own store of received files. */
export interface MediaStore {
  /** Stores the bytes under a name the host makes safe; stops at `maxBytes`. */
  saveStream(bytes: AsyncIterable<Uint8Array>, file: NewMedia): Promise<StoredMedia>;
  /** Lets the host fetch a public https link, without any header of ours; private addresses are refused by the host. */
  saveLink(url: string, maxBytes: number): Promise<StoredMedia>;
}

/** A file to be stored. */
export interface NewMedia {
  readonly name: string | undefined;
  readonly mimetype: string | undefined;
  readonly maxBytes: number;
}

/** Attachments of people lie here too: the one folder that a `media://` reference can name. */
const AREA = "inbound";

/** The store of the host this runs in; undefined when it lends none to plugins. */
export async function loadMediaStore(): Promise<MediaStore | undefined> {
  const { saveMediaStream, saveMediaSource } = (await loadSdk("media-store")) ?? {};
  if (typeof saveMediaStream !== "function" || typeof saveMediaSource !== "function") return undefined;
  return {
    saveStream: async (bytes, { name, mimetype, maxBytes }) =>
      readStored(await saveMediaStream(bytes, mimetype, AREA, maxBytes, name)),
    async saveLink(url, maxBytes) {
      // The same function copies any local file it is given.
      if (!url.startsWith("https://")) throw new TypeError("Only https links are fetched.");
      return readStored(await saveMediaSource(url, undefined, AREA, maxBytes));
    },
  };
}

function readStored(saved: unknown): StoredMedia {
  if (typeof saved === "object" && saved !== null && "id" in saved && "size" in saved) {
    const { id, size } = saved;
    const contentType = "contentType" in saved && typeof saved.contentType === "string" ? saved.contentType : undefined;
    if (typeof id === "string" && typeof size === "number") return { id, size, contentType };
  }
  throw new TypeError("The host's media store gave no id.");
}
