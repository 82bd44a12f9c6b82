import { readdir, rm } from "node:fs/promises";
import { explainName, type Folder, withFile } from "../../service/files/folder.ts";
import { writeFileDurably } from "../../service/files/write-file.ts";
import { afterChange, refuseMissing, refuseValue, ServiceError } from "../../service/service-error.ts";
import { renameFile } from "../../shared/base/disk.ts";
import { hasCode } from "../../shared/base/error-code.ts";
import type { ConnectionView } from "../port/integration.ts";
import { MAX_MESSAGE_BYTES, normaliseFolder, refuseLarge, STANDARD_FOLDERS } from "./mail-box.ts";
import { mailFolder } from "./mail-settings.ts";
import { fromDiskName, toFolderParts } from "./maildir-names.ts";

/** Ends the unique names of messages this service delivered. */
const OWN_SUFFIX = ".svc";

/** Between the unique name of a message and its flags stands a colon, or what other programs take where disks have none. */
const FLAGGED = /^(.*?)[:;!]2,(.*)$/s;
const SEPARATORS = process.platform === "win32" ? [";"] : [":", ";"];

/** Where one message lies. `id` is its unique name, which stays the same when flags or folder change. */
export interface MessagePlace {
  readonly id: string;
  readonly folder: string;
  /** Path components of the folder on the disk. */
  readonly parts: readonly string[];
  readonly box: "new" | "cur";
  readonly fileName: string;
  /** Maildir flag letters: S seen, F flagged, R replied, T trashed, D draft, P passed. */
  readonly flags: string;
  /** Milliseconds since the epoch, from the unique name. */
  readonly deliveredAt: number;
}

