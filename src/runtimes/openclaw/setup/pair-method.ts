import { hostname } from "node:os";
import { isSvcError } from "../../../errors.ts";
import { checkServiceAt } from "../../../pairing/check-service.ts";
import { type CredentialStore, type Credentials, openCredentialStore } from "../../../pairing/credentials.ts";
import { type PairAtOptions, pairAt } from "../../../pairing/pair.ts";
import type { HostConfig } from "../host/host-api.ts";
import {
  type HostAuthContext,
  type HostAuthResult,
  type HostUnattendedAuthContext,
  PROFILE_ID,
  PROVIDER_ID,
} from "../host/host-sign-in.ts";
import { loadSdk } from "../host/load-sdk.ts";
import type { SvcHost } from "../svc-host.ts";
import { explainPairing } from "./explain-pairing.ts";
import { rememberKeyOrigin } from "./key-origins.ts";
import { createPairingScreen } from "./pairing-screen.ts";
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
    const { apiKey, apiKeyId, deviceLabel, pairedAt } = paired;
    const origin = {
      baseUrl: paired.baseUrl,
      pairedAt,
      apiKeyId,
      ...(deviceLabel === undefined ? {} : { deviceLabel }),
    };
    await rememberKeyOrigin(host.places, apiKey, origin);
    await screen.close("Approved.");
    return {
      profiles: [
        {
          profileId: PROFILE_ID,
          credential: { type: "api_key", provider: PROVIDER_ID, key: apiKey, metadata: { baseUrl: paired.baseUrl } },
        },
      ],
      notes: [`Paired with ${paired.baseUrl}.`, "Next: `openclaw svc sync` gives each of your apps' actions a tool."],
    };
  } catch (error) {
    await screen.close("Not paired.");
    const failure = screen.failure ?? explainPairing(error, baseUrl);
    await tellFailure(context, failure);
    throw failure;
  }
}

/** A chat is told only that the sign-in failed, so the reason goes there as a note; a terminal shows what is thrown. */
async function tellFailure({ credentialOnly, prompter }: HostAuthContext, failure: unknown): Promise<void> {
  if (credentialOnly !== true || !isSvcError(failure) || failure.code === "aborted") return;
  await prompter.note(failure.message).catch(() => undefined);
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
    validate: (value) => (isAddress(value) ? undefined : "Write the whole address, such as https://svc.example."),
  });
  return answer.trim() || usual;
}

function isAddress(text: string): boolean {
  return text.trim() === "" || /^https?:\/\//.test(text.trim());
}

/**
 * A store for a pairing whose key another store will keep: a pending session lives in `pending`, so that a crash can be
 * continued, the key only in memory until it is handed over.
 */
function createHandoverStore(pending: CredentialStore): CredentialStore {
  let held: Credentials | undefined;
  return {
    path: pending.path,
    read: async () => held,
    async write(credentials) {
      held = credentials;
      // A session that stays behind is spent: the next pairing finds that out and starts anew.
      await pending.clearPending().catch(() => undefined);
    },
    async clear() {
      held = undefined;
      await pending.clearPending();
    },
    readPending: () => pending.readPending(),
    writePending: (session) => pending.writePending(session),
    clearPending: () => pending.clearPending(),
  };
}

/**
 * Sign-in without a human, as in scripted onboarding: takes the key from `SVC_API_KEY`, checks it with the service and
 * lets the host store it. Answers null after a refusal, which is told.
 */
export async function acceptKey(host: SvcHost, context: HostUnattendedAuthContext): Promise<HostConfig | null> {
  const found = await context.resolveApiKey({
    provider: PROVIDER_ID,
    flagName: "--svc-api-key",
    envVar: "SVC_API_KEY",
  });
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
  const stored: unknown = await persist(context, PROFILE_ID, {
    provider: PROVIDER_ID,
    resolved: found,
    metadata: { baseUrl },
  });
  if (stored !== true) return null;
  await rememberKeyOrigin(host.places, found.key, { baseUrl, pairedAt: new Date().toISOString() });
  return apply(context.config, { profileId: PROFILE_ID, provider: PROVIDER_ID, mode: "api_key" });
}
