import { hostname } from "node:os";
import { isSvcError } from "../../errors.ts";
import { openCredentialStore } from "../../pairing/credentials.ts";
import { type PairAtOptions, pairAt } from "../../pairing/pair-at.ts";
import { explainPairing } from "./explain-pairing.ts";
import { createHandoverStore } from "./handover-store.ts";
import { PROFILE_ID, PROVIDER_ID } from "./host-names.ts";
import type { HostAuthContext, HostAuthResult } from "./host-sign-in.ts";
import { rememberKeyOrigin } from "./key-origins.ts";
import { createPairingScreen } from "./pairing-screen.ts";
import { DEFAULT_BASE_URL } from "./plugin-settings.ts";
import type { SvcHost } from "./svc-host.ts";

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
