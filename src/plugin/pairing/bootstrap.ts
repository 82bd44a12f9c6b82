import { isSvcError, SvcError } from "../../shared/errors.ts";
import { BOOTSTRAP_LIFETIME_MS } from "../../shared/wire/constants.ts";
import type { BootstrapPollReply } from "../../shared/wire/registration.ts";
import type { SvcClient } from "../client/client.ts";
import { withoutRequest } from "../client/failure.ts";
import { type Sleep, sleepFor, startStopwatch } from "../client/retry.ts";
import { readPollInterval, readShownCode, readShownUrl, waitForPoll } from "./approval-wait.ts";

/** The configuration that the service hands to an installer: the MCP server's address and the headers with the key. */
export type InstallConfig = Readonly<NonNullable<BootstrapPollReply["install"]>>;

/** Progress of an install, in this order; `waiting` once per poll. */
export type BootstrapProgress =
  | {
      readonly kind: "started";
      readonly approvalUrl: string;
      /** Must equal the code on the approval page; absent if the service gives none. */
      readonly displayCode?: string;
      readonly expiresAt: string;
    }
  | { readonly kind: "waiting"; readonly elapsedMs: number }
  | { readonly kind: "approved" };

/** Settings of {@link bootstrapInstaller}. */
export interface BootstrapOptions {
  readonly client: SvcClient;
  /** Free-form description of the installer, sent when the session is created. */
  readonly request?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Called once with the configuration. It must store it before it resolves: the configuration is handed out only once.
   */
  readonly install: (config: InstallConfig) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (progress: BootstrapProgress) => void;
  /** Waits between two polls. Default: a timer. */
  readonly sleep?: Sleep | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** Statuses that end a session without a configuration. */
const ENDED: ReadonlySet<string> = new Set([
  "expired",
  "rejected",
  "denied",
  "declined",
  "consumed",
  "error",
  "failed",
  "cancelled",
]);

/**
 * Installs through a bootstrap session ("Registration: installer bootstrap flow"): creates it, shows the approval link
 * through `onProgress`, polls until a human has approved, and calls `install` once.
 *
 * @throws SvcError `pairing_failed` when the session ended without a configuration; `aborted`
 */
export async function bootstrapInstaller(options: BootstrapOptions): Promise<void> {
  const { client, signal, onProgress, sleep = sleepFor, now = Date.now } = options;
  const session = await client.startBootstrap(options.request ?? {}, { signal });
  const approvalUrl = readShownUrl(session.approval_url, client.baseUrl, "approval_url");
  const displayCode = readShownCode(session.display_code);
  const code = displayCode === undefined ? {} : { displayCode };
  onProgress({ kind: "started", approvalUrl, ...code, expiresAt: session.expires_at });
  const elapsed = startStopwatch(now);
  let intervalMs = readPollInterval(session.poll_interval_ms);
  for (;;) {
    const { reply, retryAfterMs } = await poll(client, session.poll_url, signal);
    if (reply?.install != null) {
      // The configuration is handed out once: it is installed even when reporting progress fails.
      try {
        onProgress({ kind: "approved" });
      } finally {
        await options.install(reply.install);
      }
      return;
    }
    if (reply !== undefined && ENDED.has(reply.status)) throw ended(reply.status);
    const elapsedMs = elapsed();
    if (elapsedMs > BOOTSTRAP_LIFETIME_MS) throw ended("expired");
    onProgress({ kind: "waiting", elapsedMs });
    intervalMs = readPollInterval(reply?.poll_interval_ms ?? intervalMs);
    const remainingMs = BOOTSTRAP_LIFETIME_MS - elapsedMs;
    await waitForPoll({ intervalMs, retryAfterMs, remainingMs }, { label: "Installation", signal, sleep });
  }
}

/** One poll; a temporary failure counts as "nothing new". */
async function poll(
  client: SvcClient,
  pollUrl: string,
  signal: AbortSignal | undefined,
): Promise<{ reply?: BootstrapPollReply; retryAfterMs?: number | undefined }> {
  try {
    return { reply: await client.pollBootstrap(pollUrl, { signal }) };
  } catch (error) {
    if (!isSvcError(error) || error.code === "aborted" || error.code === "pairing_failed") throw error;
    if (error.retryable) return { retryAfterMs: error.retryAfterMs };
    throw new SvcError("pairing_failed", `Installation failed: ${withoutRequest(error.message)}`, {
      status: error.status,
      serviceCode: error.serviceCode,
      hint: "Start the installation again and open the new link.",
    });
  }
}

function ended(status: string): SvcError {
  return new SvcError("pairing_failed", `The installation was not approved: the session is "${status}".`, {
    serviceCode: status,
    hint: "Start the installation again and approve it in the browser in time.",
  });
}
