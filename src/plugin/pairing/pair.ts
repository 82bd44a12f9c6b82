import { isDeepStrictEqual } from "node:util";
import { SvcError } from "../../shared/errors.ts";
import type { KeyScopes } from "../../shared/wire/key-scopes.ts";
import type { PairExchangeReply } from "../../shared/wire/registration.ts";
import { SvcClient } from "../client/client.ts";
import { pause, type Sleep, sleepFor, startStopwatch } from "../client/retry.ts";
import { readPollInterval, readShownCode, readShownUrl, waitForPoll } from "./approval-wait.ts";
import type { CredentialStore, Credentials, PendingPairing } from "./credentials.ts";
import { type ExchangeAttempt, tryExchange } from "./exchange.ts";

/** Progress of a pairing, in this order; `waiting` once per poll. */
export type PairProgress =
  | { readonly kind: "started"; readonly pairUrl: string; readonly displayCode?: string; readonly expiresAt: string }
  | { readonly kind: "waiting"; readonly elapsedMs: number }
  /** `scopes`: the granted limits; undefined where the service, or this run, does not know. */
  | { readonly kind: "approved"; readonly scopes?: KeyScopes | undefined };

/** Settings of {@link pairDevice}. */
export interface PairOptions {
  /** A client for the service to pair with; its own key, if any, is not used. */
  readonly client: SvcClient;
  readonly credentials: CredentialStore;
  /** Shown on the approval page and in the dashboard. */
  readonly deviceLabel?: string | undefined;
  /** Requested limits of the key, which the owner may narrow or widen. Default: none. */
  readonly scopes?: KeyScopes | undefined;
  /** `cli` for CLI installs, left out for the plugin. */
  readonly clientKind?: "cli" | undefined;
  /** Stops waiting; the session stays stored, and the next call continues it. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (progress: PairProgress) => void;
  /** Waits between two polls. Default: a timer. */
  readonly sleep?: Sleep | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** Used when `expiresAt` is implausible by the clock of this machine. */
const ASSUMED_LIFETIME_MS = 15 * 60 * 1000;
const LONGEST_LIFETIME_MS = 24 * 60 * 60 * 1000;

/**
 * Pairs this device ("Registration: pairing flow"): starts a session, shows link and code through `onProgress`, waits
 * for the human, exchanges the verifier for the key and stores it.
 *
 * The session is on the disk before it is shown, and the key is on the disk before success is reported: a crash at any
 * point leaves something the next call can continue. A stored session that is still valid is continued, not replaced.
 *
 * @throws SvcError `pairing_failed` when the session was declined, has expired or is refused; `aborted`
 */
export async function pairDevice(options: PairOptions): Promise<Credentials> {
  const run: PairRun = { ...options, sleep: options.sleep ?? sleepFor, now: options.now ?? Date.now };
  const stored = await run.credentials.readPending();
  if (stored !== undefined && isUsable(stored, run)) {
    const paired = await followSession(run, stored, "resumed");
    if (paired !== undefined) return paired;
  }
  const paired = await followSession(run, await startSession(run), "new");
  if (paired !== undefined) return paired;
  throw new SvcError("pairing_failed", "The service does not know the pairing session it has just started.", {
    hint: "Check that the base URL leads to one service only, then pair again.",
  });
}

interface PairRun extends PairOptions {
  readonly sleep: Sleep;
  readonly now: () => number;
}

function isUsable(pending: PendingPairing, { client, scopes, now }: PairRun): boolean {
  // One that asked for other limits would get another key than this run is about.
  const isSame = pending.baseUrl === client.baseUrl && isDeepStrictEqual(pending.scopes, scopes);
  return isSame && Date.parse(pending.expiresAt) > now();
}

async function startSession(run: PairRun): Promise<PendingPairing> {
  const { client, deviceLabel, clientKind, scopes, signal } = run;
  const body = {
    ...(deviceLabel === undefined ? {} : { deviceLabel }),
    ...(clientKind === undefined ? {} : { client: clientKind }),
    ...(scopes === undefined ? {} : { scopes }),
  };
  const reply = await client.startPairing(body, { signal });
  const displayCode = readShownCode(reply.displayCode);
  const pending: PendingPairing = {
    baseUrl: client.baseUrl,
    sessionToken: reply.sessionToken,
    verifier: reply.verifier,
    pairUrl: readShownUrl(reply.pairUrl, client.baseUrl, "pairUrl"),
    ...(displayCode === undefined ? {} : { displayCode }),
    ...(deviceLabel === undefined ? {} : { deviceLabel }),
    ...(scopes === undefined ? {} : { scopes }),
    startedAt: new Date(run.now()).toISOString(),
    expiresAt: reply.expiresAt,
    ...(typeof reply.pollIntervalMs === "number" ? { pollIntervalMs: reply.pollIntervalMs } : {}),
  };
  await run.credentials.writePending(pending);
  return pending;
}

/** Waits for the key of one session. Undefined when a resumed session is no longer valid. */
async function followSession(
  run: PairRun,
  session: PendingPairing,
  origin: "new" | "resumed",
): Promise<Credentials | undefined> {
  const { credentials, onProgress } = run;
  const shownCode = session.displayCode === undefined ? {} : { displayCode: session.displayCode };
  const announce = () =>
    onProgress({ kind: "started", pairUrl: session.pairUrl, ...shownCode, expiresAt: session.expiresAt });
  if (origin === "new") announce();
  const first = await tryExchange(run.client, session, run.signal);
  if (origin === "resumed" && first.kind === "waiting") announce();
  const last = await pollSession(run, session, first);
  if (last.kind === "key") return storeKey(run, session, last.reply);
  if (last.kind === "used") {
    const elsewhere = await findKeyOfAnotherProcess(run, session);
    if (elsewhere !== undefined) return elsewhere;
  }
  await credentials.clearPending();
  // Nobody has seen this session in this run, so a new one replaces it silently.
  if (origin === "resumed" && last === first && last.kind !== "refused") return undefined;
  throw last.error;
}

async function pollSession(
  run: PairRun,
  session: PendingPairing,
  first: ExchangeAttempt,
): Promise<Exclude<ExchangeAttempt, { kind: "waiting" }>> {
  const elapsed = startStopwatch(run.now);
  const lifetimeMs = estimateLifetime(session, run.now());
  const intervalMs = readPollInterval(session.pollIntervalMs);
  let attempt = first;
  while (attempt.kind === "waiting") {
    const elapsedMs = elapsed();
    if (elapsedMs > lifetimeMs) {
      const error = new SvcError("pairing_failed", "The pairing session expired before anybody approved it.", {
        hint: "Start pairing again and open the new link in time.",
      });
      return { kind: "gone", error };
    }
    run.onProgress({ kind: "waiting", elapsedMs });
    const wait = { intervalMs, retryAfterMs: attempt.retryAfterMs, remainingMs: lifetimeMs - elapsedMs };
    await waitForPoll(wait, { label: "Pairing", signal: run.signal, sleep: run.sleep });
    attempt = await tryExchange(run.client, session, run.signal, attempt);
  }
  return attempt;
}

async function storeKey(run: PairRun, session: PendingPairing, reply: PairExchangeReply): Promise<Credentials> {
  const { apiKey, apiKeyId } = reply;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new SvcError("pairing_failed", "The service sent a key that no request header can carry.", {
      field: "apiKey",
      hint: "Revoke it in the dashboard, and tell the owner of the service.",
    });
  }
  const credentials: Credentials = {
    baseUrl: session.baseUrl,
    apiKey,
    apiKeyId: String(apiKeyId),
    ...(session.deviceLabel === undefined ? {} : { deviceLabel: session.deviceLabel }),
    pairedAt: new Date(run.now()).toISOString(),
  };
  try {
    await run.credentials.write(credentials);
  } catch (cause) {
    throw new SvcError("pairing_failed", "The device was approved, but its key could not be stored on this machine.", {
      hint: "Make room and check the folder's owner, remove the device in the dashboard, then pair again.",
      cause,
    });
  }
  if (reply.session?.status === "awaiting_local_save") {
    await run.client.finalizePairing(session.sessionToken, session.verifier, { signal: run.signal });
  }
  run.onProgress({ kind: "approved", scopes: reply.session?.scopes ?? undefined });
  return credentials;
}

