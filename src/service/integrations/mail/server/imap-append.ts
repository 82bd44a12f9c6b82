import { type ImapFolder, listImapFolders, pickFolder, refuseMissingFolder } from "./imap-folders.ts";
import { inFolder } from "./imap-messages.ts";
import type { ImapLine } from "./imap-session.ts";
import { writeImapId } from "./message-id.ts";

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
  // What is sent over the network ends its lines with both characters.
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.from(Buffer.concat(pieces).toString("latin1").replaceAll(/\r?\n/g, "\r\n"), "latin1");
}
