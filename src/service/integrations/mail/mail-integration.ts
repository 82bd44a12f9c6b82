import type { Integration } from "../integration.ts";
import { deleteMessage, markMessage, moveMessage } from "./change-mail.ts";
import { mailFolder, readMailSettings } from "./mail-settings.ts";
import { getAttachment, listMailFolders, readMessage, searchMail } from "./read-mail.ts";
import { sendMessage } from "./send-message.ts";

/**
 * A local mailbox in Maildir++ format. Settings: `maildir` (path), `address` (own address), optional `name`, `aliases`,
 * `sendPerMinute`, `sendPerDay`.
 */
export const mailIntegration: Integration = {
  slug: "mail",
  name: "Mail",
  description: "A mailbox in a folder of the machine that runs the service, in the standard Maildir format.",
  category: "mail",
  scopes: ["mail.read", "mail.send", "mail.modify"],
  actions: [
    searchMail,
    listMailFolders,
    readMessage,
    getAttachment,
    sendMessage,
    markMessage,
    moveMessage,
    deleteMessage,
  ],
  settingsForm: [
    {
      name: "maildir",
      label: "Mailbox folder",
      kind: "folder",
      help: "A folder in the Maildir format, the one that holds cur, new and tmp.",
    },
    {
      name: "address",
      label: "Mail address",
      kind: "email",
      help: "The mailbox's own address: messages are sent from it.",
    },
    { name: "name", label: "Your name", kind: "text", optional: true, help: "Stands beside the address in sent mail." },
  ],
  async checkSettings(settings) {
    readMailSettings(settings);
    await mailFolder.check(settings);
  },
};
