import { z } from "zod";
import { FLOW_MAX_RESULTS } from "../../../shared/wire/constants.ts";
import { connectionIdOf, defineTemplate, type FlowState, type StepDefinition } from "../flow-template.ts";

const { min, max } = FLOW_MAX_RESULTS;
const range = `must be a whole number from ${min} to ${max}`;
/** The document shows the range only. */
const DEFAULT_RESULTS = 5;

/** Inputs of templates that read unread mail. */
export const mailFields = {
  query: z
    .string({ error: "must be a mail search, such as is:unread" })
    .max(500, "must not be longer than 500 characters")
    .default("is:unread")
    .meta({ title: "Mail search", description: "Which messages to read, such as is:unread or from:ada." }),
  maxResults: z
    .int(range)
    .min(min, range)
    .max(max, range)
    .default(DEFAULT_RESULTS)
    .meta({ title: "Most messages", description: `How many to read, up to ${max}.` }),
  mailConnectionId: connectionIdOf("Mail"),
};

/** Part of a message in the answer of `mail_search`. */
const messageSchema = z.object({
  message_id: z.string(),
  from: z.string(),
  subject: z.string(),
  date: z.string().nullable(),
  received: z.string(),
  snippet: z.string(),
});
const foundSchema = z.object({ messages: z.array(messageSchema), more: z.boolean() });

/** One message as the templates use it. */
export type FoundMessage = z.infer<typeof messageSchema>;

/** The step that reads unread mail. */
export const fetchUnread = {
  key: "fetch_unread",
  type: "tool_call",
  app: "mail",
  plan: ({ input, connections }) => ({
    toolName: "mail_search",
    connectionId: connections.mail,
    calls: [{ key: "search", label: "the search", arguments: { query: input.query, limit: input.maxResults } }],
    collect: ([found]) => found ?? null,
  }),
} as const satisfies StepDefinition<{ query: string; maxResults: number }>;

/** The answer of {@link fetchUnread}. */
export function readFound({ outputs }: FlowState): z.infer<typeof foundSchema> {
  return foundSchema.parse(outputs[fetchUnread.key]);
}

/** When a message was written, or arrived when it does not say. */
export function dateOf({ date, received }: FoundMessage): string {
  return date ?? received;
}

/** `mail_unread_summary`: who wrote, about what, when, and how it begins. No model takes part. */
export const mailUnreadSummary = defineTemplate({
  key: "mail_unread_summary",
  name: "Summarise unread mail",
  description:
    "Reads unread mail, or what `query` finds, and lists senders, subjects, dates and first lines. Changes nothing.",
  connectionFields: { mail: "mailConnectionId" },
  tools: ["mail_search"],
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
