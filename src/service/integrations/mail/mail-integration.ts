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
  async checkSettings(settings) {
    readMailSettings(settings);
    await mailFolder.check(settings);
  },
};
