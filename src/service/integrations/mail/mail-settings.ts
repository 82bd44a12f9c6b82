import { readdir } from "node:fs/promises";
import { z } from "zod";
import { refuseSetting } from "../../service-error.ts";
import { createConnectionFolder } from "../connection-folder.ts";
import { parseAddress } from "./mail-address.ts";

/** The mailbox of a mail connection: setting `maildir`, the path of a Maildir++ folder. */
export const mailFolder = createConnectionFolder("maildir");

/** Throws ServiceError 422 for a folder of something else: a Maildir would begin between its files. */
export async function checkMaildir(settings: Readonly<Record<string, unknown>>): Promise<void> {
  const entries = await readdir(mailFolder.read(settings));
  // One that only this service wrote to may have no more than folders such as ".Sent" yet.
  if (entries.includes("cur") || entries.includes("new") || entries.every((name) => name.startsWith("."))) return;
  throw refuseSetting("maildir", 'names a folder that holds other things: a mailbox has the folders "cur" and "new".');
}

/** Settings of a mail connection besides `maildir`. */
export interface MailSettings {
  /** The mailbox's own address; the sender of every message. */
  readonly address: string;
  /** Name shown beside the address. */
  readonly name: string;
  /** Further addresses of this mailbox: mail to them is delivered here. */
  readonly aliases: readonly string[];
  /** Most messages sent in any 60 seconds. Default 30. */
  readonly sendPerMinute: number;
  /** Most messages sent in any 24 hours. Default 500. */
  readonly sendPerDay: number;
}

const address = z.string().refine((text) => parseAddress(text)?.name === "");

const schema = z.looseObject({
  address,
  name: z
    .string()
    .max(200)
    .regex(/^\P{Cc}*$/u)
    .default(""),
  aliases: z.array(address).max(50).default([]),
  sendPerMinute: z.int().min(0).default(30),
  sendPerDay: z.int().min(0).default(500),
});

/** Reads the settings or throws ServiceError 422 `integration_misconfigured` naming the one that is wrong. */
export function readMailSettings(settings: Readonly<Record<string, unknown>>): MailSettings {
  const parsed = schema.safeParse(settings);
  if (parsed.success) return parsed.data;
  const setting = String(parsed.error.issues[0]?.path[0] ?? "address");
  if (setting === "address")
    throw refuseSetting(setting, "must be the mailbox's own address, for example me@example.org.");
  throw refuseSetting(setting, "has a value that cannot be used.");
}
