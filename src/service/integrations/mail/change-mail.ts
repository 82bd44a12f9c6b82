import { z } from "zod";
import { refuseValue } from "../../files/folder-error.ts";
import { defineAction } from "../define-action.ts";
import type { ConnectionView } from "../integration.ts";
import { normaliseFolder, toFolderParts } from "./folder-name.ts";
import { checkFolder, findMessage, type MessagePlace, relocateMessage } from "./maildir.ts";

const messageIds = z
  .array(z.string().min(1).max(255))
  .min(1)
  .max(100)
  .describe("message_id values of an earlier answer.");

/** Finds all messages before the first one is changed. */
async function findAll(connection: ConnectionView, ids: readonly string[]): Promise<MessagePlace[]> {
  const places: MessagePlace[] = [];
  for (const id of new Set(ids)) places.push(await findMessage(connection, id));
  return places;
}

const CHANGES = {
  read: (flags: string) => `${flags}S`,
  unread: (flags: string) => flags.replaceAll("S", ""),
  flagged: (flags: string) => `${flags}F`,
  unflagged: (flags: string) => flags.replaceAll("F", ""),
};

function describePlace({ id, folder, flags }: MessagePlace) {
  return { message_id: id, folder, unread: !flags.includes("S"), flagged: flags.includes("F") };
}

/** `mail_mark_message`. */
export const markMessage = defineAction({
  id: "mark_message",
  title: "Mark messages",
  description: "Marks messages as read, unread, flagged or not flagged.",
  level: "write",
  requiresConfirmation: true,
  idempotent: true,
  scopes: ["mail.modify"],
  arguments: z.strictObject({
    message_ids: messageIds,
    as: z.enum(["read", "unread", "flagged", "unflagged"]).describe("The new state."),
  }),
  examples: [{ message_ids: ["1763631000.M1P1Q1R0.svc"], as: "read" }],
  askBefore: ["Which messages are marked, and as what?"],
  async run({ message_ids, as }, { connection }) {
    const changed: MessagePlace[] = [];
    for (const place of await findAll(connection, message_ids))
      changed.push(await relocateMessage(connection, place, { flags: CHANGES[as](place.flags) }));
    return { messages: changed.map(describePlace) };
  },
});

/** `mail_move_message`. */
export const moveMessage = defineAction({
  id: "move_message",
  title: "Move messages",
  description:
    "Moves messages to another folder of the mailbox, for example Archive. Also brings messages back from Trash.",
  level: "write",
  requiresConfirmation: true,
  idempotent: true,
  scopes: ["mail.modify"],
  arguments: z.strictObject({
    message_ids: messageIds,
    folder: z
      .string()
      .min(1)
      .max(200)
      .describe('Target folder, for example "Archive" or "Work/2026"; see list_folders.'),
    create_folder: z.boolean().default(false).describe("Create the folder when it is missing."),
  }),
  examples: [{ message_ids: ["1763631000.M1P1Q1R0.svc"], folder: "Archive" }],
  askBefore: ["Which messages are moved, and where to?"],
  async run({ message_ids, folder, create_folder }, { connection }) {
    const target = normaliseFolder(folder);
    toFolderParts(target, "folder");
    if (!create_folder) await checkFolder(connection, target);
    const moved: MessagePlace[] = [];
    for (const place of await findAll(connection, message_ids))
      moved.push(await relocateMessage(connection, place, { folder: target }));
    return { messages: moved.map(describePlace) };
  },
});

/** `mail_delete_message`. */
export const deleteMessage = defineAction({
  id: "delete_message",
  title: "Delete messages",
  description: "Deletes messages by moving them to Trash, from where they can be moved back. Nothing is erased.",
  level: "delete",
  requiresConfirmation: true,
  idempotent: false,
  scopes: ["mail.modify"],
  arguments: z.strictObject({ message_ids: messageIds }),
  examples: [{ message_ids: ["1763631000.M1P1Q1R0.svc"] }],
  askBefore: ["Which messages are deleted?"],
  async run({ message_ids }, { connection }) {
    const places = await findAll(connection, message_ids);
    if (places.some(({ folder }) => folder === "Trash"))
      throw refuseValue(
        "message_ids",
        "names a message that is in Trash already.",
        "A human empties the Trash; move_message brings messages back.",
      );
    const trashed: MessagePlace[] = [];
    for (const place of places) trashed.push(await relocateMessage(connection, place, { folder: "Trash" }));
    return { messages: trashed.map(describePlace), deleted: true };
  },
});
