import { randomUUID } from "node:crypto";
import { z } from "zod";
import { refuseValue } from "../../service/service-error.ts";
import { describeFile } from "../port/define-action.ts";
import type { ActionContext, JudgeContext, PreviewContext } from "../port/integration.ts";
import { checkState } from "../port/preview.ts";
import { type Draft, listRecipients } from "./compose-message.ts";
import { draftKeeps, keepDraft, keepSending, sendKeeps } from "./keep-messages.ts";
import { parseAddresses } from "./mail-address.ts";
import { defineMailAction, type MailBox, type MessageHead } from "./mail-box.ts";
import { createOwnMessageId, readMailSettings } from "./mail-settings.ts";
import { previewDraft, previewSend, seeMessage } from "./preview-sending.ts";

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

type MessageArguments = z.output<typeof messageSchema>;

/** The message that is answered, if one is. */
async function findAnswered({ reply_to_message_id: id }: MessageArguments, box: MailBox) {
  return id === undefined ? undefined : box.readHead(id);
}

function writeThread(answered: MessageHead | undefined): Draft["thread"] {
  const { messageIdHeader, references } = answered ?? {};
  if (messageIdHeader === undefined) return undefined;
  return { inReplyTo: messageIdHeader, references: `${references ?? ""} ${messageIdHeader}`.trim() };
}

/** From whom to whom. Throws ServiceError 400 naming the argument that cannot be used. */
function address(args: MessageArguments, { connection }: JudgeContext): Pick<Draft, "from" | "to" | "cc" | "bcc"> {
  const settings = readMailSettings(connection.settings);
  const lists = {
    to: parseAddresses(args.to, "to"),
    cc: parseAddresses(args.cc, "cc"),
    bcc: parseAddresses(args.bcc, "bcc"),
  };
  if (listRecipients(lists).length > MAX_RECIPIENTS)
    throw refuseValue("to", `has with cc and bcc more than ${MAX_RECIPIENTS} recipients.`);
  for (const [index, file] of args.attachments.entries()) checkType(file, index);
  return { from: { name: settings.name, address: settings.address }, ...lists };
}

/** The message that the arguments describe. Throws ServiceError 400 naming the argument that cannot be used. */
async function buildDraft(args: MessageArguments, box: MailBox, context: ActionContext): Promise<Draft> {
  const addressed = address(args, context);
  const files = args.attachments.map((file) => ({
    ...context.file(file.s3key),
    name: file.name,
    mimetype: file.mimetype,
  }));
  return {
    ...addressed,
    subject: args.subject,
    body: args.body,
    messageId: createOwnMessageId(randomUUID(), addressed.from.address),
    date: new Date(context.now()),
    thread: writeThread(await findAnswered(args, box)),
    files,
  };
}

/** The message as a preview shows it. Throws as {@link buildDraft}. */
async function look(args: MessageArguments, box: MailBox, context: PreviewContext) {
  const { subject, body, attachments } = args;
  const files = attachments.map(({ name, s3key }) => ({ name, size: context.file(s3key).size }));
  return { ...address(args, context), subject, body, files, answered: await findAnswered(args, box) };
}

/** Throws ServiceError 412 once the message that is answered, or the sender, is not as somebody was shown, where somebody was. */
function createCheck(args: MessageArguments, box: MailBox, context: ActionContext): () => Promise<void> {
  return async () => {
    if (context.expectedState === undefined) return;
    checkState(context, seeMessage({ ...address(args, context), answered: await findAnswered(args, box) }));
  };
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

/** `mail_send_message`; `delay` in seconds, for accounts that do not say otherwise. */
export function createSendMessage(delay: number) {
  const findDelay = (settings: JudgeContext["connection"]["settings"]) => readMailSettings(settings).sendDelay ?? delay;
  return defineMailAction({
    id: "send_message",
    title: "Send a message",
    description:
      "Writes and sends a mail, also a reply or a forward: a plain-text message with attachments, once, and files it under Sent. The answer lists who did not get it: a mailbox that is a local folder has no outgoing server, so there only the mailbox's own addresses do.",
    level: "write",
    delay: findDelay,
    scopes: ["mail.send"],
    arguments: z.strictObject({ ...messageFields, to: messageFields.to.min(1) }),
    examples: [example],
    preconditions,
    askBefore: ["Who receives this message?", "Are subject, text and attachments right?"],
    async preview(args, box, context) {
      const message = await look(args, box, context);
      const plan = await box.planSend(listRecipients(message));
      const { settings } = context.connection;
      return previewSend(message, plan, { ...readMailSettings(settings), sendDelay: findDelay(settings) });
    },
    async run(args, box, context) {
      const draft = await buildDraft(args, box, context);
      const check = createCheck(args, box, context);
      const sent = await box.send(draft, async () => {
        await check();
        await keepSending(context, box, { ...describeDraft(draft), recipients: listRecipients(draft) });
      });
      const { id, folder, delivered, notDelivered, note } = sent;
      return {
        message_id: id ?? null,
        folder,
        ...describeDraft(draft),
        delivered_to: delivered,
        not_delivered_to: notDelivered,
        ...(note === undefined ? {} : { note }),
      };
    },
    keeps: sendKeeps,
  });
}

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
  async preview(args, box, context) {
    return previewDraft(await look(args, box, context), await box.findFolder("Drafts", { mayBeMade: true }));
  },
  async run(args, box, context) {
    const draft = await buildDraft(args, box, context);
    const check = createCheck(args, box, context);
    const { id, folder } = await box.saveDraft(draft, async (size) => {
      await check();
      await keepDraft(context, box, { ...describeDraft(draft), size });
    });
    return { message_id: id, folder, ...describeDraft(draft) };
  },
  keeps: draftKeeps,
});
