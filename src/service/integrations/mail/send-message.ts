import { z } from "zod";
import { defineMailAction } from "./define-mail-action.ts";
import { buildDraft, describeDraft, messageFields } from "./message-fields.ts";

const example = {
  to: ["Anna <anna@example.org>"],
  subject: "March figures",
  body: "Hello Anna,\n\nthe figures are attached.",
  attachments: [{ name: "march.pdf", mimetype: "application/pdf", s3key: "march" }],
};
const preconditions = ["Attachments have at most 25 MB each."];

/** `mail_send_message`. */
export const sendMessage = defineMailAction({
  id: "send_message",
  title: "Send a message",
  description:
    "Sends a plain-text message with attachments, once, and files it under Sent. The answer lists who did not get it: a mailbox that is a local folder has no outgoing server, so there only the mailbox's own addresses do.",
  level: "write",
  requiresConfirmation: true,
  idempotent: false,
  scopes: ["mail.send"],
  arguments: z.strictObject({ ...messageFields, to: messageFields.to.min(1) }),
  examples: [example],
  preconditions,
  askBefore: ["Who receives this message?", "Are subject, text and attachments right?"],
  async run(args, box, context) {
    const draft = await buildDraft(args, box, context);
    const { id, folder, delivered, notDelivered, note } = await box.send(draft);
    return {
      message_id: id ?? null,
      folder,
      ...describeDraft(draft),
      delivered_to: delivered,
      not_delivered_to: notDelivered,
      ...(note === undefined ? {} : { note }),
    };
  },
});

/** `mail_save_draft`. */
export const saveDraft = defineMailAction({
  id: "save_draft",
  title: "Save a draft",
  description:
    "Keeps a plain-text message with attachments in Drafts and sends nothing: a human finishes and sends it in a mail program.",
  level: "write",
  requiresConfirmation: true,
  idempotent: false,
  scopes: ["mail.modify"],
  arguments: z.strictObject({ ...messageFields, to: messageFields.to.default([]) }),
  examples: [example],
  preconditions,
  askBefore: ["Are recipients, subject, text and attachments right?"],
  async run(args, box, context) {
    const draft = await buildDraft(args, box, context);
    const { id, folder } = await box.saveDraft(draft);
    return { message_id: id, folder, ...describeDraft(draft) };
  },
});
