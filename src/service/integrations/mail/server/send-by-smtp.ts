import { Readable } from "node:stream";
import type SMTPConnection from "nodemailer/lib/smtp-connection/index.js";
import { refuseSetting } from "../../../files/folder-error.ts";
import type { Action } from "../../integration.ts";
import { composeMessage, type Draft } from "../compose-message.ts";
import { listRecipients } from "../message-fields.ts";
import type { ServerSettings } from "./server-settings.ts";
import { describeRefusals, explainSending } from "./smtp-failure.ts";
import { openSmtpLine, type SmtpLine } from "./smtp-line.ts";

/** Whom the outgoing server took the message for. */
interface Handed {
  readonly delivered: readonly string[];
  readonly notDelivered: readonly string[];
  /** Why it did not take it for some. */
  readonly refusals: string | undefined;
}

/**
 * Hands a message to the outgoing server, once. Throws ServiceError: 500 `outcome_unknown` when it may have been sent; with
 * every other one it was not.
 */
export async function sendBySmtp(
  settings: ServerSettings,
  draft: Draft,
  o: { readonly signal: AbortSignal; readonly action: Pick<Action, "level" | "idempotent"> },
): Promise<Handed> {
  const { smtp } = settings;
  if (smtp === undefined)
    throw refuseSetting("smtpHost", "is empty: this mailbox can be read, but nothing can be sent from it.");
  const line = await openSmtpLine({ ...settings, smtp }, o.signal);
  let isHandedOver = false;
  async function* watch(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* composeMessage(draft, false);
    // The server can see the end of the message only after this.
    isHandedOver = true;
  }
  const message = Readable.from(watch(), { objectMode: false });
  try {
    const { accepted, rejected, rejectedErrors } = await send(line, draft, message);
    return {
      delivered: accepted.map(String),
      notDelivered: rejected.map(String),
      refusals: rejected.length === 0 ? undefined : describeRefusals(rejectedErrors),
    };
  } catch (error) {
    const { to, cc, bcc } = draft;
    const list = (boxes: Draft["to"]) => boxes.map(({ address }) => address);
    const recipients = { to: list(to), cc: list(cc), bcc: list(bcc) };
    throw explainSending(error, { server: smtp, action: o.action, isHandedOver, recipients });
  } finally {
    message.destroy();
    line.end();
  }
}

async function send(
  { connection, broken }: SmtpLine,
  draft: Draft,
  message: Readable,
): Promise<SMTPConnection.SentMessageInfo> {
  const envelope = { from: draft.from.address, to: listRecipients(draft), size: estimateSize(draft) };
  const sent = new Promise<SMTPConnection.SentMessageInfo>((resolve, reject) => {
    connection.send(envelope, message, (error, info) => (error ? reject(error) : resolve(info)));
  });
  sent.catch(() => undefined);
  return await Promise.race([sent, broken]);
}

/** A little less than the message will have, in bytes: what is too large for the server even so need not be sent. */
function estimateSize({ body, files }: Draft): number {
  return files.reduce((sum, { size }) => sum + Math.ceil(size / 3) * 4, Buffer.byteLength(body));
}