function toPlace(
  { folder, parts, box }: Pick<MessagePlace, "folder" | "parts" | "box">,
  fileName: string,
): MessagePlace {
  const [, id = fileName, flags = ""] = FLAGGED.exec(fileName) ?? [];
  const seconds = Number(/^(\d{1,12})\./.exec(id)?.[1] ?? 0);
  const micro = Number(/^\d+\.M(\d{1,6})/.exec(id)?.[1] ?? 0);
  return { id, folder, parts, box, fileName, flags, deliveredAt: seconds * 1000 + Math.floor(micro / 1000) };
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

/** Folders as they lie on the disk, by their names. */
async function listDiskNames(connection: ConnectionView): Promise<Map<string, string>> {
  const entries = await mailFolder.open(connection, { parts: [], field: "folder" }, (folder) =>
    readdir(folder.self, { withFileTypes: true }),
  );
  const found = entries.flatMap((entry): [string, string][] => {
    const name = entry.isDirectory() ? fromDiskName(entry.name) : undefined;
    return name === undefined ? [] : [[name, entry.name]];
  });
  return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Names of all folders that exist or may be used without being made, INBOX first. */
export async function listFolders(connection: ConnectionView) {
  const found = [...(await listDiskNames(connection)).keys()];
  const [lost = [], named = []] = [true, false].map((is) => found.filter((name) => name.includes("\ufffd") === is));
  const notShown = lost.map((name) => ({
    where: name,
    why: "The name of this folder is not in UTF-8 and cannot be read.",
  }));
  return { names: [...new Set([...STANDARD_FOLDERS, ...named])], notShown };
}

/** Throws ServiceError 404 `not_found` (type `provider`) when the folder is not there. */
export async function checkFolder(connection: ConnectionView, folder: string): Promise<void> {
  const { names } = await listFolders(connection);
  if (!names.includes(normaliseFolder(folder)))
    throw refuseMissing(`There is no mail folder "${folder}".`, `Folders: ${names.join(", ")}.`);
}

/**
 * Path components of a folder below the Maildir. Servers write names in UTF-8 or in the encoding of IMAP: a folder that is
 * there is taken as it is called, a new one is called as the others are.
 */
export async function findFolderParts(connection: ConnectionView, folder: string): Promise<readonly string[]> {
  const made = toFolderParts(folder, "folder");
  if (made.length === 0) return made;
  const known = await listDiskNames(connection);
  const disk = known.get(folder) ?? known.get(folder.normalize("NFC")) ?? known.get(folder.normalize("NFD"));
  if (disk !== undefined) return [disk];
  const isUtf8 = [...known.values()].some((name) => /[^\x20-\x7e]/.test(name));
  return isUtf8 ? [`.${folder.split("/").join(".")}`] : made;
}

/** Every message of a folder, newest first. */
export async function listMessages(connection: ConnectionView, folder: string): Promise<MessagePlace[]> {
  const name = normaliseFolder(folder);
  const parts = await findFolderParts(connection, name);
  const places: MessagePlace[] = [];
  for (const box of ["new", "cur"] as const)
    for (const fileName of await listNames(connection, [...parts, box]))
      if (!fileName.startsWith(".")) places.push(toPlace({ folder: name, parts, box }, fileName));
  return places.sort((a, b) => b.deliveredAt - a.deliveredAt || (a.id < b.id ? 1 : -1));
}

/**
 * The messages with these ids, each once and in this order, in whichever folders they lie. Throws ServiceError 404
 * `not_found` (type `provider`) naming the first missing one, or 400 at `message_ids` for an id that several have.
 */
export async function findMessages(connection: ConnectionView, ids: readonly string[]): Promise<MessagePlace[]> {
  const found = await locateMessages(connection, ids, { endsEarly: false });
  return [...found].map(([id, [place, second]]) => {
    if (place === undefined) throw refuseMissingMessage(id);
    if (second === undefined) return place;
    const where = `"${place.folder}" and "${second.folder}"`;
    throw refuseValue("message_ids", `has an id of two messages, in ${where}: ${id}.`, "Remove one in a mail program.");
  });
}

/** The message with this id, to be read: of several the first, as another program may have copied a file with its name. */
export async function findMessage(connection: ConnectionView, id: string): Promise<MessagePlace> {
  const [place] = (await locateMessages(connection, [id], { endsEarly: true })).get(id) ?? [];
  if (place === undefined) throw refuseMissingMessage(id);
  return place;
}

/** All places of each message, none of one that is gone; with `endsEarly` no folder is read after each was found. */
export async function locateMessages(
  connection: ConnectionView,
  ids: readonly string[],
  { endsEarly }: { readonly endsEarly: boolean },
): Promise<Map<string, MessagePlace[]>> {
  const look = async () => {
    const found = new Map(ids.map((id): [string, MessagePlace[]] => [id, []]));
    for (const folder of (await listFolders(connection)).names) {
      if (endsEarly && [...found.values()].every(({ length }) => length > 0)) break;
      for (const place of await listMessages(connection, folder)) found.get(place.id)?.push(place);
    }
    return found;
  };
  const found = await look();
  // A message that another program moves during listing may be in none of the lists, or in two.
  return [...found.values()].every(({ length }) => length === 1) ? found : look();
}

function refuseMissingMessage(id: string): ServiceError {
  return refuseMissing(`There is no message with the id "${id}".`, "Find the message with mail_search.");
}

function partsOf({ parts, box }: Pick<MessagePlace, "parts" | "box">): string[] {
  return [...parts, box];
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

/** `<seconds>.M<microseconds>P<process>Q<count>R<unique>.svc`, unique as Maildir wants it. */
function createMessageId(now: number, unique: string): string {
  delivered += 1;
  const micro = String((now % 1000) * 1000).padStart(6, "0");
  return `${Math.floor(now / 1000)}.M${micro}P${process.pid}Q${delivered}R${unique}${OWN_SUFFIX}`;
}

/** True for messages that {@link deliverMessage} put there. */
export function isOwnDelivery(place: MessagePlace): boolean {
  return place.id.endsWith(OWN_SUFFIX);
}

/** True for those of them that were delivered with this `unique`. */
export function isDeliveredAs({ id }: MessagePlace, unique: string): boolean {
  return id.endsWith(`R${unique}${OWN_SUFFIX}`);
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
    /** Letters and digits that no other message has, at most 64. */
    readonly unique: string;
    readonly bytes: AsyncIterable<Uint8Array>;
    readonly now: number;
    readonly signal: AbortSignal;
  },
): Promise<MessagePlace> {
  const { folder, flags, unique, bytes, now, signal } = message;
  const id = createMessageId(now, unique);
  const box: MessagePlace["box"] = flags === "" ? "new" : "cur";
  const parts = await findFolderParts(connection, folder);
  const open = (name: string) => ({ parts: [...parts, name], field: "folder", create: true });
  const write = async (tmp: Folder) => {
    await writeFileDurably(tmp, { name: id, bytes, ifExists: "error", mode: 0o600, signal });
    const deliver = mailFolder.open(connection, open(box), async (target) => {
      const fileName = await nameMessage(tmp.at(id), target, { id, flags, box });
      await afterChange(`The folder ${folder}`, () => target.flush());
      return { id, folder, parts, box, fileName, flags, deliveredAt: now };
    });
    // Nothing is there after it was delivered.
    return deliver.finally(() => rm(tmp.at(id), { force: true }).catch(() => undefined));
  };
  const other = open(box === "new" ? "cur" : "new");
  return mailFolder.open(connection, other, () => mailFolder.open(connection, open("tmp"), write));
}

/** Gives a message its name in `folder`, with the separator that the disk takes. Returns the name. */
async function nameMessage(
  from: string,
  folder: Folder,
  { id, flags, box }: Pick<MessagePlace, "id" | "flags" | "box">,
): Promise<string> {
  const names = box === "new" ? [id] : SEPARATORS.map((separator) => `${id}${separator}2,${flags}`);
  for (const [index, name] of names.entries()) {
    try {
      await renameFile(from, folder.at(name));
      return name;
    } catch (error) {
      const isRefused = hasCode(await explainName(error, from), "EINVAL");
      if (index + 1 === names.length || !isRefused) throw error;
    }
  }
  throw new Error("A message has no name to take.");
}

/** Gives a message other flags or another folder; it ends up in `cur`. */
export async function relocateMessage(
  connection: ConnectionView,
  place: MessagePlace,
  change: { readonly flags?: string; readonly folder?: string },
): Promise<MessagePlace> {
  const flags = [...new Set(change.flags ?? place.flags)].sort().join("");
  const next = {
    ...place,
    folder: change.folder ?? place.folder,
    parts: change.folder === undefined ? place.parts : await findFolderParts(connection, change.folder),
    box: "cur" as const,
    flags,
  };
  const at = { parts: partsOf(place), field: "message_ids", name: place.fileName };
  return mailFolder.open(connection, at, (from) =>
    mailFolder.open(connection, { parts: partsOf(next), field: "folder", create: true }, async (to) => {
      const fileName = await nameMessage(from.at(place.fileName), to, next);
      await afterChange("The message", () => to.flush());
      await afterChange("The message", () => from.flush());
      return { ...next, fileName };
    }),
  );
}
