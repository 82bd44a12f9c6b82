import { hostname } from "node:os";
import { isSvcError } from "../../../../shared/errors.ts";
import { checkServiceAt, type Reach, readReach } from "../../../pairing/check-service.ts";
import { type CredentialStore, type Credentials, openCredentialStore } from "../../../pairing/credentials.ts";
import { type PairAtOptions, type PairProgress, pairAt } from "../../../pairing/pair.ts";
import { readActions } from "../actions/actions-file.ts";
import {
  type HostAuthContext,
  type HostAuthResult,
  type HostConfig,
  type HostUnattendedAuthContext,
  PROFILE_ID,
  PROVIDER_ID,
} from "../host/host-api.ts";
import { loadSdk } from "../host/load-sdk.ts";
import type { SvcHost } from "../svc-host.ts";
import { explainPairing, type KnownAccount, listKnownAccounts, rememberKeyOrigin } from "./find-key.ts";
import { DEFAULT_BASE_URL } from "./plugin-settings.ts";

/**
 * Pairs this host with a service: link and code through the host's own screen, then the key as an `api_key` profile
 * that the host stores. Stopped in between, the next call goes on with the same link.
 *
 * @throws Error with one text that says what failed and what to do; the host shows it as it is
 */
export async function pairWithHost(
  host: SvcHost,
  context: HostAuthContext,
  { sleep }: Pick<PairAtOptions, "sleep"> = {},
): Promise<HostAuthResult> {
  const baseUrl = await chooseBaseUrl(host, context);
  const screen = createPairingScreen(context);
  const handover = createHandoverStore(openCredentialStore(host.places.state));
  try {
    const paired = await pairAt({
      baseUrl,
      credentials: handover,
      deviceLabel: `OpenClaw on ${hostname()}`,
      signal: screen.signal,
      onProgress: screen.onProgress,
      sleep,
    });
    context.assertCurrent?.();
    const { apiKey: key, ...origin } = paired;
    // Without an answer the key has an account of its own: nothing of an earlier one is taken over unseen.
    const reach = await readReach(paired, { signal: screen.signal }).catch(() => undefined);
    const account = reach && (await recogniseAccount(host.places, paired.baseUrl, reach, context.agentDir ?? ""));
    const principal = account?.principal === reach?.principal ? undefined : account?.principal;
    await rememberKeyOrigin(host.places, key, { ...origin, ...(principal && { principal }) }, account);
    await screen.close("Approved.");
    const metadata = { baseUrl: paired.baseUrl };
    return {
      profiles: [{ profileId: PROFILE_ID, credential: { type: "api_key", provider: PROVIDER_ID, key, metadata } }],
      notes: [`Paired with ${paired.baseUrl}.`, tellNext(host, account?.principal, context)],
    };
  } catch (error) {
    await screen.close("Not paired.");
    const failure = screen.failure ?? explainPairing(error, baseUrl);
    // A chat is told only that the sign-in failed, so the reason goes there as a note; a terminal shows the thrown error.
    if (context.credentialOnly === true && isSvcError(failure) && failure.code !== "aborted") {
      await context.prompter.note(failure.message).catch(() => undefined);
    }
    throw failure;
  }
}

/**
 * The account of a new key: the one that this agent was paired with before at this address, when both reach the same
 * accounts of apps, whose ids are the service's; else one of its own.
 */
async function recogniseAccount(
  places: SvcHost["places"],
  baseUrl: string,
  { principal, connections }: Reach,
  agentDir: string,
): Promise<KnownAccount> {
  const known = await listKnownAccounts(places);
  const before = known.find((one) => one.baseUrl === baseUrl && one.agentDir === agentDir);
  const isSame = before?.connections.some((id) => connections.includes(id)) === true;
  return { baseUrl, agentDir, connections, principal: isSame ? before.principal : principal };
}

/** Begins the line of a pairing that says what to do after it. */
export const NEXT_STEP = "Next: ";

/** In a chat its own command. */
function tellNext({ places }: SvcHost, principal: string | undefined, { credentialOnly }: HostAuthContext): string {
  const file = readActions(places.actions);
  if (file !== undefined && file.principal === principal) {
    return "The tools of your apps, and what you always allowed, are as they were before.";
  }
  const command = credentialOnly === true ? "/svc sync" : "openclaw svc sync";
  return `${NEXT_STEP}\`${command}\` gives each of your apps' actions a tool.`;
}

/** The address from the settings; else the one of the last pairing, else a service on this machine, as the human likes. */
async function chooseBaseUrl(host: SvcHost, { credentialOnly, prompter }: HostAuthContext): Promise<string> {
  const configured = host.settings().baseUrl;
  if (configured !== undefined) return configured;
  const known = await host.findKey(undefined).catch(() => undefined);
  const usual = known?.baseUrl ?? DEFAULT_BASE_URL;
  if (credentialOnly === true) return usual;
  const answer = await prompter.text({
    message: "Address of the svc service",
    initialValue: usual,
    validate: (value) =>
      /^\s*(https?:\/\/|$)/.test(value) ? undefined : "Write the whole address, such as https://svc.example.",
  });
  return answer.trim() || usual;
}

