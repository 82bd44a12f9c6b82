import { z } from "zod";
import { toOneLine } from "../../../base/text.ts";
import { refuseValue } from "../../service-error.ts";
import { putAwaySchema } from "../put-away.ts";
import { deletesWhen, given, MASS, mass } from "../raised-levels.ts";
import { defineMailAction, MAIL_MARKS, type MailBox, type MailPlace } from "./mail-box.ts";

/** Answers cut a subject before that. */
const MAX_SUBJECT_LENGTH = 1000;

const messageIds = z
  .array(z.string().min(1).max(255))
  .min(1)
  .max(100)
  .describe("message_id values of an earlier answer.");

const subjects = z
  .array(z.string().max(MAX_SUBJECT_LENGTH))
  .min(1)
  .max(100)
  .describe(
    "Subject of each message, in the same order, as an earlier answer has it. It tells a human which messages.",
  );

const MANY = deletesWhen(`changes more than ${MASS} messages at once`, mass("message_ids"));
const PUTS_AWAY = "moves messages to where they are thrown away or hidden";

/** The messages, once their subjects are those the approver saw. Throws ServiceError 400 naming `subjects`. */
async function findMeant(
  box: MailBox,
  { message_ids, subjects }: { readonly message_ids: readonly string[]; readonly subjects: readonly string[] },
): Promise<MailPlace[]> {
  if (subjects.length !== message_ids.length)
    throw refuseValue(
      "subjects",
      `has ${subjects.length} subjects for ${message_ids.length} messages.`,
      "Give the subject of each message, in the same order.",
    );
  const found = await box.findWithSubjects(message_ids);
  for (const [index, id] of message_ids.entries()) {
    const subject = found.get(id)?.subject ?? "";
    if (toOneLine(subjects[index] ?? "") !== toOneLine(subject))
      throw refuseValue(
        `subjects.${index}`,
        `is not the subject of message ${id}, which is "${toOneLine(subject)}".`,
        "Check which message is meant.",
      );
  }
  return [...found.values()].map(({ place }) => place);
}

function describePlace({ id, folder, isUnread, isFlagged }: MailPlace) {
  return { message_id: id, folder, unread: isUnread, flagged: isFlagged };
}

/** `mail_mark_message`. */
export const markMessage = defineMailAction({
  id: "mark_message",
  title: "Mark messages",
  description: "Marks messages as read, unread, flagged or not flagged.",
  level: "write",
  raises: [MANY],
  idempotent: true,
  scopes: ["mail.modify"],
  arguments: z.strictObject({ message_ids: messageIds, as: z.enum(MAIL_MARKS).describe("The new state.") }),
  examples: [{ message_ids: ["1763631000.M1P1Q1R0.svc"], as: "read" }],
  askBefore: ["Which messages are marked, and as what?"],
  async run({ message_ids, as }, box) {
    const marked = await box.mark(await box.find(message_ids), as);
    return { messages: marked.map(describePlace) };
  },
});

/** `mail_move_message`. */
export const moveMessage = defineMailAction({
  id: "move_message",
  title: "Move messages",
  description:
    "Moves messages to another folder of the mailbox, for example Archive. Also brings messages back from Trash. Use the message_id values of the answer from then on.",
  level: "write",
  raises: [deletesWhen(PUTS_AWAY, given("folder", putAwaySchema)), MANY],
  idempotent: true,
  scopes: ["mail.modify"],
  arguments: z.strictObject({
    message_ids: messageIds,
    subjects,
    folder: z
      .string()
      .min(1)
      .max(200)
      .describe('Target folder, for example "Archive" or "Work/2026"; see list_folders.'),
    create_folder: z.boolean().default(false).describe("Create the folder when it is missing."),
  }),
  examples: [{ message_ids: ["1763631000.M1P1Q1R0.svc"], subjects: ["Invoice 12"], folder: "Archive" }],
  askBefore: ["Which messages are moved, and where to?"],
  async judge({ folder }, box) {
    return (await box.isPutAway(folder)) ? { level: "delete", says: PUTS_AWAY } : undefined;
  },
  async run({ folder, create_folder, ...meant }, box) {
    const target = await box.findFolder(folder, { mayBeMade: create_folder });
    const moved = await box.move(await findMeant(box, meant), target);
    return { messages: moved.map(describePlace) };
  },
});

/** `mail_delete_message`. */
export const deleteMessage = defineMailAction({
  id: "delete_message",
  title: "Delete messages",
  description: "Deletes messages by moving them to Trash, from where they can be moved back. Nothing is erased.",
  level: "delete",
  scopes: ["mail.modify"],
  arguments: z.strictObject({ message_ids: messageIds, subjects }),
  examples: [{ message_ids: ["1763631000.M1P1Q1R0.svc"], subjects: ["Invoice 12"] }],
  askBefore: ["Which messages are deleted?"],
  async run(meant, box) {
    const trash = await box.findFolder("Trash", { mayBeMade: true });
    const places = await findMeant(box, meant);
    if (places.some(({ folder }) => folder === trash))
      throw refuseValue(
        "message_ids",
        "names a message that is in Trash already.",
        "A human empties the Trash; move_message brings messages back.",
      );
    const trashed = await box.move(places, trash);
    return { messages: trashed.map(describePlace), deleted: true };
  },
});
