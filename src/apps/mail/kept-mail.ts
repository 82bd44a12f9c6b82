import { z } from "zod";
import { quoteName } from "../port/preview.ts";
import { cannotKnow, type Verdict } from "../port/undo.ts";
import type { KnownMessage, MailPlace, MessageHead } from "./mail-box.ts";
import { nameSubject } from "./preview-change.ts";

const placeSchema = z.object({
  id: z.string(),
  folder: z.string(),
  isUnread: z.boolean(),
  isFlagged: z.boolean(),
  isAnswered: z.boolean(),
  marks: z.string(),
  receivedAt: z.number(),
  size: z.number().optional(),
});

/** A {@link KnownMessage} as it is kept. */
export const knownMessageSchema = z.object({
  place: placeSchema,
  subject: z.string(),
  messageIdHeader: z.string().optional(),
});

/** What is kept of messages: how they are now, with what never changes about them. */
export function knowAgain(heads: readonly MessageHead[], held: readonly MailPlace[]): KnownMessage[] {
  const byId = new Map(heads.map((head) => [head.place.id, head]));
  return held.map(({ epoch: _epoch, ...place }) => {
    const { subject = "", messageIdHeader } = byId.get(place.id) ?? {};
    return { place, subject, messageIdHeader };
  });
}

/** A message by its subject, in quotes. */
export function quoteSubject(message: Pick<KnownMessage, "subject">): string {
  return quoteName(nameSubject(message));
}

/** How far a change of one message has come: it is there, nothing of it is, or something else is. */
export type Stage = "done" | "undone" | "other";

/** What the stages of all messages say of a call whose answer was lost; `done` such as `in "Archive"`. */
export function settleStages(
  messages: readonly { readonly stage: Stage; readonly subject: string }[],
  done: string,
): "happened" | Exclude<Verdict, { verdict: "happened" }> {
  const count = (wanted: Stage) => messages.filter(({ stage }) => stage === wanted).length;
  const all = messages.length;
  if (count("done") === all) return "happened";
  if (count("undone") === all) return { verdict: "did_not" };
  const [first] = messages;
  const tell = (number: number, one: string, many: string, how: string) =>
    number === 0 ? [] : [`${number} ${number === 1 ? one : many} ${how}`];
  const list = [
    ...tell(count("done"), "is", "are", done),
    ...tell(count("undone"), "is", "are", "as before"),
    ...tell(count("other"), "was", "were", "changed, moved or removed since"),
  ];
  const why =
    all === 1 && first !== undefined
      ? `${quoteSubject(first)} was changed, moved or removed since.`
      : `Of ${all} messages, ${list.join(", ")}.`;
  return cannotKnow(why);
}

/** Where a message lies, in an answer. */
export function describePlace({ id, folder, isUnread, isFlagged }: MailPlace) {
  return { message_id: id, folder, unread: isUnread, flagged: isFlagged };
}
