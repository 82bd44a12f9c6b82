/** A row of a session that a human approves and a client then takes its key from. */
interface SessionRow<Status extends string> {
  readonly status: Status;
  readonly expires_at: string;
}

/** Status at a time, in milliseconds since the epoch: a session that is still open past its end is `expired`. */
export function readSessionStatus<Status extends string>(
  { status, expires_at }: SessionRow<Status>,
  now: number,
): Status | "expired" {
  const isOpen = status === "awaiting_approval" || status === "approved";
  return isOpen && Date.parse(expires_at) <= now ? "expired" : status;
}
