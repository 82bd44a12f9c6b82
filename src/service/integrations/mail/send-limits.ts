import { ServiceError } from "../../service-error.ts";
import type { MailSettings } from "./mail-settings.ts";

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
