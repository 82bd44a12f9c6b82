import { z } from "zod";
import { shortenText } from "../../../shared/base/text.ts";
import { connectionIdOf, defineTemplate, type FlowState } from "../flow-template.ts";
import { dateOf, type FoundMessage, fetchUnread, mailFields, readFound } from "./mail-unread-summary.ts";
import { checkParent, collectPages, type PlannedPage, parentSchema, planPage, toFolder } from "./notes-reminder.ts";

const MAX_TITLE = 120;

const pageSchema = z.object({
  title: z.string(),
  body: z.string(),
  parent: z.string(),
  tags: z.array(z.string()),
  properties: z.record(z.string(), z.string()),
});
const tasksSchema = z.object({ pages: z.array(pageSchema) });
const readTasks = ({ outputs }: FlowState) => tasksSchema.parse(outputs.build_tasks).pages;
const isEmpty = (state: FlowState) => readTasks(state).length === 0;

/** `mail_to_notes_tasks`: one task page for each unread message, created after a human approved them. */
export const mailToNotesTasks = defineTemplate({
  key: "mail_to_notes_tasks",
  name: "Turn unread mail into task pages",
  description:
    "Reads unread mail, builds one task page per message, waits for an approval that shows the pages, then creates them below `notionParent` in the notes.",
  connectionFields: { mail: "mailConnectionId", notes: "notesConnectionId" },
  tools: ["mail_search", "notes_search", "notes_create_page"],
  input: z.strictObject({ ...mailFields, notionParent: parentSchema, notesConnectionId: connectionIdOf("Notes") }),
  check: ({ notionParent }) => checkParent(notionParent, "notionParent"),
  steps: [
    fetchUnread,
    {
      key: "build_tasks",
      type: "transform",
      run(state) {
        const parent = toFolder(state.input.notionParent);
        return { pages: readFound(state).messages.map((message) => buildPage(message, parent)) };
      },
    },
    {
      key: "approve_task_creation",
      type: "approval",
      skip: isEmpty,
      items: "pages",
      show(state) {
        const pages = readTasks(state);
        const count = pages.length === 1 ? "1 task page" : `${pages.length} task pages`;
        return { message: `Approve to create ${count} in "${toFolder(state.input.notionParent)}".`, pages };
      },
    },
    {
      key: "create_pages",
      type: "tool_call",
      app: "notes",
      skip: isEmpty,
      plan(state) {
        const { pages } = tasksSchema.parse(state.outputs.approve_task_creation);
        const calls = pages.map((page, index) => ({ ...planPage(page, state.flowId, index), item: index }));
        return {
          toolName: "notes_create_page",
          connectionId: state.connections.notes,
          calls,
          collect: (pages) => collectPages(pages, calls.length),
        };
      },
    },
  ],
});

function buildPage(message: FoundMessage, parent: string): PlannedPage {
  const subject = toOneLine(message.subject) || "(no subject)";
  const title = shortenText(subject, MAX_TITLE);
  const lines = [`- [ ] ${subject}`, "", `From: ${toOneLine(message.from)}  `, `Date: ${dateOf(message)}`];
  if (message.snippet !== "") lines.push("", `> ${toOneLine(message.snippet)}`);
  return {
    title,
    body: lines.join("\n"),
    parent,
    tags: ["task", "mail"],
    properties: { status: "open", message_id: message.message_id },
  };
}

/** What others wrote must not bring its own front matter, headings or comments into the page. */
function toOneLine(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .replaceAll("<!--", "< !--")
    .trim();
}
