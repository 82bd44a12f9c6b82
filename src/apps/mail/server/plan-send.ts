import { domainToASCII } from "node:url";
import type { MessageAddressObject } from "imapflow";
import type { PlannedSend } from "../mail-box.ts";
import {
  checkSendLimits,
  forgetMinute,
  isOwnMessageId,
  partRecipients,
  readMailSettings,
  SEND_LIMIT_SPAN_MS,
} from "../mail-settings.ts";
import type { ImapBox } from "./imap-box.ts";
import { type ImapFolder, listImapFolders, pickFolder } from "./imap-folders.ts";
import { inFolder } from "./imap-messages.ts";
import type { ImapLine } from "./imap-session.ts";
import { findSmtp } from "./send-by-smtp.ts";
import type { ServerSettings } from "./server-settings.ts";

/** Longer than this, nobody waits to learn whether an address is known. */
const LOOK_MS = 2000;
/** Most messages of one search whose addresses are read. */
const MAX_READ = 200;
/** More addresses than one search takes are left undecided. */
const MAX_ADDRESSES = 20;
/** Searches in one folder until the rest is left undecided. */
const MAX_SEARCHES = 3;

/** What sending to these addresses would do; see `MailBox.planSend`. */
export async function planSend(
  recipients: readonly string[],
  box: ImapBox,
  server: ServerSettings,
): Promise<PlannedSend> {
  findSmtp(server);
  const settings = readMailSettings(box.context.connection.settings);
  checkSendLimits(forgetMinute(settings), await listSendTimes(box), box.context.now());
  const folder = await box.findFolder("Sent", { mayBeMade: true });
  const { others } = partRecipients(recipients, settings);
  return { folder, unreached: [], strangers: await findStrangers(box, others) };
}

/** When this service sent messages in the last day, newest first. */
export function listSendTimes(box: ImapBox): Promise<number[]> {
  return box.look(async (line) => {
    const { client } = line;
    const folder = pickFolder(await listImapFolders(line), "Sent");
    if (folder === undefined) return [];
    return inFolder(line, folder, async () => {
      const since = new Date(box.context.now() - 2 * SEND_LIMIT_SPAN_MS);
      const uids = line.need(await client.search({ since }, { uid: true }));
      if (uids.length === 0) return [];
      const fetched = await client.fetchAll(uids, { uid: true, internalDate: true, envelope: true }, { uid: true });
      return fetched
        .filter(({ envelope }) => isOwnMessageId(envelope?.messageId ?? ""))
        .map(({ internalDate = 0 }) => new Date(internalDate).getTime())
        .sort((a, b) => b - a);
    });
  });
}

/** Those of the addresses that no sent mail went to and no mail in INBOX came from; none when that takes too long. */
async function findStrangers(box: ImapBox, addresses: readonly string[]): Promise<string[]> {
  const wanted = new Map(addresses.map((address) => [fold(address), address]));
  // A search for other letters depends on how a program wrote them.
  const plain = new Set([...wanted.keys()].filter((address) => /^[\x21-\x7e]+$/.test(address)));
  if (plain.size === 0 || plain.size > MAX_ADDRESSES) return [];
  const { signal } = box.context;
  const look = async (line: ImapLine) => {
    const folders = await listImapFolders(line);
    const unsent = await leaveOutKnown(line, pickFolder(folders, "Sent"), { fields: ["to", "cc", "bcc"], of: plain });
    return leaveOutKnown(line, pickFolder(folders, "INBOX"), { fields: ["from"], of: unsent });
  };
  const found = await box.look(look, AbortSignal.any([signal, AbortSignal.timeout(LOOK_MS)])).catch(() => {
    signal.throwIfAborted();
    return new Set<string>();
  });
  return [...found].flatMap((address) => wanted.get(address) ?? []);
}

/** The addresses that no message of the folder has in these fields, as far as that is decided. */
async function leaveOutKnown(
  line: ImapLine,
  folder: ImapFolder | undefined,
  { fields, of }: { readonly fields: readonly ("to" | "cc" | "bcc" | "from")[]; readonly of: ReadonlySet<string> },
): Promise<ReadonlySet<string>> {
  if (folder === undefined || of.size === 0) return of;
  return inFolder(line, folder, async () => {
    let left = of;
    for (let searches = 0; searches < MAX_SEARCHES && left.size > 0; searches++) {
      const or = [...left].flatMap((address) => fields.map((field) => ({ [field]: address })));
      const uids = line.need(await line.client.search({ or }, { uid: true }));
      const newest = uids.sort((a, b) => b - a).slice(0, MAX_READ);
      if (newest.length === 0) return left;
      // A search finds parts of longer addresses, too.
      const fetched = await line.client.fetchAll(newest, { uid: true, envelope: true }, { uid: true });
      const named = fetched.flatMap(({ envelope }) => fields.flatMap((field) => readAddresses(envelope?.[field])));
      left = left.difference(new Set(named));
      if (uids.length <= MAX_READ) return left;
    }
    return new Set();
  });
}

function readAddresses(addresses: readonly MessageAddressObject[] | undefined): string[] {
  return (addresses ?? []).map(({ address = "" }) => fold(address));
}

/** An address as mail programs write its domain, in lower case. */
function fold(address: string): string {
  const at = address.lastIndexOf("@");
  const domain = address.slice(at + 1);
  return `${address.slice(0, at + 1)}${domainToASCII(domain) || domain}`.toLowerCase();
}
