import { randomUUID } from "node:crypto";
import { z } from "zod";
import { refuseValue } from "../../files/folder-error.ts";
import { createGate, type Gate } from "../../files/gate.ts";
import { defineAction, describeFile } from "../define-action.ts";
import type { ActionContext } from "../integration.ts";
import { composeMessage, type Draft } from "./compose-message.ts";
import { parseAddresses } from "./mail-address.ts";
import { mailFolder, readMailSettings } from "./mail-settings.ts";
import { deliverMessage, findMessage, readMessageBytes } from "./maildir.ts";
import { parseMessage } from "./parse-message.ts";
import { checkSendLimits } from "./send-limits.ts";

const MAX_RECIPIENTS = 100;

const recipients = z.array(
  z
    .string()
    .min(3)
    .max(320)
    .regex(/^\P{Cc}+$/u, "must be one line"),
);

async function findThread(id: string | undefined, { connection }: ActionContext): Promise<Draft["thread"]> {
  if (id === undefined) return undefined;
  const place = await findMessage(connection, id);
  const { messageIdHeader, references } = await parseMessage(await readMessageBytes(connection, place), place);
  if (messageIdHeader === undefined) return undefined;
  return { inReplyTo: messageIdHeader, references: `${references ?? ""} ${messageIdHeader}`.trim() };
}

/** One gate for each mailbox, so that simultaneous sends cannot pass a limit together. */
const gates = new Map<string, Gate>();

function gateOf(maildir: string): Gate {
  const gate = gates.get(maildir) ?? createGate(1);
  gates.set(maildir, gate);
  return gate;
}

function checkType(file: { readonly mimetype: string }, index: number): void {
  if (!/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(file.mimetype))
    throw refuseValue(
      `attachments[${index}].mimetype`,
      "is not a MIME type.",
      "Write it as type/subtype, for example application/pdf.",
    );
}

async function store(draft: Draft, own: readonly string[], context: ActionContext) {
  const { connection, now, signal } = context;
  const sent = await deliverMessage(connection, {
    folder: "Sent",
    flags: "S",
    bytes: composeMessage(draft, true),
    now: now(),
    signal,
  });
  if (own.length > 0)
    await deliverMessage(connection, {
      folder: "INBOX",
      flags: "",
      bytes: composeMessage(draft, false),
      now: now(),
      signal,
    });
  return sent;
}

/** `mail_send_message`. */
export const sendMessage = defineAction({
  id: "send_message",
  title: "Send a message",
  description:
    "Composes a plain-text message with attachments and files it under Sent. This mailbox is a local folder without an outgoing server: only addresses of the mailbox itself get the message delivered; the answer lists who did not.",
  level: "write",
  requiresConfirmation: true,
  idempotent: false,
  scopes: ["mail.send"],
  arguments: z.strictObject({
    to: recipients
      .min(1)
      .max(MAX_RECIPIENTS)
      .describe('Recipients, each as "anna@example.org" or "Anna <anna@example.org>".'),
    cc: recipients.max(MAX_RECIPIENTS).default([]).describe("Further recipients everybody sees."),
    bcc: recipients.max(MAX_RECIPIENTS).default([]).describe("Further recipients nobody else sees."),
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
  }),
  examples: [
    {
      to: ["Anna <anna@example.org>"],
      subject: "March figures",
      body: "Hello Anna,\n\nthe figures are attached.",
      attachments: [{ name: "march.pdf", mimetype: "application/pdf", s3key: "march" }],
    },
  ],
  preconditions: ["Attachments have at most 25 MB each."],
  askBefore: ["Who receives this message?", "Are subject, text and attachments right?"],
  async run(args, context) {
    const settings = readMailSettings(context.connection.settings);
    const lists = {
      to: parseAddresses(args.to, "to"),
      cc: parseAddresses(args.cc, "cc"),
      bcc: parseAddresses(args.bcc, "bcc"),
    };
    const all = [...new Set([...lists.to, ...lists.cc, ...lists.bcc].map(({ address }) => address))];
    if (all.length > MAX_RECIPIENTS)
      throw refuseValue("to", `has with cc and bcc more than ${MAX_RECIPIENTS} recipients.`);
    for (const [index, file] of args.attachments.entries()) checkType(file, index);
    const files = args.attachments.map((file) => ({
      ...context.file(file.s3key),
      name: file.name,
      mimetype: file.mimetype,
    }));
    const isOwn = (address: string) =>
      [settings.address, ...settings.aliases].some((one) => one.toLowerCase() === address.toLowerCase());
    const draft: Draft = {
      from: { name: settings.name, address: settings.address },
      ...lists,
      subject: args.subject,
      body: args.body,
      messageId: `<${randomUUID()}@${settings.address.split("@")[1]}>`,
      date: new Date(context.now()),
      thread: await findThread(args.reply_to_message_id, context),
      files,
    };
    const leave = await gateOf(mailFolder.read(context.connection.settings)).enter(context.signal);
    try {
      await checkSendLimits(settings, context);
      const own = all.filter(isOwn);
      const sent = await store(draft, own, context);
      return describeSent(draft, { id: sent.id, own, others: all.filter((address) => !isOwn(address)) });
    } finally {
      leave();
    }
  },
});

function describeSent(draft: Draft, result: { id: string; own: readonly string[]; others: readonly string[] }) {
  const { own, others } = result;
  return {
    message_id: result.id,
    folder: "Sent",
    message_id_header: draft.messageId,
    from: draft.from.address,
    to: draft.to.map(({ address }) => address),
    cc: draft.cc.map(({ address }) => address),
    bcc: draft.bcc.map(({ address }) => address),
    subject: draft.subject,
    attachments: draft.files.map(({ name, mimetype, size, sha256 }) => ({ name, mimetype, size, sha256 })),
    delivered_to: own,
    not_delivered_to: others,
    ...(others.length === 0
      ? {}
      : {
          note: "This mailbox has no outgoing server: the message is filed under Sent and was not sent over the network.",
        }),
  };
}
