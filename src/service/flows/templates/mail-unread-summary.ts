import { z } from "zod";
import { defineTemplate } from "../flow-template.ts";
import { dateOf, type FoundMessage, fetchUnread, mailFields, readFound } from "./mail-fields.ts";

/** `mail_unread_summary`: who wrote, about what, when, and how it begins. No model takes part. */
export const mailUnreadSummary = defineTemplate({
  key: "mail_unread_summary",
  name: "Summarise unread mail",
  description:
    "Reads unread mail, or what `query` finds, and lists senders, subjects, dates and first lines. Changes nothing.",
  connectionFields: { mail: "mailConnectionId" },
  input: z.strictObject(mailFields),
  steps: [
    fetchUnread,
    {
      key: "summarise",
      type: "transform",
      run(state) {
        const { messages, more } = readFound(state);
        return {
          summary: describe(messages, more),
          count: messages.length,
          more,
          senders: countSenders(messages),
          messages: messages.map((message) => ({
            messageId: message.message_id,
            from: message.from,
            subject: message.subject,
            date: dateOf(message),
            firstLine: message.snippet,
          })),
        };
      },
    },
  ],
});

function countSenders(messages: readonly FoundMessage[]): { from: string; count: number }[] {
  const bySender = Map.groupBy(messages, (message) => message.from);
  return [...bySender]
    .map(([from, own]) => ({ from, count: own.length }))
    .sort((a, b) => b.count - a.count || (a.from < b.from ? -1 : 1));
}

function describe(messages: readonly FoundMessage[], more: boolean): string {
  if (messages.length === 0) return "No messages.";
  const senders = countSenders(messages).length;
  const count = `${messages.length} ${messages.length === 1 ? "message" : "messages"}`;
  return `${count} from ${senders} ${senders === 1 ? "sender" : "senders"}${more ? "; there are more" : ""}.`;
}
