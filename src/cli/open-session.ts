import { join } from "node:path";
import { parseBaseUrl } from "../client/base-url.ts";
import type { SvcClient } from "../client/client.ts";
import { SvcError } from "../errors.ts";
import { type CredentialStore, openCredentialStore } from "../pairing/credentials.ts";
import { openSignInStore, type SignInStore } from "../pairing/sign-in-store.ts";
import type { CliContext } from "./context.ts";
import { createClient } from "./create-client.ts";
import { readProxy } from "./proxy.ts";
import { readSettings, type SettingFlags, type Settings } from "./settings.ts";

/** Where the embedded service listens by default. */
export const DEFAULT_BASE_URL = "http://127.0.0.1:8790";

/** A client for the service this machine has access to, and what it was made from. */
export interface OpenClient {
  readonly client: SvcClient;
  readonly settings: Settings;
  readonly credentials: CredentialStore;
  readonly signIns: SignInStore;
}

/**
 * Opens a client with the key from `SVC_API_KEY` or the credential file, or else with the stored sign-in.
 * Stored secrets are used only for the address they were given by.
 *
 * @throws SvcError `invalid_config` for an address that cannot be one, `credentials_missing` without access to it
 */
export async function openClient(context: CliContext, flags: SettingFlags): Promise<OpenClient> {
  const settings = await readSettings(context.places, context.env, flags);
  const credentials = openCredentialStore(context.places.config);
  const signIns = openSignInStore(context.places.config);
  const open = { settings, credentials, signIns };
  if (settings.apiKey) {
    const { apiKey, baseUrl = DEFAULT_BASE_URL } = settings;
    return { ...open, client: createClient(context, baseUrl, { apiKey }) };
  }
  const wanted = settings.baseUrl === undefined ? undefined : parseBaseUrl(settings.baseUrl);
  const stored = await credentials.read();
  if (stored !== undefined && isFor(stored, wanted)) {
    return { ...open, client: createClient(context, stored.baseUrl, { apiKey: stored.apiKey }) };
  }
  const signIn = await signIns.read();
  if (signIn === undefined || !isFor(signIn, wanted)) throw noAccess(stored?.baseUrl ?? signIn?.baseUrl, wanted);
  // Loaded here, because most commands of a paired machine need nothing of OAuth.
  const { createTokenSource } = await import("../pairing/token-source.ts");
  const accessToken = createTokenSource({ store: signIns, signIn, proxy: readProxy(context.env) });
  return { ...open, client: createClient(context, signIn.baseUrl, { accessToken }) };
}

/**
 * The address that whoever asks for new access means: the one of the settings, else that of the service the stored key
 * or sign-in is from, else {@link DEFAULT_BASE_URL}.
 */
export async function chooseBaseUrl({ places }: CliContext, settings: Settings): Promise<string> {
  if (settings.baseUrl !== undefined) return settings.baseUrl;
  const key = await openCredentialStore(places.config).read();
  const stored = key ?? (await openSignInStore(places.config).read());
  return stored?.baseUrl ?? DEFAULT_BASE_URL;
}

function isFor({ baseUrl }: { readonly baseUrl: string }, wanted: string | undefined): boolean {
  return wanted === undefined || wanted === baseUrl;
}

function noAccess(elsewhere: string | undefined, wanted: string | undefined): SvcError {
  if (elsewhere === undefined || wanted === undefined) {
    return new SvcError("credentials_missing", "This machine is not paired with a service, and not signed in to one.", {
      hint: 'Start one with "svc serve", then run "svc pair", or "svc login" to do without a key.',
    });
  }
  return new SvcError("credentials_missing", `The stored access is for ${elsewhere}, not for ${wanted}.`, {
    hint: `Run "svc pair --base-url ${wanted}" to pair with it, or "svc login --base-url ${wanted}".`,
  });
}

/** Folder of the tool catalogue's cache. */
export const catalogFolder = (context: CliContext) => join(context.places.cache, "catalog");
