import { exactTime, toOneLine } from "../../shared/base/text.ts";
import type { PreviewChange, PreviewEffect, PreviewObject } from "../../shared/wire/preview.ts";
import { changeText, changeValue, type PreviewDraft, quoteName } from "../port/preview.ts";
import { type Draft, listRecipients } from "./compose-message.ts";
import type { Mailbox } from "./mail-address.ts";
import type { MessageHead, PlannedSend } from "./mail-box.ts";
import { type MailSettings, partRecipients } from "./mail-settings.ts";
import { findDate, nameSender, nameSubject } from "./preview-change.ts";

/** A longer text is shown line by line. */
const MAX_WHOLE = 2000;
/** New addresses that are named one by one. */
const MAX_NEW = 10;

/** A message that is to be sent, or kept as a draft. */
interface WrittenMessage extends Pick<Draft, "from" | "to" | "cc" | "bcc" | "subject" | "body"> {
  /** Sizes in bytes, where they are known. */
  readonly files: readonly { readonly name: string; readonly size?: number | undefined }[];
  readonly answered: MessageHead | undefined;
}

/** What sending depends on besides the arguments, for the state of a preview. */
export function seeMessage({ from, answered }: Pick<WrittenMessage, "from" | "answered">): unknown {
  if (answered === undefined) return [from];
  const { place, from: sender, subject, date = "" } = answered;
  return [from, place.id, place.isAnswered, sender, subject, date];
}

/** The preview of a message that is sent. */
export function previewSend(
  message: WrittenMessage,
  plan: PlannedSend,
  own: Pick<MailSettings, "address" | "aliases" | "sendDelay">,
): PreviewDraft {
  const { others, own: kept } = partRecipients(listRecipients(message), own);
  const areAll = kept.length === 0;
  const isSent = plan.unreached.length === 0;
  const { sendDelay = 0 } = own;
  const whenFinal =
    sendDelay === 0
      ? "Once it is sent, it cannot be taken back."
      : `It is sent ${count(sendDelay, "second")} after your yes. Until then you can stop it; after that it is final.`;
  const final = [{ code: "final", text: whenFinal }];
  const copy = `A copy is kept in ${quoteName(plan.folder, 100)}.`;
  return {
    ...describe(message),
    summary: summarise("Send", message),
    effects: [
      ...warnOfStrangers(plan),
      ...(isSent ? nameOthers(others, areAll) : nameUnreached(plan, areAll)),
      ...warnOfHidden(message),
      ...warnOfAnswer(message, own),
      ...(isSent ? final : []),
      { code: "keeps_copy", text: copy },
    ],
    undo: { possible: false, ...tellWay(isSent, sendDelay) },
  };
}

/** What is left of a way back; nothing for what the effects call final. */
function tellWay(isSent: boolean, sendDelay: number): { readonly why?: string } {
  if (!isSent) return { why: "The copies can be deleted." };
  return sendDelay === 0 ? {} : { why: `It can be stopped for ${count(sendDelay, "second")}.` };
}

/** The preview of a draft; `folder` is where it is kept. */
export function previewDraft(message: WrittenMessage, folder: string): PreviewDraft {
  return {
    ...describe(message),
    summary: `${summarise("Save a draft:", message)}; nothing is sent`,
    effects: [
      { code: "sends_nothing", text: "Nothing is sent: a human finishes the draft and sends it." },
      ...warnOfHidden(message),
    ],
    undo: { possible: true, why: `While it stays in ${quoteName(folder, 100)}.` },
  };
}

function describe(message: WrittenMessage): Pick<PreviewDraft, "objects" | "changes" | "seen"> {
  const { from, to, cc, bcc, body, files } = message;
  const text = body.length > MAX_WHOLE ? changeText("Text", "", body) : changeValue("Text", undefined, body);
  const list = (field: string, addresses: readonly Mailbox[]): PreviewChange[] =>
    changeValue(field, undefined, addresses.map(writeAddress));
  return {
    objects: [describeMessage(message, writeAddress(from))],
    changes: [
      ...[...list("To", to), ...list("Cc", cc), ...list("Hidden copy (Bcc)", bcc)],
      ...text,
      ...changeValue("Files", undefined, files.map(nameFile)),
    ],
    seen: seeMessage(message),
  };
}

