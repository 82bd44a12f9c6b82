import { join } from "node:path";
import type { SvcClient } from "../client/client.ts";
import { SvcError } from "../errors.ts";
import { type CredentialStore, openCredentialStore } from "../pairing/credentials.ts";
import type { CliContext } from "./context.ts";
import { createClient } from "./create-client.ts";
import { readSettings, type SettingFlags, type Settings } from "./settings.ts";

/** Where the embedded service listens by default. */
export const DEFAULT_BASE_URL = "http://127.0.0.1:8790";

/** A client for the service this machine is paired with, and what it was made from. */
export interface OpenClient {
  readonly client: SvcClient;
  readonly settings: Settings;
  readonly credentials: CredentialStore;
}

/**
 * Opens a client with the key from `SVC_API_KEY` or the credential file.
 * A stored key is used only for the address it was issued by; throws `credentials_missing` otherwise.
 */
export async function openClient(context: CliContext, flags: SettingFlags): Promise<OpenClient> {
  const settings = await readSettings(context.places, context.env, flags);
  const credentials = openCredentialStore(context.places.config);
  const { apiKey, baseUrl } = settings.apiKey ? settings : await storedKey(credentials, settings.baseUrl);
  const client = createClient(context, baseUrl ?? DEFAULT_BASE_URL, apiKey);
  return { client, settings, credentials };
}

async function storedKey(store: CredentialStore, wanted: string | undefined) {
  const stored = await store.read();
  if (stored === undefined) {
    throw new SvcError("credentials_missing", "This machine is not paired with a service.", {
      hint: 'Start one with "svc serve", then run "svc pair".',
    });
  }
  if (wanted !== undefined && new URL(wanted).origin !== new URL(stored.baseUrl).origin) {
    throw new SvcError("credentials_missing", `The stored key belongs to ${stored.baseUrl}, not to ${wanted}.`, {
      hint: `Run "svc pair --base-url ${wanted}" to pair with it.`,
    });
  }
  return { apiKey: stored.apiKey, baseUrl: stored.baseUrl };
}

/** Folder of the tool catalogue's cache. */
export const catalogFolder = (context: CliContext) => join(context.places.cache, "catalog");
