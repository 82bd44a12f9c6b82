import { randomUUID } from "node:crypto";
import { generateRandomState } from "oauth4webapi";
import { parseBaseUrl } from "../client/base-url.ts";
import type { ProxySettings } from "../client/create-dispatcher.ts";
import { pause, type Sleep, sleepFor } from "../client/pause.ts";
import { startStopwatch } from "../client/stopwatch.ts";
import { SvcError } from "../errors.ts";
import { keepServer, requestAuthorization } from "./authorization.ts";
import type { SignIn } from "./credential-file.ts";
import { openLoopbackRedirect, type Redirect } from "./loopback-redirect.ts";
import { findSignIn } from "./oauth-discovery.ts";
import { createOAuthHttp, type OAuthHttp } from "./oauth-http.ts";
import { readShownUrl } from "./shown-text.ts";
import type { SignInStore } from "./sign-in-store.ts";
import { revokeSignIn } from "./sign-out.ts";

/** Told to the human while a sign-in goes on. */
export type SignInProgress =
  | { readonly kind: "started"; readonly signInUrl: string; readonly expiresAt: string }
  | { readonly kind: "waiting"; readonly elapsedMs: number }
  | { readonly kind: "signed_in" };

/** What {@link signIn} needs. */
export interface SignInOptions {
  /** Address of the service. */
  readonly baseUrl: string;
  readonly store: SignInStore;
  /** Shown on the approval page and in the dashboard; default `svc`. */
  readonly clientName?: string | undefined;
  readonly proxy?: ProxySettings | undefined;
  /** Stops waiting; nothing is stored then. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress: (progress: SignInProgress) => void;
  readonly sleep?: Sleep | undefined;
  readonly now?: (() => number) | undefined;
}

/** As long as an approval page of the embedded service stays open. */
const LIFETIME_MS = 15 * 60 * 1_000;
const TICK_MS = 1_000;

/**
 * Signs in with the browser of this machine, by OAuth 2.0 ("Authentication" 4): finds the authorization server, registers,
 * shows a link through `onProgress`, waits on a port of 127.0.0.1 for the browser to come back, and stores the tokens.
 * They are on the disk before success is reported; a sign-in that was stored before is withdrawn then.
 *
 * @throws SvcError `pairing_failed` when the service offers none, its metadata cannot be trusted, or the human declined
 * or was too late; `aborted`
 */
export async function signIn(options: SignInOptions): Promise<SignIn> {
  const baseUrl = parseBaseUrl(options.baseUrl);
  const http = createOAuthHttp({ baseUrl, proxy: options.proxy });
  try {
    const before = await options.store.read();
    const stored = await runSignIn(
      { ...options, baseUrl, sleep: options.sleep ?? sleepFor, now: options.now ?? Date.now },
      http,
    );
    if (before !== undefined) await revokeSignIn(before, options.proxy).catch(() => undefined);
    return stored;
  } finally {
    await http.close();
  }
}

interface SignInRun extends SignInOptions {
  readonly sleep: Sleep;
  readonly now: () => number;
}

async function runSignIn(run: SignInRun, http: OAuthHttp): Promise<SignIn> {
  const { baseUrl, signal, clientName = "svc", onProgress, now } = run;
  const place = await findSignIn(http, baseUrl, signal);
  const state = generateRandomState();
  const redirect = await openLoopbackRedirect(state);
  try {
    const { redirectUri } = redirect;
    const asked = await requestAuthorization({ http, place, clientName, redirectUri, state, signal });
    const signInUrl = readShownUrl(asked.link, baseUrl, "authorization_endpoint");
    onProgress({ kind: "started", signInUrl, expiresAt: new Date(now() + LIFETIME_MS).toISOString() });
    const arrived = await awaitArrival(run, redirect.arrival);
    const stored = await conclude(arrived, async () => {
      const signedIn: SignIn = {
        baseUrl,
        signInId: randomUUID(),
        server: keepServer(place),
        resource: place.resource,
        clientId: asked.clientId,
        ...(await asked.redeem(arrived.params, now())),
        signedInAt: new Date(now()).toISOString(),
      };
      await run.store.write(signedIn);
      return signedIn;
    });
    onProgress({ kind: "signed_in" });
    return stored;
  } finally {
    await redirect.close();
  }
}

/** Waits for the browser, telling how long already. */
async function awaitArrival(run: SignInRun, arrival: Promise<Redirect>): Promise<Redirect> {
  const arrived = new AbortController();
  const signal = AbortSignal.any([arrived.signal, ...(run.signal === undefined ? [] : [run.signal])]);
  const elapsed = startStopwatch(run.now);
  const watch = async (): Promise<never> => {
    for (;;) {
      const elapsedMs = elapsed();
      if (elapsedMs > LIFETIME_MS) {
        throw new SvcError("pairing_failed", "Nobody signed in within 15 minutes.", {
          hint: 'Run "svc login" again and open the new link in time.',
        });
      }
      run.onProgress({ kind: "waiting", elapsedMs });
      await pause(TICK_MS, { label: "Sign-in", signal, sleep: run.sleep });
    }
  };
  try {
    return await Promise.race([arrival, watch()]);
  } finally {
    arrived.abort();
  }
}

/** Tells the browser how it ended, whichever way. */
async function conclude(arrived: Redirect, work: () => Promise<SignIn>): Promise<SignIn> {
  const stored = await work().catch(async (error: unknown) => {
    await arrived.show("Not signed in", "Nothing was stored. The terminal says why.");
    throw error;
  });
  await arrived.show("Signed in", "You can close this page and go back to the terminal.");
  return stored;
}
