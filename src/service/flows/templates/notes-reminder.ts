import { z } from "zod";
import { exactTime, shortenText } from "../../../base/text.ts";
import { connectionIdSchema, defineTemplate, refuseInput } from "../flow-template.ts";
import { checkParent, collectPages, parentSchema, planPage, toFolder } from "./notes-fields.ts";

const DEFAULT_PARENT = "Reminders";
const MAX_DELAY_SECONDS = 366 * 24 * 60 * 60;
const MAX_TITLE = 80;
const delayRange = `must be a whole number of seconds from 1 to ${MAX_DELAY_SECONDS}`;

const inputSchema = z.strictObject({
  text: z
    .string({ error: "is required: what to be reminded of" })
    .trim()
    .min(1, "is required: what to be reminded of")
    .max(2000, "must not be longer than 2000 characters"),
  delaySeconds: z.int(delayRange).min(1, delayRange).max(MAX_DELAY_SECONDS, delayRange).optional(),
  at: z.iso.datetime({ offset: true, error: "must be a time such as 2027-01-31T09:00:00Z" }).optional(),
  notionParent: parentSchema.default(DEFAULT_PARENT),
  notesConnectionId: connectionIdSchema,
});
type ReminderInput = z.output<typeof inputSchema>;

/** `notes_reminder`: writes a note when its time has come. */
export const notesReminder = defineTemplate({
  key: "notes_reminder",
  name: "Leave a reminder in the notes",
  description:
    "After an approval, waits until `at` or for `delaySeconds`, then creates a page with `text` in the notes.",
  connectionFields: { notes: "notesConnectionId" },
  input: inputSchema,
  check({ at, delaySeconds, notionParent }, now) {
    if (at !== undefined && delaySeconds !== undefined) throw refuseInput("at", "cannot be combined with delaySeconds");
    if (at === undefined && delaySeconds === undefined) throw refuseInput("delaySeconds", "or `input.at` is required");
    if (at !== undefined && Date.parse(at) > now + MAX_DELAY_SECONDS * 1000) {
      throw refuseInput("at", "must not be more than a year away");
    }
    checkParent(notionParent, "notionParent");
  },
  steps: [
    {
      key: "approve_reminder",
      type: "approval",
      show: ({ input, startedAt }) => ({
        message: `Approve to leave a reminder in "${toFolder(input.notionParent)}" at ${exactTime(toTime(input, startedAt))}.`,
        text: input.text,
        at: toTime(input, startedAt),
      }),
    },
    { key: "wait_until_due", type: "wait", until: ({ input, startedAt }) => toDue(input, startedAt) },
    {
      key: "create_reminder",
      type: "tool_call",
      app: "notes",
      plan: ({ input, flowId, connections }) => ({
        toolName: "notes_create_page",
        connectionId: connections.notes,
        calls: [
          planPage(
            { title: toTitle(input.text), body: input.text, parent: toFolder(input.notionParent), tags: ["reminder"] },
            flowId,
            0,
          ),
        ],
        collect: (pages) => collectPages(pages, 1),
      }),
    },
  ],
});

function toDue({ at, delaySeconds = 0 }: ReminderInput, startedAt: number): number {
  return at === undefined ? startedAt + delaySeconds * 1000 : Date.parse(at);
}

function toTime(input: ReminderInput, startedAt: number): string {
  return new Date(toDue(input, startedAt)).toISOString();
}

function toTitle(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ");
  return `Reminder: ${shortenText(line, MAX_TITLE)}`;
}