/**
 * A store for a pairing whose key another store will keep: a pending session lives in `store`, so that a crash can be
 * continued, the key only in memory until it is handed over.
 */
function createHandoverStore(store: CredentialStore): CredentialStore {
  let held: Credentials | undefined;
  return {
    ...store,
    read: async () => held,
    async write(credentials) {
      held = credentials;
      // A session left behind is used up: the next pairing detects that and starts a new one.
      await store.clearPending().catch(() => undefined);
    },
    clear: store.clearPending,
  };
}

/**
 * Sign-in without a human, as in scripted onboarding: takes the key from `SVC_API_KEY`, checks it with the service and
 * lets the host store it. Answers null after a refusal, which is told.
 */
export async function acceptKey(host: SvcHost, context: HostUnattendedAuthContext): Promise<HostConfig | null> {
  const place = { provider: PROVIDER_ID, flagName: "--svc-api-key", envVar: "SVC_API_KEY" } as const;
  const found = await context.resolveApiKey(place);
  if (found === null) return null;
  const refuse = (text: string) => {
    context.runtime.error(text);
    return null;
  };
  const check = await checkServiceAt({ baseUrl: host.settings().baseUrl ?? DEFAULT_BASE_URL, apiKey: found.key });
  const { baseUrl, problem } = check;
  if (check.key === "refused") return refuse(`${baseUrl} does not accept this key. Make one with: openclaw svc pair`);
  if (problem !== undefined) return refuse(explainPairing(problem, baseUrl).message);
  const { persistProviderApiKey: persist, applyAuthProfileConfig: apply } =
    (await loadSdk("provider-auth-api-key")) ?? {};
  if (typeof persist !== "function" || typeof apply !== "function") {
    return refuse("This OpenClaw cannot store a key without a human. Set SVC_API_KEY where the gateway runs instead.");
  }
  const credential = { provider: PROVIDER_ID, resolved: found, metadata: { baseUrl } };
  const stored: unknown = await persist(context, PROFILE_ID, credential);
  if (stored !== true) return null;
  await rememberKeyOrigin(host.places, found.key, { baseUrl, pairedAt: new Date().toISOString() });
  return apply(context.config, { profileId: PROFILE_ID, provider: PROVIDER_ID, mode: "api_key" });
}

/** Shows link and code through the host's sign-in screen: opens the link where the host can, and always writes it out. */
function createPairingScreen(context: HostAuthContext) {
  const stop = new AbortController();
  let shown: Promise<void> = Promise.resolve();
  let failure: unknown;
  let waiting: ReturnType<typeof context.prompter.progress> | undefined;
  const announce = async (progress: PairProgress & { kind: "started" }) => {
    await showLink(context, progress);
    waiting = context.prompter.progress("Waiting for approval in the browser");
  };
  return {
    /** Ends the pairing when the host cancels it or can show nothing any more. */
    signal: context.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, context.signal]),
    /** Why the host could not show something; undefined while it can. */
    get failure() {
      return failure;
    },
    onProgress(progress: PairProgress): void {
      if (progress.kind === "waiting")
        waiting?.update(`Waiting for approval, ${Math.round(progress.elapsedMs / 1000)} s`);
      if (progress.kind !== "started") return;
      shown = announce(progress).catch((error: unknown) => {
        failure = error;
        stop.abort();
      });
    },
    async close(line: string): Promise<void> {
      await shown;
      waiting?.stop(line);
    },
  };
}

async function showLink(
  { prompter, openUrl, credentialOnly }: HostAuthContext,
  { pairUrl, displayCode, expiresAt }: PairProgress & { kind: "started" },
): Promise<void> {
  const isOpened = await openUrl(pairUrl).then(
    () => true,
    () => false,
  );
  const title = "Pair with svc";
  // A chat and the host's pages have shown the link by now; a terminal may have no browser and no display.
  const isShown = isOpened && credentialOnly === true;
  const message = isShown ? "Approve the device on that page." : `Open this link and approve the device: ${pairUrl}`;
  if (displayCode === undefined) return prompter.note(message, title);
  const compare = "Approve only if the page shows this code.";
  if (prompter.deviceCode === undefined) {
    return prompter.note(`${message}\nCode: ${displayCode}. ${compare}`, title);
  }
  const minutes = Math.round((Date.parse(expiresAt) - Date.now()) / 60_000);
  const expiresInMinutes = minutes > 0 ? { expiresInMinutes: minutes } : {};
  return prompter.deviceCode({ title, code: displayCode, ...expiresInMinutes, message: `${message}\n${compare}` });
}
