import type { KnownMessage, MailPlace, MoveTrace, TracedMessage } from "../mail-box.ts";
import { type ImapFolder, listImapFolders, pickFolder, readImapId } from "./imap-folders.ts";
import { fetchByUid, holdPresent, inFolder, readState } from "./imap-messages.ts";
import type { ImapLine } from "./imap-session.ts";

/** Among more newcomers of a folder nobody looks for a message that was moved: it counts as not found. */
const MAX_NEWCOMERS = 5000;

/** What is told of a folder by its UIDVALIDITY and the next UID, as one text. */
function writeArrivals(validity: bigint, next: number): string {
  return `${validity}.${next}`;
}

function readArrivals(arrivals: string | undefined): { validity: bigint; next: number } | undefined {
  const [, validity, next] = /^(\d+)\.(\d+)$/.exec(arrivals ?? "") ?? [];
  return validity === undefined ? undefined : { validity: BigInt(validity), next: Number(next) };
}

/** See `MailBox.seeArrivals`: a UID that was given once is never given again. */
export async function seeImapArrivals(line: ImapLine, name: string): Promise<string | undefined> {
  const folder = pickFolder(await listImapFolders(line), name);
  if (folder === undefined) return undefined;
  const status = line.need(await line.client.status(folder.path, { uidNext: true, uidValidity: true }));
  const { uidValidity, uidNext } = status;
  return uidValidity === undefined || uidNext === undefined ? "" : writeArrivals(uidValidity, uidNext);
}

/** See `MailBox.trace`. A message keeps its UID in its folder, and gets another one where it is moved to. */
export async function traceOnServer(
  line: ImapLine,
  messages: readonly KnownMessage[],
  moved: MoveTrace | undefined,
): Promise<TracedMessage[]> {
  const present = await holdPresent(
    line,
    messages.map(({ place }) => place.id),
  );
  const there = moved === undefined ? [] : await findMoved(line, messages, moved);
  return messages.map(({ place }, index) => ({ here: present.get(place.id)?.state, there: there[index] }));
}

/** Where each message lies in the folder that it may have been moved to. */
async function findMoved(
  line: ImapLine,
  messages: readonly KnownMessage[],
  { folder: name, arrivals, ids = [] }: MoveTrace,
): Promise<(MailPlace | undefined)[]> {
  const folder = pickFolder(await listImapFolders(line), name);
  if (folder === undefined) return [];
  return inFolder(line, folder, async ({ validity }) => {
    const known = messages.map((_, index) => {
      const id = readImapId(ids[index] ?? "");
      return id?.folder === folder.digest && id.validity === validity ? id.uid : undefined;
    });
    const uids = known.filter((uid) => uid !== undefined);
    if (uids.length === messages.length) {
      const held = await fetchPlaces(line, folder, { validity, uids });
      return known.map((uid) => held.find((one) => one.uid === uid)?.place);
    }
    const before = readArrivals(arrivals);
    const first = before?.validity === validity ? before.next : 1;
    // A range that ends with "*" holds the newest message, whatever it begins with.
    const newer = line
      .need(await line.client.search({ uid: `${first}:*` }, { uid: true }))
      .filter((uid) => uid >= first);
    if (newer.length > MAX_NEWCOMERS) return [];
    return assign(messages, await fetchPlaces(line, folder, { validity, uids: newer }));
  });
}

interface Newcomer {
  readonly uid: number;
  readonly place: MailPlace;
  readonly messageId: string | undefined;
}

async function fetchPlaces(
  line: ImapLine,
  folder: ImapFolder,
  { validity, uids }: { readonly validity: bigint; readonly uids: number[] },
): Promise<Newcomer[]> {
  if (uids.length === 0) return [];
  const fetched = await fetchByUid(line, uids, { flags: true, internalDate: true, size: true, envelope: true });
  return fetched
    .map((message) => ({
      uid: message.uid,
      place: readState(message, { folder, validity }),
      messageId: message.envelope?.messageId?.trim(),
    }))
    .sort((a, b) => a.uid - b.uid);
}

/**
 * Each message among the newcomers: by its Message-ID and size, without one by the time it was received and its size. Where there
 * are more or fewer that fit than messages, none of them is taken for one.
 */
function assign(messages: readonly KnownMessage[], newcomers: readonly Newcomer[]): (MailPlace | undefined)[] {
  const name = ({ place, messageIdHeader }: KnownMessage) =>
    `${place.size} ${messageIdHeader?.trim() ?? place.receivedAt}`;
  const groups = Map.groupBy(messages, name);
  const found = new Map<KnownMessage, MailPlace | undefined>();
  for (const own of groups.values()) {
    const fitting = newcomers.filter((one) => own.every((message) => fits(message, one)));
    for (const [index, message] of own.entries())
      found.set(message, fitting.length === own.length ? fitting[index]?.place : undefined);
  }
  return messages.map((message) => found.get(message));
}

function fits({ place, messageIdHeader }: KnownMessage, one: Newcomer): boolean {
  if (one.place.size !== place.size) return false;
  return messageIdHeader === undefined
    ? one.place.receivedAt === place.receivedAt
    : one.messageId === messageIdHeader.trim();
}

/** Messages of a folder with this Message-ID, in the order of their UIDs. None where the folder is not there. */
export async function findByMessageId(line: ImapLine, messageId: string, name: string): Promise<MailPlace[]> {
  const folder = pickFolder(await listImapFolders(line), name);
  if (folder === undefined) return [];
  return inFolder(line, folder, async ({ validity }) => {
    const uids = line.need(await line.client.search({ header: { "message-id": messageId } }, { uid: true }));
    // A search finds parts of a longer one, too.
    const found = await fetchPlaces(line, folder, { validity, uids });
    return found.filter((one) => one.messageId === messageId).map(({ place }) => place);
  });
}
