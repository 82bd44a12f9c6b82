import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createCatalog, type ToolCatalog } from "../plugin/calls/catalog/catalog.ts";
import { parseBaseUrl } from "../plugin/client/base-url.ts";
import { SvcClient } from "../plugin/client/client.ts";
import type { ProxySettings } from "../plugin/client/client-options.ts";
import { type CredentialStore, openCredentialStore } from "../plugin/pairing/credentials.ts";
import { SvcError } from "../shared/errors.ts";
import type { CliContext, Places } from "./context.ts";
import type { McpClientName } from "./mcp-client-names.ts";
import { readSettings, type SettingFlags, type Settings } from "./settings.ts";

/** Where the embedded service listens by default. */
export const DEFAULT_BASE_URL = "http://127.0.0.1:8790";

/** A client for the paired service, and the sources of its settings. */
export interface OpenClient {
  readonly client: SvcClient;
  readonly settings: Settings;
  readonly credentials: CredentialStore;
}

/**
 * Opens a client with the key from `SVC_API_KEY` or the credential file. A stored key is used only for the address that
 * issued it. `keyFolder` is another one for an installed client, which has a key of its own.
 *
 * @throws SvcError `invalid_config` for an unusable address, `credentials_missing` without a key for it
 */
export async function openClient(
  context: Pick<CliContext, "places" | "env">,
  flags: SettingFlags,
  keyFolder: string = context.places.config,
): Promise<OpenClient> {
  const settings = await readSettings(context.places, context.env, flags);
  const credentials = openCredentialStore(keyFolder);
  if (settings.apiKey) {
    const { apiKey, baseUrl = DEFAULT_BASE_URL } = settings;
    return { settings, credentials, client: createClient(context, baseUrl, { apiKey }) };
  }
  const wanted = settings.baseUrl === undefined ? undefined : parseBaseUrl(settings.baseUrl);
  const stored = await credentials.read();
  if (stored === undefined) {
    throw new SvcError("credentials_missing", "This machine is not paired with a service.", {
      hint: 'Run "svc pair --base-url URL" for a service you know, or start one here with "svc serve" and run "svc pair".',
    });
  }
  if (wanted !== undefined && wanted !== stored.baseUrl) {
    throw new SvcError("credentials_missing", `The stored key is for ${stored.baseUrl}, not for ${wanted}.`, {
      hint: `If that is the same service at another address, run "svc move ${wanted}"; else "svc pair --base-url ${wanted}".`,
    });
  }
  return { settings, credentials, client: createClient(context, stored.baseUrl, stored) };
}

/** Where the key of an installed client lies, beside that of this machine; without `client`, the folder of all of them. */
export function findKeyFolder({ config }: Pick<Places, "config">, client?: McpClientName): string {
  return join(config, "clients", ...(client === undefined ? [] : [client]));
}

/** The keys on this machine: its own, if it is paired, then those of installed clients. */
export async function listStoredKeys(places: Pick<Places, "config">): Promise<CredentialStore[]> {
  const clients = await readdir(findKeyFolder(places)).catch(() => []);
  const folders = [places.config, ...clients.map((client) => join(findKeyFolder(places), client))];
  const stores = folders.map((folder) => openCredentialStore(folder));
  const known = await Promise.all(stores.map((store) => store.read()));
  return stores.filter((_store, index) => known[index] !== undefined);
}

/** Runs `work` with the client of {@link openClient}, and closes it. */
export async function withClient<T>(
  context: CliContext,
  flags: SettingFlags,
  work: (opened: OpenClient) => Promise<T>,
): Promise<T> {
  const opened = await openClient(context, flags);
  context.terminal.wait(`waiting for ${opened.client.baseUrl}`);
  try {
    return await work(opened);
  } finally {
    await opened.client.close();
  }
}

/** Runs `work` with the tool catalogue, and closes it. `cached`: start from the copy on this machine, and keep one. */
export function withCatalog<T>(
  context: CliContext,
  flags: SettingFlags & { readonly cached: boolean },
  work: (catalog: ToolCatalog, client: SvcClient) => Promise<T>,
): Promise<T> {
  return withClient(context, flags, async ({ client }) => {
    const cacheDir = flags.cached ? join(context.places.cache, "catalog") : undefined;
    const catalog = createCatalog({ client, cacheDir });
    try {
      return await work(catalog, client);
    } finally {
      await catalog.close();
    }
  });
}

/** The address to pair with: from the settings, else of the stored key, else {@link DEFAULT_BASE_URL}. */
export async function chooseBaseUrl({ places }: CliContext, settings: Settings): Promise<string> {
  if (settings.baseUrl !== undefined) return settings.baseUrl;
  const [first] = await listStoredKeys(places);
  return (await first?.read())?.baseUrl ?? DEFAULT_BASE_URL;
}

/** A client that uses the proxy of the environment, if one is set; pairing needs no key. */
export function createClient(
  { env }: Pick<CliContext, "env">,
  baseUrl: string,
  { apiKey, principal }: { readonly apiKey?: string; readonly principal?: string } = {},
): SvcClient {
  return new SvcClient({ baseUrl, apiKey, principal, proxy: readProxy(env) });
}

/** The proxy variables that other command line tools use; undefined when none is set. */
export function readProxy(env: NodeJS.ProcessEnv): ProxySettings | undefined {
  const httpProxy = env.http_proxy || env.HTTP_PROXY;
  const httpsProxy = env.https_proxy || env.HTTPS_PROXY;
  if (!httpProxy && !httpsProxy) return undefined;
  return { httpProxy, httpsProxy, noProxy: env.no_proxy || env.NO_PROXY };
}
