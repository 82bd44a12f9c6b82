import { randomBytes } from "node:crypto";
import { readdir, rename } from "node:fs/promises";
import { withFile } from "../../files/folder.ts";
import { writeFileDurably } from "../../files/write-file.ts";
import { refuseMissing, refuseValue, ServiceError } from "../../service-error.ts";
import type { ConnectionView } from "../integration.ts";
import { MAX_MESSAGE_BYTES, normaliseFolder, refuseLarge, STANDARD_FOLDERS } from "./mail-box.ts";
import { mailFolder } from "./mail-settings.ts";

/** Ends the unique names of messages this service delivered. */
const OWN_SUFFIX = ".svc";

/** Where one message lies. `id` is its unique name, which stays the same when flags or folder change. */
export interface MessagePlace {
  readonly id: string;
  readonly folder: string;
  readonly box: "new" | "cur";
  readonly fileName: string;
  /** Maildir flag letters: S seen, F flagged, R replied, T trashed, D draft, P passed. */
  readonly flags: string;
  /** Milliseconds since the epoch, from the unique name. */
  readonly deliveredAt: number;
}

function toPlace(folder: string, box: "new" | "cur", fileName: string): MessagePlace {
  const [id = fileName, flags = ""] = fileName.split(":2,");
  const seconds = Number(/^(\d{1,12})\./.exec(id)?.[1] ?? 0);
  const micro = Number(/^\d+\.M(\d{1,6})/.exec(id)?.[1] ?? 0);
  return { id, folder, box, fileName, flags, deliveredAt: seconds * 1000 + Math.floor(micro / 1000) };
}

async function listNames(connection: ConnectionView, parts: readonly string[]): Promise<string[]> {
  try {
    return await mailFolder.open(connection, { parts, field: "folder" }, (folder) => readdir(folder.self));
  } catch (error) {
    // A Maildir without its three boxes is an empty one.
    if (error instanceof ServiceError && error.status === 404) return [];
    throw error;
  }
}

/** Names of all folders that exist or may be used without being made, INBOX first. */
export async function listFolders(connection: ConnectionView): Promise<string[]> {
  const names = await mailFolder.open(connection, { parts: [], field: "folder" }, (folder) =>
    readdir(folder.self, { withFileTypes: true }),
  );
  const found = names.flatMap((entry) => (entry.isDirectory() ? (fromDiskName(entry.name) ?? []) : []));
  return [...new Set([...STANDARD_FOLDERS, ...found.sort()])];
}

/** Throws ServiceError 404 `not_found` (type `provider`) when the folder is not there. */
export async function checkFolder(connection: ConnectionView, folder: string): Promise<void> {
  const folders = await listFolders(connection);
  if (!folders.includes(normaliseFolder(folder)))
    throw refuseMissing(`There is no mail folder "${folder}".`, `Folders: ${folders.join(", ")}.`);
}

/** Every message of a folder, newest first. */
export async function listMessages(connection: ConnectionView, folder: string): Promise<MessagePlace[]> {
  const name = normaliseFolder(folder);
  const parts = toFolderParts(name, "folder");
  const places: MessagePlace[] = [];
  for (const box of ["new", "cur"] as const)
    for (const fileName of await listNames(connection, [...parts, box]))
      if (!fileName.startsWith(".")) places.push(toPlace(name, box, fileName));
  return places.sort((a, b) => b.deliveredAt - a.deliveredAt || (a.id < b.id ? 1 : -1));
}

/**
 * The messages with these ids, each once and in this order, in whichever folders they lie. Throws ServiceError 404
 * `not_found` (type `provider`) naming the first missing one.
 */
export async function findMessages(connection: ConnectionView, ids: readonly string[]): Promise<MessagePlace[]> {
  const wanted = new Set(ids);
  const found = new Map<string, MessagePlace>();
  const look = async () => {
    for (const folder of await listFolders(connection)) {
      if (found.size === wanted.size) return;
      for (const place of await listMessages(connection, folder))
        if (wanted.has(place.id) && !found.has(place.id)) found.set(place.id, place);
    }
  };
  await look();
  // A message that another program moves during listing may be in none of the lists.
  if (found.size < wanted.size) await look();
  return [...wanted].map((id) => {
    const place = found.get(id);
    if (place === undefined)
      throw refuseMissing(`There is no message with the id "${id}".`, "Find the message with mail_search.");
    return place;
  });
}

/** The one message with this id; see {@link findMessages}. */
export async function findMessage(connection: ConnectionView, id: string): Promise<MessagePlace> {
  const [place] = await findMessages(connection, [id]);
  if (place === undefined) throw new Error("A message that was found is missing.");
  return place;
}

function partsOf({ folder, box }: Pick<MessagePlace, "folder" | "box">): string[] {
  return [...toFolderParts(folder, "folder"), box];
}

/** The bytes of a message. Throws ServiceError 413 `message_too_large` above {@link MAX_MESSAGE_BYTES}. */
export async function readMessageBytes(connection: ConnectionView, place: MessagePlace): Promise<Buffer> {
  const at = { parts: partsOf(place), field: "message_id", name: place.fileName };
  return mailFolder.open(connection, at, (folder) =>
    withFile(folder, place.fileName, async (handle, { size }) => {
      if (size > MAX_MESSAGE_BYTES) throw refuseLarge(place.id, size);
      return handle.readFile();
    }),
  );
}

