import type { CopyResponseObject, FetchMessageObject } from "imapflow";
import { refuseMissing, ServiceError } from "../../../service-error.ts";
import type { MailPlace } from "../mail-box.ts";
import {
  type ImapFolder,
  type ImapPlace,
  listImapFolders,
  pickFolder,
  readImapId,
  refuseMissingFolder,
  writeImapId,
} from "./imap-folders.ts";
import type { ImapLine } from "./imap-session.ts";
import { isRefusal, readFault } from "./mail-failure.ts";

/** A message on the server whose place was looked up. */
interface HeldMessage {
  readonly place: ImapPlace;
  readonly folder: ImapFolder;
  readonly state: MailPlace;
  readonly size: number;
}

/** Runs `work` while a folder is selected. */
export async function inFolder<T>(
  { client }: ImapLine,
  folder: ImapFolder,
  work: (opened: { readonly validity: bigint }) => Promise<T>,
): Promise<T> {
  const lock = await client.getMailboxLock(folder.path).catch((error: unknown) => {
    // Servers list folders that are gone by now, or never were more than a name for those below them.
    if (isRefusal(error) && readFault(error).serverResponseCode === "")
      throw refuseMissing(`The mail folder "${folder.name}" cannot be opened.`, "See mail_list_folders.");
    throw error;
  });
  try {
    const { mailbox } = client;
    if (mailbox === false) throw new Error("The folder was closed again.");
    return await work({ validity: mailbox.uidValidity });
  } finally {
    lock.release();
  }
}

/** How a message is marked. */
export function readState(
  message: Pick<FetchMessageObject, "uid" | "flags" | "internalDate">,
  { folder, validity }: { readonly folder: ImapFolder; readonly validity: bigint },
): MailPlace {
  const { uid, flags = new Set(), internalDate = 0 } = message;
  return {
    id: writeImapId({ folder: folder.digest, validity, uid }),
    folder: folder.name,
    isUnread: !flags.has("\\Seen"),
    isFlagged: flags.has("\\Flagged"),
    receivedAt: new Date(internalDate).getTime(),
    epoch: `${folder.digest}.${validity}`,
  };
}

/** 404 `not_found`, type `provider`. */
export function refuseMissingMessage(id: string): ServiceError {
  return refuseMissing(
    `There is no message with the id "${id}", or it lies in another folder by now.`,
    "Find the message with mail_search.",
  );
}

/** The messages with these ids, in this order. Throws ServiceError 404 for the first missing one. */
export async function holdMessages(line: ImapLine, ids: readonly string[]): Promise<HeldMessage[]> {
  const wanted = [...new Set(ids)].map((id) => {
    const place = readImapId(id);
    if (place === undefined) throw refuseMissingMessage(id);
    return { id, place };
  });
  const folders = await listImapFolders(line);
  const held = new Map<string, HeldMessage>();
  for (const [digest, own] of Map.groupBy(wanted, ({ place }) => place.folder)) {
    const folder = folders.find((one) => one.digest === digest);
    if (folder === undefined) continue;
    await inFolder(line, folder, async ({ validity }) => {
      const uids = own.filter(({ place }) => place.validity === validity).map(({ place }) => place.uid);
      if (uids.length === 0) return;
      const fields = { uid: true, flags: true, internalDate: true, size: true };
      for (const message of await line.client.fetchAll(uids, fields, { uid: true })) {
        const place = { folder: digest, validity, uid: message.uid };
        const state = readState(message, { folder, validity });
        held.set(state.id, { place, folder, state, size: message.size ?? 0 });
      }
    });
  }
  return wanted.map(({ id }) => {
    const message = held.get(id);
    if (message === undefined) throw refuseMissingMessage(id);
    return message;
  });
}

/** As {@link holdMessages}, with the header lines of the subject of each. */
export async function holdSubjects(line: ImapLine, ids: readonly string[]) {
  const held = await holdMessages(line, ids);
  const headers = new Map<string, Buffer>();
  for (const { folder, uids } of groupByFolder(held))
    await inFolder(line, folder, async ({ validity }) => {
      const fields = { uid: true, headers: ["subject"] };
      for (const { uid, headers: header } of await line.client.fetchAll(uids, fields, { uid: true }))
        headers.set(writeImapId({ folder: folder.digest, validity, uid }), header ?? Buffer.alloc(0));
    });
  return held.map(({ state }) => {
    const header = headers.get(state.id);
    if (header === undefined) throw refuseMissingMessage(state.id);
    return { place: state, header };
  });
}

/** UIDs by the folder they belong to. */
export function groupByFolder(held: readonly HeldMessage[]): { folder: ImapFolder; uids: number[] }[] {
  const groups = Map.groupBy(held, ({ folder }) => folder.path);
  return [...groups.values()].flatMap((own) => {
    const [first] = own;
    return first === undefined ? [] : [{ folder: first.folder, uids: own.map(({ place }) => place.uid) }];
  });
}

/** Moves messages out of the selected folder; the result tells the new id of each, where the server does. */
export async function moveMessages(
  line: ImapLine,
  uids: number[],
  to: ImapFolder,
): Promise<(uid: number) => string | undefined> {
  const { client } = line;
  if (!client.capabilities.has("MOVE") && !client.capabilities.has("IMAP4REV2")) {
    if (!client.capabilities.has("UIDPLUS"))
      throw new ServiceError(422, "unsupported_operation", "This mail server cannot move messages safely.", {
        type: "provider",
        hint: "Move the message in a mail program.",
      });
    // Never delete a message that was not copied.
    const copied = line.need(await client.messageCopy(uids, to.path, { uid: true }));
    line.need(await client.messageDelete(uids, { uid: true }));
    return toNewId(copied, to);
  }
  return toNewId(line.need(await client.messageMove(uids, to.path, { uid: true })), to);
}

function toNewId({ uidValidity, uidMap }: CopyResponseObject, to: ImapFolder) {
  return (uid: number) => {
    const next = uidMap?.get(uid);
    if (next === undefined || uidValidity === undefined) return undefined;
    return writeImapId({ folder: to.digest, validity: uidValidity, uid: next });
  };
}

/** The folder with this name, made when it is missing. */
export async function makeFolder(line: ImapLine, name: string): Promise<ImapFolder> {
  const known = pickFolder(await listImapFolders(line), name);
  if (known !== undefined) return known;
  await line.client.mailboxCreate(name.split("/"));
  const made = pickFolder(await listImapFolders(line), name);
  if (made === undefined) throw refuseMissingFolder([], name);
  return made;
}

/** Puts a message into a folder; the id it got there. */
export async function appendMessage(
  line: ImapLine,
  folder: ImapFolder,
  message: { readonly bytes: Buffer; readonly flags: readonly string[]; readonly at: Date },
): Promise<string> {
  const { client } = line;
  const added = line.need(await client.append(folder.path, message.bytes, [...message.flags], message.at));
  if (added.uid !== undefined && added.uidValidity !== undefined)
    return writeImapId({ folder: folder.digest, validity: added.uidValidity, uid: added.uid });
  // Without UIDPLUS the newest message is the one.
  return inFolder(line, folder, async ({ validity }) => {
    const newest = await client.fetchOne("*", { uid: true });
    return writeImapId({ folder: folder.digest, validity, uid: newest === false ? 0 : newest.uid });
  });
}

/** All bytes of a message. */
export async function collectMessage(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  // Lines end with CR LF on the network.
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.from(Buffer.concat(pieces).toString("latin1").replaceAll(/\r?\n/g, "\r\n"), "latin1");
}
