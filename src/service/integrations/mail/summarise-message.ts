import type { FoundMessage } from "./mail-box.ts";
import type { MailMessage } from "./mail-message.ts";

const SNIPPET_LENGTH = 160;
/** Addresses and attachments that one message of a list names; all of them are in the message. */
const MAX_NAMED = 50;
/** A long address in brackets, such as that of a link, would leave no room for what the message says. */
const LONG_ADDRESS = /\((https?:\/\/[^\s/()]+\/)\S{40,}\)/g;

/** A message without its text, with the first addresses and attachments. */
export function summariseMessage({ place, message, attachmentNames }: FoundMessage) {
  const flat = message.text.slice(0, 10_000).replaceAll(LONG_ADDRESS, "($1…)").replaceAll(/\s+/g, " ").trim();
  return {
    message_id: place.id,
    folder: place.folder,
    from: message.from,
    to: message.to.slice(0, MAX_NAMED),
    subject: message.subject,
    date: message.date ?? null,
    received: new Date(place.receivedAt).toISOString(),
    unread: place.isUnread,
    flagged: place.isFlagged,
    snippet: flat.length > SNIPPET_LENGTH ? `${flat.slice(0, SNIPPET_LENGTH).toWellFormed()}…` : flat,
    attachments: attachmentNames.slice(0, MAX_NAMED),
  };
}

/** Names of what is attached to a message. */
export function listAttachmentNames({ attachments }: MailMessage): string[] {
  return attachments.map(({ name }) => name);
}