/** The first `length` bytes of a message. */
export async function readMessageStart(
  connection: ConnectionView,
  place: MessagePlace,
  length: number,
): Promise<Buffer> {
  const at = { parts: partsOf(place), field: "message_id", name: place.fileName };
  return mailFolder.open(connection, at, (folder) =>
    withFile(folder, place.fileName, async (handle, stats) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(length, stats.size)), 0, undefined, 0);
      return buffer.subarray(0, bytesRead);
    }),
  );
}

let delivered = 0;

/** `<seconds>.M<microseconds>P<process>Q<count>R<random>.svc`, unique as Maildir wants it. */
function createMessageId(now: number): string {
  delivered += 1;
  const micro = String((now % 1000) * 1000).padStart(6, "0");
  const random = randomBytes(4).toString("hex");
  return `${Math.floor(now / 1000)}.M${micro}P${process.pid}Q${delivered}R${random}${OWN_SUFFIX}`;
}

/** True for messages that {@link deliverMessage} put there. */
export function isOwnDelivery(place: MessagePlace): boolean {
  return place.id.endsWith(OWN_SUFFIX);
}

/**
 * Delivers a message: written whole into `tmp` and flushed, then renamed into `new`, or into `cur` when it has flags. It
 * survives a crash once this returns.
 */
export async function deliverMessage(
  connection: ConnectionView,
  message: {
    readonly folder: string;
    readonly flags: string;
    readonly bytes: AsyncIterable<Uint8Array>;
    readonly now: number;
    readonly signal: AbortSignal;
  },
): Promise<MessagePlace> {
  const { folder, flags, bytes, now, signal } = message;
  const id = createMessageId(now);
  const box = flags === "" ? "new" : "cur";
  const fileName = flags === "" ? id : `${id}:2,${flags}`;
  const parts = toFolderParts(folder, "folder");
  const open = (name: string) => ({ parts: [...parts, name], field: "folder", create: true });
  await mailFolder.open(connection, open(box === "new" ? "cur" : "new"), async () => undefined);
  return mailFolder.open(connection, open("tmp"), async (tmp) => {
    await writeFileDurably(tmp, { name: id, bytes, ifExists: "error", mode: 0o600, signal });
    return mailFolder.open(connection, open(box), async (target) => {
      await rename(tmp.at(id), target.at(fileName));
      await target.sync();
      return { id, folder, box, fileName, flags, deliveredAt: now };
    });
  });
}

/** Gives a message other flags or another folder; it ends up in `cur`. */
export async function relocateMessage(
  connection: ConnectionView,
  place: MessagePlace,
  change: { readonly flags?: string; readonly folder?: string },
): Promise<MessagePlace> {
  const flags = [...new Set(change.flags ?? place.flags)].sort().join("");
  const next: MessagePlace = {
    ...place,
    folder: change.folder ?? place.folder,
    box: "cur",
    flags,
    fileName: `${place.id}:2,${flags}`,
  };
  const at = { parts: partsOf(place), field: "message_ids", name: place.fileName };
  await mailFolder.open(connection, at, (from) =>
    mailFolder.open(connection, { parts: partsOf(next), field: "folder", create: true }, async (to) => {
      await rename(from.at(place.fileName), to.at(next.fileName));
      await to.sync();
      await from.sync();
    }),
  );
  return next;
}

const INBOX = "INBOX";
const PLAIN = /[\x20-\x25\x27-\x7e]+|&|[^\x20-\x7e]+/g;

/** Modified UTF-7 (RFC 3501, 5.1.3), the spelling Maildir++ servers use on the disk. */
function encode(text: string): string {
  return text.replaceAll(PLAIN, (run) => {
    if (run === "&") return "&-";
    if (/^[\x20-\x7e]/.test(run)) return run;
    const base64 = Buffer.from(run, "utf16le").swap16().toString("base64");
    return `&${base64.replace(/=+$/, "").replaceAll("/", ",")}-`;
  });
}

function decode(text: string): string {
  return text.replaceAll(/&([A-Za-z0-9+,]*)-/g, (_whole, base64: string) => {
    if (base64 === "") return "&";
    const bytes = Buffer.from(base64.replaceAll(",", "/"), "base64");
    return bytes
      .subarray(0, bytes.length - (bytes.length % 2))
      .swap16()
      .toString("utf16le");
  });
}

/** Path components of a mail folder such as `INBOX` or `Work/2026` below the Maildir. Throws ServiceError 400 naming `field`. */
export function toFolderParts(folder: string, field: string): string[] {
  if (folder.toUpperCase() === INBOX) return [];
  const levels = folder.split("/");
  if (folder.length > 200 || levels.some((level) => !/^[^./\\\p{Cc}]+$/u.test(level) || level.trim() === ""))
    throw refuseValue(
      field,
      `is not a folder name: "${folder}".`,
      'Separate levels with "/" and leave out dots, for example "Work/2026".',
    );
  return [`.${levels.map(encode).join(".")}`];
}

/** The name of the folder kept at `diskName`; undefined when that is no mail folder. */
export function fromDiskName(diskName: string): string | undefined {
  if (!/^\.[^.]/.test(diskName)) return undefined;
  return diskName.slice(1).split(".").map(decode).join("/");
}
