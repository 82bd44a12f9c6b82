import type { CopyResponseObject, FetchMessageObject, FetchQueryObject } from "imapflow";
import { afterChange, refuseMissing, ServiceError } from "../../../service/service-error.ts";
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
export interface HeldMessage {
  readonly place: ImapPlace;
  readonly folder: ImapFolder;
  readonly state: MailPlace;
  readonly size: number;
  /** Number of its last change; undefined where the server counts none. */
  readonly modseq: bigint | undefined;
  /** Lines of the headers that were asked for. */
  readonly header: Buffer | undefined;
}

/** Headers of which a `MessageHead` is made. */
const HEAD_FIELDS = ["from", "reply-to", "subject", "date", "message-id", "references", "in-reply-to"];

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
  message: Pick<FetchMessageObject, "uid" | "flags" | "internalDate" | "size">,
  { folder, validity }: { readonly folder: ImapFolder; readonly validity: bigint },
): MailPlace {
  const { uid, flags = new Set(), internalDate = 0 } = message;
  return {
    id: writeImapId({ folder: folder.digest, validity, uid }),
    folder: folder.name,
    isUnread: !flags.has("\\Seen"),
    isFlagged: flags.has("\\Flagged"),
    isAnswered: flags.has("\\Answered"),
    marks: [...flags]
      .filter((flag) => flag.toLowerCase() !== "\\recent")
      .sort()
      .join(" "),
    receivedAt: new Date(internalDate).getTime(),
    epoch: `${folder.digest}.${validity}`,
    size: message.size,
  };
}

/** 404 `not_found`, type `provider`. */
export function refuseMissingMessage(id: string): ServiceError {
  return refuseMissing(
    `There is no message with the id "${id}", or it lies in another folder by now.`,
    "Find the message with mail_search.",
  );
}

/** The messages with these ids, in this order; of each folder by one FETCH. Throws ServiceError 404 for the first missing one. */
export async function holdMessages(
  line: ImapLine,
  ids: readonly string[],
  extra: { readonly headers?: string[] } = {},
): Promise<HeldMessage[]> {
  const wanted = [...new Set(ids)];
  for (const id of wanted) if (readImapId(id) === undefined) throw refuseMissingMessage(id);
  const held = await holdPresent(line, wanted, extra);
  return wanted.map((id) => {
    const message = held.get(id);
    if (message === undefined) throw refuseMissingMessage(id);
    return message;
  });
}

/** Those of the messages with these ids that are there. */
export async function holdPresent(
  line: ImapLine,
  ids: readonly string[],
  extra: { readonly headers?: string[] } = {},
): Promise<Map<string, HeldMessage>> {
  const wanted = ids.flatMap((id) => readImapId(id) ?? []);
  const folders = await listImapFolders(line);
  const held = new Map<string, HeldMessage>();
  for (const [digest, own] of Map.groupBy(wanted, (place) => place.folder)) {
    const folder = folders.find((one) => one.digest === digest);
    if (folder === undefined) continue;
    await inFolder(line, folder, async ({ validity }) => {
      const uids = own.filter((place) => place.validity === validity).map(({ uid }) => uid);
      if (uids.length === 0) return;
      const modseq = line.client.enabled.has("CONDSTORE");
      const fields = { flags: true, internalDate: true, size: true, modseq, ...extra };
      for (const message of await fetchByUid(line, uids, fields)) {
        const place = { folder: digest, validity, uid: message.uid };
        const state = readState(message, { folder, validity });
        const { size = 0, modseq, headers: header } = message;
        held.set(state.id, { place, folder, state, size, modseq, header });
      }
    });
  }
  return held;
}

/**
 * Messages of the selected folder, without those that are gone. A server reports what others change between its answers, without
 * what was asked for: that is the newest news of the message.
 */
export async function fetchByUid(
  { client }: ImapLine,
  uids: number[],
  fields: FetchQueryObject,
): Promise<FetchMessageObject[]> {
  const messages = new Map<number, Partial<FetchMessageObject>>();
  for (const one of await client.fetchAll(uids, { uid: true, ...fields }, { uid: true }))
    messages.set(one.seq, { ...messages.get(one.seq), ...one });
  return [...messages.values()].filter((one): one is FetchMessageObject => one.uid !== undefined);
}

/** As {@link holdMessages}, with the header lines of each. */
export async function holdHeads(line: ImapLine, ids: readonly string[]) {
  const held = await holdMessages(line, ids, { headers: HEAD_FIELDS });
  return held.map(({ state, header = Buffer.alloc(0) }) => ({ place: state, header }));
}

/** Messages of one folder. */
export interface HeldGroup {
  readonly folder: ImapFolder;
  readonly uids: number[];
  readonly held: readonly HeldMessage[];
}

/** Messages by the folder they belong to. */
export function groupByFolder(held: readonly HeldMessage[]): HeldGroup[] {
  const groups = Map.groupBy(held, ({ folder }) => folder.path);
  return [...groups.values()].flatMap((own) => {
    const [first] = own;
    return first === undefined ? [] : [{ folder: first.folder, uids: own.map(({ place }) => place.uid), held: own }];
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
    await afterChange(`The folder "${to.name}"`, async () =>
      line.need(await client.messageDelete(uids, { uid: true })),
    );
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
