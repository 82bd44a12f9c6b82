import { randomUUID } from "node:crypto";
import { z } from "zod";
import { refuseValue } from "../../service-error.ts";
import { describeFile } from "../define-action.ts";
import type { ActionContext } from "../integration.ts";
import type { Draft } from "./compose-message.ts";
import { parseAddresses } from "./mail-address.ts";
import type { MailBox } from "./mail-box.ts";
import { readMailSettings } from "./mail-settings.ts";
import { createOwnMessageId } from "./send-limits.ts";

const MAX_RECIPIENTS = 100;

const recipients = z
  .array(
    z
      .string()
      .min(3)
      .max(320)
      .regex(/^\P{Cc}+$/u, "must be one line"),
  )
  .max(MAX_RECIPIENTS);

/** Arguments that describe a message to write. */
export const messageFields = {
  to: recipients.describe('Recipients, each as "anna@example.org" or "Anna <anna@example.org>".'),
  cc: recipients.default([]).describe("Further recipients everybody sees."),
  bcc: recipients.default([]).describe("Further recipients nobody else sees."),
  subject: z
    .string()
    .max(500)
    .regex(/^\P{Cc}*$/u, "must be one line")
    .describe("Subject, one line."),
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
export async function buildDraft(
  args: z.output<typeof messageSchema>,
  box: MailBox,
  context: ActionContext,
): Promise<Draft> {
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

/** What an answer says about a message that was written. */
export function describeDraft(draft: Draft) {
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
