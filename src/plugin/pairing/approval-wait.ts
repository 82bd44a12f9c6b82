import { SvcError } from "../../shared/errors.ts";
import { pause, type Sleep } from "../client/retry.ts";

/**
 * An address of the service that a human is about to open, resolved against the base URL and written in plain
 * characters, so that it cannot carry control sequences to a terminal.
 *
 * @throws SvcError `pairing_failed` when it is not an http or https address
 */
export function readShownUrl(text: string, baseUrl: string, field: string): string {
  const url = URL.parse(text, `${baseUrl}/`);
  if (url !== null && (url.protocol === "https:" || url.protocol === "http:")) return url.href;
  throw new SvcError("pairing_failed", `The service sent an approval link (${field}) that no browser can open.`, {
    field,
    hint: "Check that the base URL points at the service.",
  });
}

/** The short code to compare; undefined if it is not printable or not short. */
export function readShownCode(text: string | null | undefined): string | undefined {
  return typeof text === "string" && /^[\x21-\x7e][\x20-\x7e]{0,31}$/.test(text) ? text : undefined;
}

const POLL_INTERVAL_MS = { default: 3_000, min: 250, max: 30_000 } as const;

/** The poll interval of a session in milliseconds: the service's own, from 250 ms to 30 s; default 3 s. */
export function readPollInterval(ms: number | null | undefined): number {
  const { default: usual, min, max } = POLL_INTERVAL_MS;
  return Math.min(Math.max(ms ?? usual, min), max);
}

/** Waits for the next poll: `intervalMs`, or as long as the service asks, but hardly longer than the session lasts. */
export function waitForPoll(
  wait: { readonly intervalMs: number; readonly retryAfterMs: number | undefined; readonly remainingMs: number },
  by: { readonly label: string; readonly signal: AbortSignal | undefined; readonly sleep: Sleep },
): Promise<void> {
  return pause(Math.max(wait.intervalMs, Math.min(wait.retryAfterMs ?? 0, wait.remainingMs + 1)), by);
}
