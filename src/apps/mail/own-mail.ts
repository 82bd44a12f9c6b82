import type { AuthoredPart } from "../../shared/seen/evidence.ts";
import { createAuthors } from "../port/authored.ts";
import type { JudgeContext } from "../port/integration.ts";
import { isTakenOver, listOwnAddresses, readAddress } from "./authored-mail.ts";
import type { MailBox } from "./mail-box.ts";
import { partQuoted } from "./quoted-text.ts";

const { yours } = createAuthors("mail");

/** Newest sent mails whose recipients are told. */
const MAX_MAILS = 2000;
/** Newest of them whose text is read where that is a look of its own. */
const MAX_TEXTS = 200;
const TEXTS_AT_ONCE = 50;

/** The account's own addresses, and what it sent: to whom, under which subjects, and its own lines. Newest first. */
export async function* walkOwnMail(
  box: MailBox,
  { connection, signal }: JudgeContext,
): AsyncGenerator<AuthoredPart, void, undefined> {
  const own = listOwnAddresses(connection);
  const { name } = connection.settings;
  yield yours("account", { addresses: [...own], ...(typeof name === "string" && { name }) });
  const folder = await box.findFolder("Sent", { mayBeMade: true });
  let needsTexts = false;
  for await (const { from, to, cc, bcc, subject, date, text } of box.walk(folder, MAX_MAILS)) {
    if (signal.aborted) return;
    if (!own.has(readAddress(from))) continue;
    needsTexts ||= text === undefined;
    const facts = { title: subject, at: date };
    const content = { to, cc, bcc, ...(!isTakenOver(subject) && { subject }), text: partQuoted(text ?? "").own };
    yield yours("sent mail", content, facts);
  }
  if (needsTexts) yield* walkTexts(box, folder, { own, signal });
}

/** The own lines of the newest sent mails. */
async function* walkTexts(
  box: MailBox,
  folder: string,
  { own, signal }: { readonly own: ReadonlySet<string>; readonly signal: AbortSignal },
): AsyncGenerator<AuthoredPart, void, undefined> {
  const known = new Set<string>();
  for (let more = true; more && known.size < MAX_TEXTS && !signal.aborted; ) {
    const part = { folder, limit: TEXTS_AT_ONCE, isKnown: (id: string) => known.has(id) };
    const answer = await box.search({ folder: undefined, terms: [] }, part);
    more = answer.more && answer.found.length > 0;
    for (const { place, message } of answer.found) {
      known.add(place.id);
      if (!own.has(readAddress(message.from))) continue;
      yield yours("sent mail", partQuoted(message.text).own, { title: message.subject, at: message.date });
    }
  }
}
