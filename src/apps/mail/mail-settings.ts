import { readdir } from "node:fs/promises";
import { z } from "zod";
import { refuseSetting, ServiceError } from "../../service-error.ts";
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

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Ends the left half of the Message-ID of messages this service wrote. */
const OWN_MARK = ".svc";

/** How far back {@link checkSendLimits} looks, in milliseconds. */
export const SEND_LIMIT_SPAN_MS = DAY_MS;

/** A Message-ID header by which a message of this service is known again. */
export function createOwnMessageId(unique: string, address: string): string {
  return `<${unique}${OWN_MARK}@${address.split("@")[1]}>`;
}

/** True for a header that {@link createOwnMessageId} made. */
export function isOwnMessageId(header: string): boolean {
  return header.includes(`${OWN_MARK}@`);
}

function limitReached(window: "minute" | "day", limit: number, retryAfterSeconds: number): ServiceError {
  const isDay = window === "day";
  return new ServiceError(
    429,
    isDay ? "rate_limit_day" : "rate_limit",
    `This mailbox may send ${limit} message(s) per ${window}, and that many were sent.`,
    {
      type: "rate_limit",
      retryable: !isDay,
      retryAfterSeconds,
      hint: isDay
        ? "Do not retry today; tell the human that the daily limit is reached."
        : "Wait as long as Retry-After says, then repeat the call.",
    },
  );
}

/**
 * Throws ServiceError 429 with Retry-After when the mailbox has sent as much as its settings allow: `rate_limit` for the
 * minute, `rate_limit_day` (not retryable) for the day. Times are counted in the folder of sent mail, so that a restart
 * forgets nothing; messages moved out of it no longer count.
 *
 * @param sent times of messages this service sent, newest first, in milliseconds since the epoch
 */
export function checkSendLimits(
  settings: Pick<MailSettings, "sendPerDay" | "sendPerMinute">,
  sent: readonly number[],
  now: number,
): void {
  for (const [window, limit, span] of [
    ["day", settings.sendPerDay, DAY_MS],
    ["minute", settings.sendPerMinute, MINUTE_MS],
  ] as const) {
    const recent = sent.filter((at) => at > now - span);
    if (recent.length < limit) continue;
    const oldest = recent[limit - 1] ?? now;
    throw limitReached(window, limit, Math.max(1, Math.ceil((oldest + span - now) / 1000)));
  }
}
