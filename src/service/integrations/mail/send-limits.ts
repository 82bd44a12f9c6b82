import { ServiceError } from "../../service-error.ts";
import type { ActionContext } from "../integration.ts";
import type { MailSettings } from "./mail-settings.ts";
import { isOwnDelivery, listMessages } from "./maildir.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

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
 * minute, `rate_limit_day` (not retryable) for the day. Counts in the Sent folder, so that a restart forgets nothing;
 * messages moved out of it no longer count.
 */
export async function checkSendLimits(settings: MailSettings, { connection, now }: ActionContext): Promise<void> {
  const time = now();
  const sent = (await listMessages(connection, "Sent")).filter(isOwnDelivery).map(({ deliveredAt }) => deliveredAt);
  for (const [window, limit, span] of [
    ["day", settings.sendPerDay, DAY_MS],
    ["minute", settings.sendPerMinute, MINUTE_MS],
  ] as const) {
    const recent = sent.filter((at) => at > time - span);
    if (recent.length < limit) continue;
    const oldest = recent[limit - 1] ?? time;
    throw limitReached(window, limit, Math.max(1, Math.ceil((oldest + span - time) / 1000)));
  }
}
