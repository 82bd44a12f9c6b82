import { SvcError } from "../errors.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Timers reach 24 days: one for longer would go off at once. */
const LONGEST_MS = 24 * DAY_MS;

/**
 * Refuses a time limit in milliseconds that no timer keeps: it would end a call that has just been sent.
 *
 * @throws SvcError `invalid_config`, field `timeoutMs`
 */
export function checkTimeout(ms: number): number {
  if (typeof ms === "number" && ms >= 1 && ms <= LONGEST_MS) return ms;
  throw refuse("timeoutMs", ms, `a number of milliseconds from 1 to ${LONGEST_MS}`);
}

/**
 * Refuses a limit in bytes that limits nothing.
 *
 * @throws SvcError `invalid_config`, field `maxReplyBytes`
 */
export function checkReplyLimit(bytes: number): number {
  if (Number.isSafeInteger(bytes) && bytes >= 1) return bytes;
  throw refuse("maxReplyBytes", bytes, "a whole number of bytes of at least 1");
}

function refuse(field: string, value: unknown, expected: string): SvcError {
  return new SvcError("invalid_config", `${field} must be ${expected} and not ${String(value).slice(0, 40)}.`, {
    field,
    hint: `Correct ${field}, or leave it out to use the default.`,
    sent: false,
  });
}
