import { z } from "zod";
import { refuseValue } from "../../service/service-error.ts";
import { toOneLine } from "../../shared/base/text.ts";
import type { ActionContext } from "../port/integration.ts";
import { checkState } from "../port/preview.ts";
import { keepMarks, markKeeps } from "./keep-marks.ts";
import { moveKeeps, moveKept } from "./keep-moves.ts";
import { describePlace } from "./kept-mail.ts";
import { defineMailAction, MAIL_MARKS, type MailBox, type MessageHead } from "./mail-box.ts";
import { previewMark, previewMove, seeHeads } from "./preview-change.ts";
import { MANY, PUTTING_AWAY, raiseChange } from "./raised-changes.ts";

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

/** The messages, once their subjects are those the approver saw. Throws ServiceError 400 naming `subjects`. */
async function findMeant(
  box: MailBox,
  { message_ids, subjects }: { readonly message_ids: readonly string[]; readonly subjects: readonly string[] },
): Promise<MessageHead[]> {
  if (subjects.length !== message_ids.length)
    throw refuseValue(
      "subjects",
      `has ${subjects.length} subjects for ${message_ids.length} messages.`,
      "Give the subject of each message, in the same order.",
    );
  const found = await box.findHeads(message_ids);
  for (const [index, id] of message_ids.entries()) {
    const subject = found.get(id)?.subject ?? "";
    if (toOneLine(subjects[index] ?? "") !== toOneLine(subject))
      throw refuseValue(
        `subjects.${index}`,
        `is not the subject of message ${id}, which is "${toOneLine(subject)}".`,
        "Check which message is meant.",
      );
  }
  return [...found.values()];
}

/** The messages to delete, and the folder they go to. Throws ServiceError 400 for one that is there already. */
async function findDeletable(box: MailBox, meant: Parameters<typeof findMeant>[1]) {
  const trash = await box.findFolder("Trash", { mayBeMade: true });
  const heads = await findMeant(box, meant);
  if (heads.some(({ place }) => place.folder === trash))
    throw refuseValue(
      "message_ids",
      "names a message that is in Trash already.",
      "A human empties the Trash; move_message brings messages back.",
    );
  return { trash, heads };
}

/** What a move depends on, and what it means. */
async function planMove(box: MailBox, heads: readonly MessageHead[], target: string) {
  const { isThere, isPutAway } = await box.lookAtFolder(target);
  return { target, isNew: !isThere, isPutAway, seen: [target, isThere, seeHeads(heads)] };
}

/** Moves messages into a folder, if that is what somebody was shown, where somebody was. */
async function moveSeen(
  box: MailBox,
  context: ActionContext,
  { isDeletion, ...o }: { heads: readonly MessageHead[]; target: string; isDeletion: boolean },
) {
  const isExact = context.expectedState !== undefined;
  if (isExact) checkState(context, (await planMove(box, o.heads, o.target)).seen);
  return moveKept(box, context, { ...o, isDeletion, isExact });
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
  async preview({ message_ids, as }, box) {
    return previewMark([...(await box.findHeads(message_ids)).values()], as);
  },
  async run({ message_ids, as }, box, context) {
    const heads = [...(await box.findHeads(message_ids)).values()];
    checkState(context, seeHeads(heads));
    const terms = { isExact: context.expectedState !== undefined, before: keepMarks(context, heads, as) };
    const places = heads.map(({ place }) => place);
    return { messages: (await box.mark(places, as, terms)).map(describePlace) };
  },
  keeps: markKeeps,
});

/** `mail_move_message`. */
export const moveMessage = defineMailAction({
  id: "move_message",
  title: "Move messages",
  description:
    "Moves messages to another folder of the mailbox, for example Archive. Also brings messages back from Trash. Use the message_id values of the answer from then on.",
  level: "write",
  raises: [PUTTING_AWAY, MANY],
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
    return raiseChange({ count: 0, isPutAway: (await box.lookAtFolder(folder)).isPutAway });
  },
  async preview({ folder, create_folder, ...meant }, box) {
    const target = await box.findFolder(folder, { mayBeMade: create_folder });
    const heads = await findMeant(box, meant);
    return previewMove(heads, await planMove(box, heads, target));
  },
  async run({ folder, create_folder, ...meant }, box, context) {
    const target = await box.findFolder(folder, { mayBeMade: create_folder });
    const moved = await moveSeen(box, context, { heads: await findMeant(box, meant), target, isDeletion: false });
    return { messages: moved.map(describePlace) };
  },
  keeps: moveKeeps,
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
  async preview(meant, box) {
    const { trash, heads } = await findDeletable(box, meant);
    return previewMove(heads, { ...(await planMove(box, heads, trash)), isDeletion: true });
  },
  async run(meant, box, context) {
    const { trash, heads } = await findDeletable(box, meant);
    const trashed = await moveSeen(box, context, { heads, target: trash, isDeletion: true });
    return { messages: trashed.map(describePlace), deleted: true };
  },
  keeps: moveKeeps,
});
