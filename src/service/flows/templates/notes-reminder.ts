import { z } from "zod";
import { exactTime, shortenText } from "../../../shared/base/text.ts";
import { parseFolderPath } from "../../files/folder.ts";
import { ServiceError } from "../../service-error.ts";
import { connectionIdOf, defineTemplate, type PlannedCall, refuseInput } from "../flow-template.ts";

const error = 'must name where pages are created: a folder of the notes, such as "Tasks", or a page';
const place = z.string().trim().min(1, error);

/** The parent of new pages: a folder, or a page whose folder of the same name takes them. */
export const parentSchema = z
  .union(
    [
      place,
      z.looseObject({ page_id: place }).transform(({ page_id }) => page_id),
      z.looseObject({ path: place }).transform(({ path }) => path),
    ],
    { error },
  )
  .meta({ title: "Folder in the notes", description: "Where pages are made: a folder such as Tasks, or a page." });

/** The folder for children of `parent`; `Projects/Budget.md` has its children in `Projects/Budget`. */
export function toFolder(parent: string): string {
  return parent.replace(/\.md$/i, "");
}

/** @throws ServiceError 400, bare, naming the field, for a parent that cannot be a folder of the notes. */
export function checkParent(parent: string, field: string): void {
  try {
    parseFolderPath(toFolder(parent), field);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw refuseInput(field, error.message.replace(`arguments.${field} `, "").replace(/\.$/, ""));
  }
}

/** A page to be created. */
export interface PlannedPage {
  readonly title: string;
  readonly body: string;
  readonly parent: string;
  readonly tags: readonly string[];
  readonly properties?: Readonly<Record<string, string>>;
}

const foundSchema = z.object({ pages: z.array(z.looseObject({ page_id: z.string(), path: z.string() })) });

/** Creates one page. A comment at the end of the page lets a later attempt see that it exists. */
export function planPage(page: PlannedPage, flowId: string, index: number): PlannedCall {
  const key = String(index + 1).padStart(3, "0");
  const mark = `${flowId}-${key}`;
  return {
    key,
    label: `the page "${page.title}"`,
    arguments: { ...page, body: `${page.body}\n\n<!-- ${mark} -->` },
    find: {
      toolName: "notes_search",
      arguments: { query: mark, parent: page.parent, limit: 1 },
      pick: (output) => foundSchema.parse(output).pages[0],
    },
  };
}

/** Output of a step that creates pages: progress, and the pages. */
export function collectPages(pages: readonly unknown[], total: number): unknown {
  return { created: pages.length, total, pages };
}

const DEFAULT_PARENT = "Reminders";
const MAX_DELAY_SECONDS = 366 * 24 * 60 * 60;
const MAX_TITLE = 80;
const delayRange = `must be a whole number of seconds from 1 to ${MAX_DELAY_SECONDS}`;

const inputSchema = z.strictObject({
  text: z
    .string({ error: "is required: what to be reminded of" })
    .trim()
    .min(1, "is required: what to be reminded of")
    .max(2000, "must not be longer than 2000 characters")
    .meta({ title: "Reminder", description: "What to be reminded of." }),
  delaySeconds: z
    .int(delayRange)
    .min(1, delayRange)
    .max(MAX_DELAY_SECONDS, delayRange)
    .optional()
    .meta({ title: "Seconds to wait", description: "From the approval on, such as 3600 for an hour." }),
  at: z.iso
    .datetime({ offset: true, error: "must be a time such as 2027-01-31T09:00:00Z" })
    .optional()
    .meta({ title: "Time", description: "When to leave it, instead of the seconds." }),
  notionParent: parentSchema.prefault(DEFAULT_PARENT),
  notesConnectionId: connectionIdOf("Notes"),
});
type ReminderInput = z.output<typeof inputSchema>;

/** `notes_reminder`: writes a note when its time has come. */
export const notesReminder = defineTemplate({
  key: "notes_reminder",
  name: "Leave a reminder in the notes",
  description:
    "After an approval, waits until `at`, or for `delaySeconds` from the approval on, then creates a page with `text` in the notes.",
  connectionFields: { notes: "notesConnectionId" },
  tools: ["notes_search", "notes_create_page"],
  input: inputSchema,
  check({ at, delaySeconds, notionParent }, now) {
    if (at !== undefined && delaySeconds !== undefined)
      throw refuseInput("at", "cannot be combined with `input.delaySeconds`");
    if (at === undefined && delaySeconds === undefined)
      throw refuseInput("delaySeconds", "is required, unless `input.at` is given");
    const due = at === undefined ? undefined : Date.parse(at);
    if (due !== undefined && due <= now) throw refuseInput("at", "must be a time that is still to come");
    if (due !== undefined && due > now + MAX_DELAY_SECONDS * 1000) {
      throw refuseInput("at", "must not be more than a year away");
    }
    checkParent(notionParent, "notionParent");
  },
  steps: [
    { key: "approve_reminder", type: "approval", show: ({ input }) => describeReminder(input) },
    { key: "wait_until_due", type: "wait", until: ({ input, outputs }) => toDue(input, outputs.approve_reminder) },
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

function describeReminder({ text, at, delaySeconds = 0, notionParent }: ReminderInput) {
  const ask = (when: string) => `Approve to leave a reminder in "${toFolder(notionParent)}" ${when}.`;
  if (at === undefined) return { message: ask(`${describeSeconds(delaySeconds)} after your approval`), text };
  const due = new Date(at).toISOString();
  return { message: ask(`at ${exactTime(due)}`), text, at: due };
}

const UNITS = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
] as const;

/** Nothing is rounded: 90 seconds stay 90 seconds. */
function describeSeconds(seconds: number): string {
  const [size, unit] = UNITS.find(([one]) => seconds % one === 0) ?? [1, "second"];
  return `${seconds / size} ${unit}${seconds === size ? "" : "s"}`;
}

/** `at` is what the approval showed: without one, the delay begins with the approval. */
const approvedSchema = z.looseObject({ at: z.iso.datetime().optional(), approvedAt: z.iso.datetime() });

function toDue({ delaySeconds = 0 }: ReminderInput, approval: unknown): number {
  const { at, approvedAt } = approvedSchema.parse(approval);
  return at === undefined ? Date.parse(approvedAt) + delaySeconds * 1000 : Date.parse(at);
}

function toTitle(text: string): string {
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ");
  return `Reminder: ${shortenText(line, MAX_TITLE)}`;
}
