import { readdir } from "node:fs/promises";
import { z } from "zod";
import { refuseSetting, ServiceError } from "../../service/service-error.ts";
import { MAX_DELAY_SECONDS } from "../../shared/wire/constants.ts";
import { createConnectionFolder } from "../port/connection-folder.ts";
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
  /** Seconds between the yes and the sending, as the owner chose for this account. */
  readonly sendDelay?: number | undefined;
}

/** Choices for {@link MailSettings.sendDelay}, in the form; the first leaves it to the service. */
export const SEND_DELAYS = ["default", "0", "10", "20", "30", "60"] as const;

const address = z.string().refine((text) => parseAddress(text)?.name === "");

function readDelay(choice: (typeof SEND_DELAYS)[number]): number | undefined {
  return choice === "default" ? undefined : Number(choice);
}

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
  sendDelay: z.union([z.int().min(0).max(MAX_DELAY_SECONDS), z.enum(SEND_DELAYS).transform(readDelay)]).optional(),
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

/** Addresses of the mailbox itself, and all others. */
export function partRecipients(
  recipients: readonly string[],
  { address, aliases }: Pick<MailSettings, "address" | "aliases">,
): { readonly own: readonly string[]; readonly others: readonly string[] } {
  const known = new Set([address, ...aliases].map((one) => one.toLowerCase()));
  const parted = Map.groupBy(recipients, (one) => known.has(one.toLowerCase()));
  return { own: parted.get(true) ?? [], others: parted.get(false) ?? [] };
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

/** The `unique` of a header of {@link createOwnMessageId}, without what no name of a file may have; empty for another one. */
export function readOwnUnique(header: string): string {
  const [, unique = ""] = /^<(.*)\.svc@/.exec(header) ?? [];
  return unique.replaceAll(/[^A-Za-z0-9]/g, "");
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

/** The settings without the limit of the minute, which is over by the time somebody has decided. */
export function forgetMinute(settings: MailSettings): MailSettings {
  return { ...settings, sendPerMinute: Number.POSITIVE_INFINITY };
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
