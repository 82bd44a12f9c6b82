import type { MessageAddressObject } from "imapflow";
import type { MailOutline } from "../mail-box.ts";
import { listImapFolders, pickFolder } from "./imap-folders.ts";
import { fetchByUid, inFolder } from "./imap-messages.ts";
import type { ImapLine } from "./imap-session.ts";

/** Messages of one look: others wait for the connection. */
export const ENVELOPES_AT_ONCE = 250;

/** The newest messages of a folder, newest first; none where it is not there. */
export async function listNewest(line: ImapLine, name: string, limit: number): Promise<number[]> {
  const folder = pickFolder(await listImapFolders(line), name);
  if (folder === undefined) return [];
  return inFolder(line, folder, async () => {
    const uids = line.need(await line.client.search({ all: true }, { uid: true }));
    return uids.toSorted((a, b) => b - a).slice(0, limit);
  });
}

/** Who wrote these messages to whom, by one FETCH; those that are gone are left out. */
export async function outlineMessages(line: ImapLine, name: string, uids: number[]): Promise<MailOutline[]> {
  const folder = pickFolder(await listImapFolders(line), name);
  if (folder === undefined || uids.length === 0) return [];
  const fetched = await inFolder(line, folder, () => fetchByUid(line, uids, { envelope: true }));
  return fetched
    .toSorted((a, b) => b.uid - a.uid)
    .flatMap(({ envelope }) => {
      if (envelope === undefined) return [];
      const { from, to, cc, bcc, subject = "", date } = envelope;
      const at = new Date(date ?? Number.NaN);
      const sent = Number.isNaN(at.getTime()) ? undefined : at.toISOString();
      const [sender = ""] = toList(from);
      return [{ from: sender, to: toList(to), cc: toList(cc), bcc: toList(bcc), subject, date: sent, text: undefined }];
    });
}

function toList(people: readonly MessageAddressObject[] = []): string[] {
  return people.map(({ name, address = "" }) => (name ? `${name} <${address}>` : address));
}
