import { isRecord } from "../../../base/json.ts";
import { SvcError } from "../../../errors.ts";
import type { HostApi, HostConfig } from "../host/host-api.ts";
import { PROVIDER_ID } from "../host/host-sign-in.ts";
import type { HostToolContext } from "../host/host-tool.ts";
import { loadSdk } from "../host/load-sdk.ts";
import type { Places } from "../host/places.ts";
import { ASK_TO_PAIR } from "./explain-pairing.ts";
import { readKeyOrigin } from "./key-origins.ts";
import { DEFAULT_BASE_URL, type PluginSettings, type SecretReference } from "./plugin-settings.ts";
import type { Environment } from "./read-environment.ts";

/** A key and where it came from. */
interface FoundKey {
  readonly apiKey: string;
  readonly source: "config" | "environment" | "host" | "file";
  /** The address that issued it, when a pairing of this host did; it must not be sent anywhere else. */
  readonly baseUrl?: string;
}

/** What looking for a key needs. */
interface KeySearch {
  readonly settings: Pick<PluginSettings, "apiKey">;
  readonly environment: Environment;
  readonly places: Places;
  /** Where the call runs; undefined outside a call. */
  readonly context: HostToolContext | undefined;
  /** The registration whose host is asked. */
  readonly api: Pick<HostApi, "config" | "registrationMode" | "runtime">;
}

/**
 * Finds the API key: settings, then `SVC_API_KEY`, then the host's credential store, then the plugin's own file.
 * Undefined when there is none anywhere.
 *
 * @throws SvcError `credentials_missing` for a set reference that leads to no key: another account's key must not stand
 * in for it; `invalid_config` or `credentials_missing` for an own file that is damaged or open to others
 */
export async function findApiKey(search: KeySearch): Promise<FoundKey | undefined> {
  const set = await readSetKey(search);
  if (set !== undefined) return { apiKey: set, source: "config" };
  const { apiKey } = search.environment;
  if (apiKey !== undefined) return { apiKey, source: "environment" };
  const kept = await askHost(search);
  if (kept !== undefined) {
    const origin = await readKeyOrigin(search.places, kept);
    return { apiKey: kept, source: "host", ...(origin === undefined ? {} : { baseUrl: origin.baseUrl }) };
  }
  const { openCredentialStore } = await import("../../../pairing/credentials.ts");
  const own = await openCredentialStore(search.places.state).read();
  return own && { apiKey: own.apiKey, source: "file", baseUrl: own.baseUrl };
}

async function readSetKey({ settings, api, context, environment }: KeySearch): Promise<string | undefined> {
  const { apiKey } = settings;
  if (apiKey === undefined || typeof apiKey === "string") return readKey(apiKey);
  const found = await resolveReference(apiKey, readConfig(api, context), environment);
  if (found !== undefined) return found;
  throw new SvcError(
    "credentials_missing",
    `The setting apiKey refers to a secret (${apiKey.source}) without a value.`,
    {
      field: "plugins.entries.svc.config.apiKey",
      hint: "Ask the user to provide the secret where OpenClaw runs, or to remove the setting and pair instead.",
    },
  );
}

/** A gateway resolves references before it starts plugins; a command of the host's command line does not. */
async function resolveReference(
  reference: SecretReference,
  config: HostConfig,
  { variables }: Environment,
): Promise<string | undefined> {
  const { resolveConfiguredSecretInputString: resolve } = (await loadSdk("secret-input-runtime")) ?? {};
  if (typeof resolve !== "function") return undefined;
  const path = "plugins.entries.svc.config.apiKey";
  const found: unknown = await resolve({ config, env: variables, value: reference, path });
  return isRecord(found) ? readKey(found.value) : undefined;
}

/** The helper of a tool's context answers for the agent that calls; elsewhere the host answers for its default agent. */
async function askHost({ context, api, environment }: KeySearch): Promise<string | undefined> {
  const ask = async () => {
    if (context?.resolveApiKeyForProvider !== undefined) return context.resolveApiKeyForProvider(PROVIDER_ID);
    if (api.registrationMode === "cli-metadata") return undefined;
    const wanted = { provider: PROVIDER_ID, cfg: readConfig(api, context) };
    return (await api.runtime.modelAuth?.resolveApiKeyForProvider(wanted))?.apiKey;
  };
  // The host throws when it has no key, and answers with a variable when it has no other.
  const key = readKey(await ask().catch(() => undefined));
  return key === environment.foreignKey ? undefined : key;
}

function readConfig(api: KeySearch["api"], context: HostToolContext | undefined): HostConfig {
  return context?.runtimeConfig ?? context?.config ?? api.config;
}

function readKey(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** A key with the address it goes to. */
export type AccountKey = FoundKey & { readonly baseUrl: string };

/**
 * Finds the key that applies, and the service it is for; undefined when there is none.
 *
 * @throws SvcError as {@link findApiKey}; `credentials_missing` for a stored key of another service than the one set
 */
export async function findAccountKey(
  search: KeySearch & { readonly settings: Pick<PluginSettings, "baseUrl"> },
): Promise<AccountKey | undefined> {
  const found = await findApiKey(search);
  return found && { ...found, baseUrl: chooseBaseUrl(search.settings.baseUrl, found) };
}

/** A key that a pairing left goes only to the service that issued it. */
function chooseBaseUrl(set: string | undefined, found: FoundKey): string {
  if (found.baseUrl === undefined || set === undefined) return set ?? found.baseUrl ?? DEFAULT_BASE_URL;
  if (set === found.baseUrl) return found.baseUrl;
  throw new SvcError("credentials_missing", `The stored key was issued by ${found.baseUrl}, not by ${set}.`, {
    field: "baseUrl",
    hint: `Pair with ${set} (openclaw svc pair), or set baseUrl back to ${found.baseUrl}.`,
  });
}

/** The refusal of a call without a key. */
export function missingKey({ foreignKey }: Environment): SvcError {
  const passedOver = " The SVC_API_KEY in the .env file of the folder OpenClaw was started in does not count.";
  const message = `svc is not paired with an account yet.${foreignKey === undefined ? "" : passedOver}`;
  return new SvcError("credentials_missing", message, {
    field: "apiKey",
    hint: ASK_TO_PAIR,
  });
}
