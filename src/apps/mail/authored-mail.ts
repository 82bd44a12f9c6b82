import { z } from "zod";
import type { AuthoredPart } from "../../shared/seen/evidence.ts";
import { createAuthors } from "../port/authored.ts";
import type { ConnectionView } from "../port/integration.ts";
import { isOwnFolder } from "./own-folders.ts";
import { partJoined, partQuoted } from "./quoted-text.ts";

const { yours, somebody } = createAuthors("mail");

type Context = { readonly connection: ConnectionView };
type Given = Readonly<Record<string, unknown>>;

const text = z.string().catch("");
const messageSchema = z.looseObject({
  message_id: text,
  folder: text,
  from: text,
  subject: text,
  date: z.string().optional().catch(undefined),
  received: z.string().optional().catch(undefined),
  text: z.string().optional(),
  snippet: z.string().optional(),
  attachments: z.array(z.unknown()).optional(),
});
/** A message as an answer shows it. */
type ShownMessage = z.output<typeof messageSchema>;

const attachmentSchema = z.looseObject({ message: messageSchema });
const listSchema = z.looseObject({ messages: z.array(messageSchema) });
const settingsSchema = z.looseObject({
  address: text,
  aliases: z.array(z.string()).catch([]),
});

/** Addresses of the mailbox itself, in lower case. */
export function listOwnAddresses({ settings }: Pick<ConnectionView, "settings">): ReadonlySet<string> {
  const { address, aliases } = settingsSchema.parse(settings);
  return new Set([address, ...aliases].map((one) => one.trim().toLowerCase()).filter((one) => one !== ""));
}

/** The address in `Name <address>`; a name may hold another one. */
export function readAddress(from: string): string {
  return (/<([^<>]*)>\s*$/.exec(from)?.[1] ?? from).trim().toLowerCase();
}

/** Begins the subject of an answer or of what is forwarded, which is somebody's text. */
const TAKEN_OVER =
  /^\s*(?:\[[^\]]*\]\s*)?(?:re|aw|antw|antwort|sv|vs|odp|ynt|rv|ref|res|ri|r|回复|回覆|答复|返信|회신|fwd?|wg|tr|enc|rif|i|doorst|vb|vl|pd|továbbítás|ilt|转发|轉寄|転送|전달)\s*(?:\[\d+\])?[:：]/iu;
const FORWARDED = /^\s*(?:fwd?|wg|tr|enc|doorst|vb|vl|pd|ilt|转发|轉寄|転送|전달)\s*[:：]/iu;

/** True for the subject of a message that takes over the one of another. */
export function isTakenOver(subject: string): boolean {
  return TAKEN_OVER.test(subject);
}

/** The id of a message that this service delivered to its own mailbox, which no other program gives one. */
const DELIVERED_HERE = /^\d+\.M\d+P\d+Q\d+R[A-Za-z0-9]+\.svc$/;

/** True for a message of the account: anybody can claim its address, so only the place tells. */
function isOwn({ from, folder, message_id }: ShownMessage, own: ReadonlySet<string>): boolean {
  return own.has(readAddress(from)) && (isOwnFolder(folder) || DELIVERED_HERE.test(message_id));
}

function say({ from, subject, date, received }: ShownMessage) {
  return { by: from, title: subject, at: date ?? received };
}

/** The parts of a message that the account sent: what it says itself, and what it quotes. */
function partOwn(message: ShownMessage, isWhole: boolean): AuthoredPart[] {
  const { text: shown = "", snippet = "", subject, attachments = [], ...heads } = message;
  const parted = isWhole ? partQuoted(shown) : { own: "", quoted: shown, by: undefined };
  const short = partJoined(snippet);
  const [isAnswer, isForwarded] = [isTakenOver(subject), FORWARDED.test(subject)];
  const { title, at } = say(message);
  const own = {
    ...heads,
    ...(!isAnswer && { subject }),
    ...(!isForwarded && { attachments }),
    texts: [parted.own, short.own],
  };
  const others = {
    ...(isAnswer && { subject }),
    ...(isForwarded && { attachments }),
    texts: [parted.quoted, short.quoted],
  };
  const isNothing = !isAnswer && !isForwarded && parted.quoted === "" && short.quoted === "";
  const by = parted.by ?? short.by;
  return [
    yours("sent mail", own, { title, at }),
    ...(isNothing ? [] : [somebody("quoted mail", others, { by, title, at })]),
  ];
}

function partMessage(message: ShownMessage, own: ReadonlySet<string>, isWhole = true): AuthoredPart[] {
  return isOwn(message, own) ? partOwn(message, isWhole) : [somebody("mail", message, say(message))];
}

/** Whose the messages of a search are. */
export function tellMessages(result: unknown, _args: Given, { connection }: Context): AuthoredPart[] {
  const { data } = listSchema.safeParse(result);
  const own = listOwnAddresses(connection);
  return data?.messages.flatMap((message) => partMessage(message, own)) ?? [somebody("mail", result)];
}

/** Whose a message is that was opened; where its text begins later, nobody knows what of it is quoted. */
export function tellMessage(result: unknown, { offset }: Given, { connection }: Context): AuthoredPart[] {
  const { data } = messageSchema.safeParse(result);
  if (data === undefined) return [somebody("mail", result)];
  return partMessage(data, listOwnAddresses(connection), offset === undefined || offset === 0);
}

/** Whose an attachment is: of the message it was in. */
export function tellAttachment(result: unknown, _args: Given, { connection }: Context): AuthoredPart[] {
  const { data } = attachmentSchema.safeParse(result);
  if (data === undefined) return [somebody("mail", result)];
  const { message, ...attachment } = data;
  const facts = say(message);
  if (!isOwn(message, listOwnAddresses(connection))) return [somebody("mail", data, facts)];
  if (FORWARDED.test(message.subject)) return [somebody("quoted mail", attachment, { ...facts, by: undefined })];
  return [yours("sent mail", attachment, { title: facts.title, at: facts.at })];
}

/** The folders are the owner's. */
export function tellFolders(result: unknown): AuthoredPart[] {
  return [yours("folder", result)];
}