function describeMessage(message: WrittenMessage, from: string): PreviewObject {
  const { answered } = message;
  const answers =
    answered === undefined
      ? []
      : [
          { label: "Answers", value: nameSubject(answered) },
          { label: "Written by", value: toOneLine(answered.from) || nameSender(answered) },
          { label: "Written on", value: exactTime(findDate(answered)) },
        ];
  return { kind: "message", name: nameSubject(message), details: [{ label: "From", value: from }, ...answers] };
}

function summarise(verb: string, message: WrittenMessage): string {
  const [first, ...more] = listRecipients(message);
  const rest = more.length > 0 ? ` and ${more.length} more` : "";
  const to = first === undefined ? "" : ` to ${first.length > 40 ? `${first.slice(0, 39)}…` : first}${rest}`;
  const files = message.files.length === 0 ? "" : `, with ${count(message.files.length, "file")}`;
  const answers = message.answered === undefined ? "" : ` in answer to ${quoteName(nameSender(message.answered), 18)}`;
  return `${verb} ${quoteName(nameSubject(message), 24)}${to}${files}${answers}`;
}

function warnOfStrangers({ strangers, folder }: PlannedSend): PreviewEffect[] {
  const named = strangers.slice(0, MAX_NEW).map((address) => {
    const text = `New address: ${quoteName(address, 80)}. Nothing in ${quoteName(folder, 30)} went there, nothing in INBOX came from there.`;
    return { code: "new_address", text };
  });
  const more = strangers.length - named.length;
  return more > 0 ? [...named, { code: "new_address", text: `${more} more new addresses.` }] : named;
}

/** Who of the recipients is outside; where all are, the message itself names them. */
function nameOthers(others: readonly string[], areAll: boolean): PreviewEffect[] {
  if (others.length === 0) return [{ code: "notifies", text: "Only this mailbox's own addresses get it." }];
  const named = areAll ? "." : `: ${others.join(", ")}`;
  const text = `It goes to ${count(others.length, "address", "addresses")} outside this mailbox${named}`;
  return [{ code: "sends_outside", text }];
}

function nameUnreached({ unreached }: PlannedSend, areAll: boolean): PreviewEffect[] {
  const [who, they] = [count(unreached.length, "address", "addresses"), unreached.length === 1 ? "does" : "do"];
  const named = areAll ? "." : `: ${unreached.join(", ")}`;
  return [{ code: "not_sent", text: `This mailbox has no outgoing server: ${who} ${they} not get it${named}` }];
}

function warnOfHidden({ bcc }: WrittenMessage): PreviewEffect[] {
  if (bcc.length === 0) return [];
  const copies = bcc.length === 1 ? "the hidden copy" : `the ${bcc.length} hidden copies`;
  return [{ code: "hidden_copy", text: `The other recipients do not see ${copies}.` }];
}

/** Where the answer goes to somebody else than it should, or is the second one. */
function warnOfAnswer(message: WrittenMessage, own: Parameters<typeof partRecipients>[1]): PreviewEffect[] {
  const { answered } = message;
  if (answered === undefined) return [];
  const writers = [answered.from, ...answered.replyTo].map((one) => /<([^<>]*)>\s*$/.exec(one)?.[1] ?? one.trim());
  const recipients = new Set(listRecipients(message).map((address) => address.toLowerCase()));
  const isLeftOut =
    partRecipients(writers, own).own.length === 0 && !writers.some((one) => recipients.has(one.toLowerCase()));
  const who = quoteName(nameSender(answered), 80);
  return [
    ...(answered.place.isAnswered ? [{ code: "answered", text: "The message was answered before." }] : []),
    ...(isLeftOut ? [{ code: "leaves_out", text: `${who}, whose message it answers, does not get it.` }] : []),
  ];
}

function writeAddress({ name, address }: Mailbox): string {
  return name === "" ? address : `${name} <${address}>`;
}

function nameFile({ name, size }: WrittenMessage["files"][number]): string {
  return size === undefined ? name : `${name} (${count(size, "byte")})`;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
