import { checkServiceAt } from "../../pairing/check-service.ts";
import { explainPairing } from "./explain-pairing.ts";
import type { HostConfig } from "./host-config.ts";
import { PROFILE_ID, PROVIDER_ID } from "./host-names.ts";
import type { HostUnattendedAuthContext } from "./host-sign-in.ts";
import { rememberKeyOrigin } from "./key-origins.ts";
import { loadSdk } from "./load-sdk.ts";
import { DEFAULT_BASE_URL } from "./plugin-settings.ts";
import type { SvcHost } from "./svc-host.ts";

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