/** Milliseconds between two reads of the file while another process is about to write it. */
const STORE_WAIT_MS = 250;

/** Two processes may wait for one session: the other one got the key and is about to store it in the same file. */
async function findKeyOfAnotherProcess(run: PairRun, session: PendingPairing): Promise<Credentials | undefined> {
  for (let tries = 1; tries <= 8; tries += 1) {
    const stored = await run.credentials.read();
    if (stored?.baseUrl === session.baseUrl && Date.parse(stored.pairedAt) >= Date.parse(session.startedAt)) {
      run.onProgress({ kind: "approved" });
      return stored;
    }
    await pause(STORE_WAIT_MS, { label: "Pairing", signal: run.signal, sleep: run.sleep });
  }
  return undefined;
}

function estimateLifetime(session: PendingPairing, now: number): number {
  const lifetimeMs = Date.parse(session.expiresAt) - now;
  return lifetimeMs > 0 && lifetimeMs <= LONGEST_LIFETIME_MS ? lifetimeMs : ASSUMED_LIFETIME_MS;
}

/** {@link PairOptions} with an address in place of a client. */
export type PairAtOptions = Omit<PairOptions, "client"> & {
  /** Address of the service to pair with. */
  readonly baseUrl: string;
};

/**
 * {@link pairDevice} for hosts that have an address and no client.
 *
 * @throws SvcError `invalid_config` for an unusable address; the errors of {@link pairDevice}
 */
export async function pairAt({ baseUrl, ...options }: PairAtOptions): Promise<Credentials> {
  const client = new SvcClient({ baseUrl });
  try {
    return await pairDevice({ ...options, client });
  } finally {
    await client.close();
  }
}
