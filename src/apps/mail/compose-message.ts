import type { HeldFile } from "../port/integration.ts";
import type { Mailbox } from "./mail-address.ts";

/** A message before it is written. Every text was checked for line breaks before. */
export interface Draft {
  readonly from: Mailbox;
  readonly to: readonly Mailbox[];
  readonly cc: readonly Mailbox[];
  readonly bcc: readonly Mailbox[];
  readonly subject: string;
  readonly body: string;
  readonly messageId: string;
  readonly date: Date;
  readonly thread: { readonly inReplyTo: string; readonly references: string } | undefined;
  readonly files: readonly HeldFile[];
}

/** Every address a message goes to, once. */
export function listRecipients({ to, cc, bcc }: Pick<Draft, "to" | "cc" | "bcc">): string[] {
  return [...new Set([...to, ...cc, ...bcc].map(({ address }) => address))];
}

/** The message as bytes; nothing is opened before the first byte is wanted. Only the sender's own copy shows Bcc. */
export async function* composeMessage(draft: Draft, keepBcc: boolean): AsyncGenerator<Uint8Array, void, undefined> {
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer/index.js");
  const streams = draft.files.map((file) => file.open());
  try {
    const node = new MailComposer({
      from: draft.from,
      to: [...draft.to],
      cc: [...draft.cc],
      bcc: [...draft.bcc],
      subject: draft.subject,
      text: draft.body,
      messageId: draft.messageId,
      date: draft.date,
      ...draft.thread,
      disableFileAccess: true,
      disableUrlAccess: true,
      attachments: draft.files.map(({ name, mimetype }, index) => ({
        filename: name,
        contentType: mimetype,
        contentDisposition: "attachment" as const,
        ...(streams[index] === undefined ? {} : { content: streams[index] }),
      })),
    }).compile();
    node.keepBcc = keepBcc;
    node.newline = "unix";
    yield* node.createReadStream();
  } finally {
    for (const stream of streams) stream.destroy();
  }
}
