import { randomUUID } from "node:crypto";
import { z } from "zod";
import { refuseValue } from "../../service-error.ts";
import { describeFile } from "../define-action.ts";
import type { ActionContext } from "../integration.ts";
import type { Draft } from "./compose-message.ts";
import { parseAddresses } from "./mail-address.ts";
import { defineMailAction, type MailBox } from "./mail-box.ts";
import { createOwnMessageId, readMailSettings } from "./mail-settings.ts";

const MAX_RECIPIENTS = 100;

/** Without `\p{…}`, which not every provider of models compiles. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const oneLine = z.string().regex(/^[^\u0000-\u001f\u007f-\u009f]*$/, "must be one line");

const recipients = z.array(oneLine.min(3).max(320)).max(MAX_RECIPIENTS);

/** Arguments that describe a message to write. */
const messageFields = {
  to: recipients.describe('Recipients, each as "anna@example.org" or "Anna <anna@example.org>".'),
  cc: recipients.default([]).describe("Further recipients everybody sees."),
  bcc: recipients.default([]).describe("Further recipients nobody else sees."),
  subject: oneLine.max(500).describe("Subject, one line."),
  body: z.string().max(500_000).describe("Text of the message, plain."),
  attachments: z.array(describeFile("A file to attach.")).max(20).default([]).describe("Files to attach."),
  reply_to_message_id: z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe("message_id of the message this answers; keeps the thread together."),
};

const messageSchema = z.object(messageFields);

function checkType(file: { readonly mimetype: string }, index: number): void {
  if (!/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(file.mimetype))
    throw refuseValue(
      `attachments[${index}].mimetype`,
      "is not a MIME type.",
      "Write it as type/subtype, for example application/pdf.",
    );
}

async function findThread(id: string | undefined, box: MailBox): Promise<Draft["thread"]> {
  if (id === undefined) return undefined;
  const { messageIdHeader, references } = (await box.read(id, {})).message;
  if (messageIdHeader === undefined) return undefined;
  return { inReplyTo: messageIdHeader, references: `${references ?? ""} ${messageIdHeader}`.trim() };
}

/** The message that the arguments describe. Throws ServiceError 400 naming the argument that cannot be used. */
async function buildDraft(args: z.output<typeof messageSchema>, box: MailBox, context: ActionContext): Promise<Draft> {
  const settings = readMailSettings(context.connection.settings);
  const lists = {
    to: parseAddresses(args.to, "to"),
    cc: parseAddresses(args.cc, "cc"),
    bcc: parseAddresses(args.bcc, "bcc"),
  };
  if (listRecipients(lists).length > MAX_RECIPIENTS)
    throw refuseValue("to", `has with cc and bcc more than ${MAX_RECIPIENTS} recipients.`);
  for (const [index, file] of args.attachments.entries()) checkType(file, index);
  const files = args.attachments.map((file) => ({
    ...context.file(file.s3key),
    name: file.name,
    mimetype: file.mimetype,
  }));
  return {
    from: { name: settings.name, address: settings.address },
    ...lists,
    subject: args.subject,
    body: args.body,
    messageId: createOwnMessageId(randomUUID(), settings.address),
    date: new Date(context.now()),
    thread: await findThread(args.reply_to_message_id, box),
    files,
  };
}

/** Every address a message goes to, once. */
export function listRecipients({ to, cc, bcc }: Pick<Draft, "to" | "cc" | "bcc">): string[] {
  return [...new Set([...to, ...cc, ...bcc].map(({ address }) => address))];
}

/** A written message in an answer. */
function describeDraft(draft: Draft) {
  return {
    message_id_header: draft.messageId,
    from: draft.from.address,
    to: draft.to.map(({ address }) => address),
    cc: draft.cc.map(({ address }) => address),
    bcc: draft.bcc.map(({ address }) => address),
    subject: draft.subject,
    attachments: draft.files.map(({ name, mimetype, size, sha256 }) => ({ name, mimetype, size, sha256 })),
  };
}

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
