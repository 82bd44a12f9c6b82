import { createHash } from "node:crypto";
import type { AuthorizationServer } from "oauth4webapi";
import { cleanText } from "../../../shared/base/text.ts";
import { createRequestOptions } from "./provider-fetch.ts";
import { listAuths, toServiceError } from "./request-tokens.ts";
import type { ReadySignIn } from "./started-sign-ins.ts";

const ISSUER_MAX = 200;

/** The page of a provider on which the owner signs in (RFC 6749 with PKCE, RFC 8707). */
export function toPageUrl(
  { provider, scopes, params, verifier }: ReadySignIn,
  { state, redirectUri }: { state: string; redirectUri: string },
): URL {
  const url = new URL(provider.server.authorization_endpoint ?? "");
  const query = {
    response_type: "code",
    client_id: provider.client.clientId,
    redirect_uri: provider.client.redirectUri ?? redirectUri,
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
    ...(scopes.includes("offline_access") && { prompt: "consent" }),
    ...(provider.resource !== undefined && { resource: provider.resource }),
    ...params,
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

type Code =
  | { readonly code: string; readonly redirectUri: string; readonly problem?: undefined }
  | { readonly problem: string };

/**
 * The code of an answer that comes from the provider that was asked (RFC 9207; RFC 9700, section 4.4), or why there is none.
 *
 * @param o.cameTo the address to which the browser was led back
 * @param o.redirectUri the one of clients that have none of their own
 */
export async function readCode(
  { provider, app }: ReadySignIn,
  answer: URLSearchParams,
  { state, cameTo, ...o }: { readonly state: string; readonly cameTo: string; readonly redirectUri: string },
): Promise<Code> {
  const redirectUri = provider.client.redirectUri ?? o.redirectUri;
  if (cameTo !== redirectUri)
    return { problem: `${app}: The answer came from another provider. Nothing was sent to either.` };
  const oauth = await import("oauth4webapi");
  const { issuer, authorization_endpoint: page = "", ...server } = provider.server;
  const isOwn = (said: string) =>
    provider.hasIssuer ? said === issuer : URL.parse(said)?.origin === URL.parse(page)?.origin;
  const said = answer.getAll("iss");
  const other = said.find((one) => !isOwn(one));
  if (other !== undefined) {
    const who = cleanText(other, ISSUER_MAX) ?? "one without a name";
    return { problem: `${app}: The answer came from another provider, ${who}. Nothing was sent to either.` };
  }
  if (said.length === 0 && server.authorization_response_iss_parameter_supported === true) {
    return { problem: `${app}: The answer does not say that it came from ${provider.name}, as its answers do.` };
  }
  const params = new URLSearchParams(answer);
  params.delete("iss");
  try {
    const client = { client_id: provider.client.clientId };
    const checked = oauth.validateAuthResponse({ issuer }, client, params, state);
    const [code = "", ...others] = checked.getAll("code");
    if (code === "" || others.length > 0) return { problem: `${app}: The answer does not hold one code.` };
    return { code, redirectUri };
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      const shown = await toServiceError(error, { app, provider });
      return { problem: shown instanceof Error ? shown.message : "The provider refused." };
    }
    return {
      problem: `${app}: The answer of the provider cannot be used: ${error instanceof Error ? error.message : ""}.`,
    };
  }
}

/** Begins a device grant (RFC 8628). */
export async function askForDevice({ provider, scopes, params }: ReadySignIn) {
  const oauth = await import("oauth4webapi");
  const client = { client_id: provider.client.clientId };
  const server = provider.server as AuthorizationServer;
  const [auth = oauth.None()] = await listAuths(provider);
  const asked = { ...params, ...(scopes.length > 0 && { scope: scopes.join(" ") }) };
  const options = await createRequestOptions(provider.isPrivate);
  const answer = await oauth.deviceAuthorizationRequest(server, client, auth, asked, options);
  const given = await oauth.processDeviceAuthorizationResponse(server, client, answer);
  const url = URL.parse(given.verification_uri_complete ?? given.verification_uri);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new Error("it names no page for the code");
  return { code: given.device_code, userCode: given.user_code, url, intervalSeconds: Math.max(1, given.interval ?? 5) };
}
