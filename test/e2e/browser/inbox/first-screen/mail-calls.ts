import type { CardCall } from "./card-call.ts";
import { MESSAGES } from "./fill-accounts.ts";

const ANSWER = {
  to: ["Dora Klein <dora@example.com>"],
  subject: "Re: Heating inspection on Tuesday",
  body: "Dear Dora,\nTuesday at ten suits us. The key is with the neighbours.\n\nPlease ring twice.\n\nAna",
  reply_to_message_id: MESSAGES.dora,
};

/** The calls of the review that write or move mail. */
export const MAIL_CALLS: readonly CardCall[] = [
  {
    name: "mail-reply",
    tool: "mail_send_message",
    args: ANSWER,
    object: ["Heating inspection on Tuesday", "Dora Klein", "2026-11-27", "ana@example.org"],
    change: ["Send", "dora@example.com", "Tuesday at ten suits us."],
    consequence: ["no outgoing server", "does not get it", "Undo", "not by the service"],
  },
  {
    name: "mail-hidden-copy",
    tool: "mail_send_message",
    args: {
      to: ["gus1@example.org"],
      bcc: ["eve@elsewhere.example"],
      subject: "Our quote",
      body: "Here is the quote.",
    },
    file: { field: "attachments", name: "quote.txt", text: "24 square metres, oak" },
    object: ["Our quote", "gus1@example.org"],
    change: ["Send", "Hidden copy", "eve@elsewhere.example", "Here is the quote.", "quote.txt"],
    consequence: ["no outgoing server", "do not see the hidden copy", "Undo", "not by the service"],
  },
  {
    name: "mail-move-30",
    tool: "mail_move_message",
    args: {
      message_ids: MESSAGES.newsletters,
      subjects: MESSAGES.newsletters.map((_, at) => `What to plant, part ${at + 1}`),
      folder: "Newsletters",
    },
    object: ["30 messages", "Garden Weekly", "2026-11-25"],
    change: ["Move", "INBOX", "Newsletters"],
    consequence: ["Undo", "possible until"],
  },
  {
    name: "mail-delete",
    tool: "mail_delete_message",
    args: { message_ids: [MESSAGES.invoice], subjects: ["Invoice 2026-071"] },
    object: ["Invoice 2026-071", "Ben", "2026-11-20"],
    change: ["Delete", "INBOX", "Trash"],
    consequence: ["nothing is erased", "Undo", "possible until"],
  },
  {
    name: "mail-mark",
    tool: "mail_mark_message",
    args: { message_ids: [MESSAGES.dora, MESSAGES.invoice, MESSAGES.gus], as: "read" },
    object: [
      "3 messages",
      "Heating inspection on Tuesday",
      "Dora Klein",
      "Invoice 2026-071",
      "Ben",
      "Photos of the fair",
    ],
    change: ["Mark", "unread", "read"],
    consequence: ["Undo", "possible until"],
  },
  {
    name: "mail-draft",
    tool: "mail_save_draft",
    args: ANSWER,
    object: ["Heating inspection on Tuesday", "Dora Klein", "2026-11-27"],
    change: ["Save a draft", "dora@example.com", "Tuesday at ten suits us."],
    consequence: ["Nothing is sent", "Undo", "possible until", "Drafts"],
  },
];
