import type { FlowTemplate } from "../flow-template.ts";
import { mailToNotesTasks } from "./mail-to-notes-tasks.ts";
import { mailUnreadSummary } from "./mail-unread-summary.ts";
import { notesReminder } from "./notes-reminder.ts";

/** The templates of every service whose integrations they need. */
export const builtInTemplates: readonly FlowTemplate[] = [mailUnreadSummary, mailToNotesTasks, notesReminder];
