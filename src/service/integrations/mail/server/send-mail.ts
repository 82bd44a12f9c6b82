import type { Gate } from "../../../files/gate.ts";
import { ServiceError } from "../../../service-error.ts";
import type { Action } from "../../integration.ts";
import { composeMessage, type Draft } from "../compose-message.ts";
import type { SentMail } from "../mail-box.ts";
import { readMailSettings } from "../mail-settings.ts";
import { checkSendLimits, isOwnMessageId, SEND_LIMIT_SPAN_MS } from "../send-limits.ts";
import { appendMessage, collectMessage, makeFolder } from "./imap-append.ts";
import type { ImapBox } from "./imap-box.ts";
import { listImapFolders, pickFolder } from "./imap-folders.ts";
import { inFolder } from "./imap-messages.ts";
import { writeImapId } from "./message-id.ts";
import { sendBySmtp } from "./send-by-smtp.ts";
import type { ServerSettings } from "./server-settings.ts";

/** What sending from an account needs. */
interface Sending {
  readonly settings: ServerSettings;
  /** One send at a time, so that simultaneous ones cannot pass a limit together. */
  readonly gate: Gate;
  readonly action: Pick<Action, "level" | "idempotent">;
}

/** Sends a message and files it; that it could not be filed is no reason to say that it was not sent. */
export async function sendMail(draft: Draft, box: ImapBox, o: Sending): Promise<SentMail> {
  const { connection, signal, now } = box.context;
  const leave = await o.gate.enter(signal);
  try {
    checkSendLimits(readMailSettings(connection.settings), await listSendTimes(box), now());
    const { delivered, notDelivered, refusals } = await sendBySmtp(o.settings, draft, { signal, action: o.action });
    const filed = await fileCopy(draft, box).catch(toNote);
    const notes = [
      ...(refusals === undefined ? [] : [`The server refused some recipients: ${refusals}`]),
      ...(filed.note === undefined ? [] : [filed.note]),
    ];
    const note = notes.length === 0 ? {} : { note: notes.join(" ") };
    return { id: filed.id, folder: filed.folder, delivered, notDelivered, ...note };
  } finally {
    leave();
  }
}

interface Filed {
  readonly id: string | undefined;
  readonly folder: string;
  readonly note?: string;
}

function toNote(error: unknown): Filed {
  const why = error instanceof ServiceError ? error.message : "the mailbox did not take it.";
  return { id: undefined, folder: "Sent", note: `The message was sent, but its copy could not be filed: ${why}` };
}

/** When this service sent messages in the last day, newest first. */
function listSendTimes(box: ImapBox): Promise<number[]> {
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

/** Files a sent message, unless the server has done so itself. */
async function fileCopy(draft: Draft, box: ImapBox): Promise<Filed> {
  const name = await box.findFolder("Sent", { mayBeMade: true });
  const bytes = await collectMessage(composeMessage(draft, true));
  return box.change(async (line) => {
    const { client } = line;
    const folder = await makeFolder(line, name);
    const known = await inFolder(line, folder, async ({ validity }) => {
      const uids = line.need(await client.search({ header: { "message-id": draft.messageId } }, { uid: true }));
      return uids.map((uid) => writeImapId({ folder: folder.digest, validity, uid })).at(-1);
    });
    // Gmail files what it sends, though a little later.
    if (known !== undefined || client.capabilities.has("X-GM-EXT-1")) return { id: known, folder: folder.name };
    return { id: await appendMessage(line, folder, { bytes, flags: ["\\Seen"], at: draft.date }), folder: folder.name };
  });
}
