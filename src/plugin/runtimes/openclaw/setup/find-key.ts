import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Hex } from "../../../../shared/base/hash.ts";
import { isRecord, parseJson } from "../../../../shared/base/json.ts";
import { isSvcError, SvcError } from "../../../../shared/errors.ts";
import { isAway } from "../../../pairing/check-service.ts";
import { type HostApi, type HostConfig, PROVIDER_ID } from "../host/host-api.ts";
import type { HostToolContext } from "../host/host-tool.ts";
import { type LoadSdk, loadSdk } from "../host/load-sdk.ts";
import type { Places } from "../host/places.ts";
import { findDefaultAgent } from "./default-agent.ts";
import { DEFAULT_BASE_URL, type PluginSettings } from "./plugin-settings.ts";
import type { Environment } from "./read-environment.ts";

/** A key and where it came from. */
interface FoundKey {
  readonly apiKey: string;
  readonly source: "config" | "environment" | "host" | "file";
  /** The address that issued it, when a pairing of this host did; it must not be sent anywhere else. */
  readonly baseUrl?: string;
  /** The account that it continues, when it was paired after another key of the same owner. */
  readonly principal?: string | undefined;
}

/** A key with the address it goes to. */
export type AccountKey = FoundKey & { readonly baseUrl: string };

interface KeySearch {
  readonly settings: Pick<PluginSettings, "apiKey">;
  readonly environment: Environment;
  readonly places: Places;
  /** Where the call runs; undefined outside a call. */
  readonly context: HostToolContext | undefined;
  /** The registration whose host is asked. */
  readonly api: Pick<HostApi, "config" | "registrationMode" | "runtime">;
  /** Replaced in tests. */
  readonly load?: LoadSdk;
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
    if (origin === undefined) return { apiKey: kept, source: "host" };
    return { apiKey: kept, source: "host", baseUrl: origin.baseUrl, principal: origin.principal };
  }
  const { openCredentialStore } = await import("../../../pairing/credentials.ts");
  const own = await openCredentialStore(search.places.state).read();
  return own && { apiKey: own.apiKey, source: "file", baseUrl: own.baseUrl, principal: own.principal };
}

const SETTING = "plugins.entries.svc.config.apiKey";

/** A gateway resolves references before it starts plugins; a command of the host's command line does not. */
async function readSetKey({ settings, api, context, environment }: KeySearch): Promise<string | undefined> {
  const { apiKey } = settings;
  if (apiKey === undefined || typeof apiKey === "string") return readKey(apiKey);
  const { resolveConfiguredSecretInputString: resolve } = (await loadSdk("secret-input-runtime")) ?? {};
  const place = { config: readConfig(api, context), env: environment.variables, path: SETTING };
  const found: unknown = typeof resolve === "function" ? await resolve({ ...place, value: apiKey }) : undefined;
  const key = isRecord(found) ? readKey(found.value) : undefined;
  if (key !== undefined) return key;
  const message = `The setting apiKey refers to a secret (${apiKey.source}) without a value.`;
  throw new SvcError("credentials_missing", message, {
    field: SETTING,
    hint: "Ask the user to provide the secret where OpenClaw runs, or to remove the setting and pair instead.",
  });
}

/** The helper of a tool's context answers for the agent that calls; elsewhere the default agent is asked for. */
async function askHost({ context, api, environment, load }: KeySearch): Promise<string | undefined> {
  const ask = async () => {
    if (context?.resolveApiKeyForProvider !== undefined) return context.resolveApiKeyForProvider(PROVIDER_ID);
    if (api.registrationMode === "cli-metadata") return undefined;
    const wanted = { provider: PROVIDER_ID, cfg: readConfig(api, context) };
    const agent = await findDefaultAgent(wanted.cfg, load);
    if (agent?.folder === undefined) return (await api.runtime.modelAuth?.resolveApiKeyForProvider(wanted))?.apiKey;
    const { resolveApiKeyForProvider: resolve } = (await (load ?? loadSdk)("provider-auth-runtime")) ?? {};
    const found: unknown = typeof resolve === "function" && (await resolve({ ...wanted, agentDir: agent.folder }));
    return isRecord(found) ? found.apiKey : undefined;
  };
  // The host answers with a variable when it has no other.
  const key = readKey(await ask().catch(readAbsence));
  return key === environment.foreignKey ? undefined : key;
}

/** The host throws when it has no key; any other error of it says nothing about a key. */
function readAbsence(error: unknown): undefined {
  const { code, message } = error instanceof Error ? { code: undefined, ...error, message: error.message } : {};
  if (code === "missing-provider-auth" || message?.startsWith("No API key found for provider") === true) return;
  throw new SvcError("credentials_missing", `OpenClaw could not look for the key of svc: ${message ?? "?"}`, {
    field: "apiKey",
    hint: "Ask the user to run the command again; the key may be there.",
    cause: error,
  });
}

function readConfig(api: KeySearch["api"], context: HostToolContext | undefined): HostConfig {
  const given = context?.runtimeConfig ?? context?.config;
  return given ?? (api.registrationMode === "cli-metadata" ? api.config : api.runtime.config.current());
}

function readKey(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

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
  return new SvcError("credentials_missing", message, { field: "apiKey", hint: ASK_TO_PAIR });
}

/** Which service issued a key. Holds no secret. */
interface KeyOrigin {
  /** Origin and path, no trailing slash: the only address this key may be sent to. */
  readonly baseUrl: string;
  /** ISO time. */
  readonly pairedAt: string;
  /** Name of the key in the dashboard of the service. */
  readonly apiKeyId?: string;
  readonly deviceLabel?: string;
  /** The account that this key continues; undefined for one of its own. */
  readonly principal?: string | undefined;
}

/** The account of the last key that an agent was paired with at an address. Outlives the key; holds no secret. */
export interface KnownAccount {
  readonly baseUrl: string;
  readonly principal: string;
  /** Folder of the agent; empty where the host does not tell it. */
  readonly agentDir: string;
  /** Ids of the accounts its tools use on the service. */
  readonly connections: readonly string[];
}

type OriginPlace = Pick<Places, "state">;

/** Most pairings kept; the oldest are dropped. */
const MOST = 50;

/**
 * Where `apiKey` was issued, by the pairings of this host; undefined for a key that came another way. The host's store
 * keeps the key alone, so the address is kept beside it, under a hash of the key.
 */
export async function readKeyOrigin(place: OriginPlace, apiKey: string): Promise<KeyOrigin | undefined> {
  return (await readOrigins(place)).keys.get(nameKey(apiKey));
}

/** True when a pairing of this host has left a key that was not taken back since. */
export async function hasKeyOrigin(place: OriginPlace): Promise<boolean> {
  return (await readOrigins(place)).keys.size > 0;
}

/** The accounts that agents of this host were paired with, the latest last. */
export async function listKnownAccounts(place: OriginPlace): Promise<readonly KnownAccount[]> {
  return (await readOrigins(place)).accounts;
}

/** Remembers where `apiKey` was issued, and its account (file of mode 0600, replaced atomically). */
export async function rememberKeyOrigin(
  place: OriginPlace,
  apiKey: string,
  origin: KeyOrigin,
  account?: KnownAccount,
): Promise<void> {
  const { keys, accounts } = await readOrigins(place);
  keys.delete(nameKey(apiKey));
  keys.set(nameKey(apiKey), origin);
  const others = accounts.filter((one) => one.baseUrl !== account?.baseUrl || one.agentDir !== account.agentDir);
  await writeOrigins(place, { keys, accounts: account === undefined ? accounts : [...others, account] });
}

/** The service of `apiKey` has moved: the key goes to its new address, and other accounts there are known under it. */
export async function moveKeyOrigin(
  place: OriginPlace,
  apiKey: string,
  { before, baseUrl, principal }: { readonly before: string; readonly baseUrl: string; readonly principal: string },
): Promise<void> {
  const { keys, accounts } = await readOrigins(place);
  const origin = keys.get(nameKey(apiKey));
  if (origin === undefined) return;
  keys.set(nameKey(apiKey), { ...origin, baseUrl, principal });
  const moved = accounts.map((account) => (account.baseUrl === before ? { ...account, baseUrl } : account));
  await writeOrigins(place, { keys, accounts: moved });
}

/** Forgets where `apiKey` was issued, and not which account it was for; nothing happens when it is not known. */
export async function forgetKeyOrigin(place: OriginPlace, apiKey: string): Promise<void> {
  const origins = await readOrigins(place);
  if (origins.keys.delete(nameKey(apiKey))) await writeOrigins(place, origins);
}

/** A key has far more than 128 random bits, so its hash tells nothing about it. */
function nameKey(apiKey: string): string {
  return sha256Hex(`svc key origin\n${apiKey}`).slice(0, 32);
}

const findOrigins = ({ state }: OriginPlace) => join(state, "key-origins.json");

interface Origins {
  readonly keys: Map<string, KeyOrigin>;
  readonly accounts: readonly KnownAccount[];
}

async function writeOrigins(place: OriginPlace, { keys, accounts }: Origins): Promise<void> {
  const { replaceFile } = await import("../../../../shared/base/disk.ts");
  const kept = { version: 1, keys: Object.fromEntries([...keys].slice(-MOST)), accounts: accounts.slice(-MOST) };
  await replaceFile(findOrigins(place), `${JSON.stringify(kept, null, 2)}\n`);
}

/** A missing or damaged file knows no key. */
async function readOrigins(place: OriginPlace): Promise<Origins> {
  const content = parseJson(await readFile(findOrigins(place), "utf8").catch(() => ""));
  const { keys, accounts } = isRecord(content) && content.version === 1 ? content : {};
  const known = Object.entries(isRecord(keys) ? keys : {});
  return {
    keys: new Map(known.filter((entry): entry is [string, KeyOrigin] => isOrigin(entry[1]))),
    accounts: Array.isArray(accounts) ? accounts.filter(isKnownAccount) : [],
  };
}

function isOrigin(value: unknown): value is KeyOrigin {
  if (!isRecord(value) || typeof value.baseUrl !== "string" || typeof value.pairedAt !== "string") return false;
  return value.principal === undefined || isPrincipal(value.principal);
}

/** It names a folder, too. */
const isPrincipal = (value: unknown) => typeof value === "string" && /^[0-9a-f]{16}$/.test(value);

function isKnownAccount(value: unknown): value is KnownAccount {
  if (!isRecord(value) || !isPrincipal(value.principal) || !Array.isArray(value.connections)) return false;
  return typeof value.baseUrl === "string" && typeof value.agentDir === "string";
}

/** How a model says what the user has to do; there is no command `svc` in an OpenClaw. */
export const ASK_TO_PAIR =
  'Ask the user to pair it: "/login svc" in the chat, or "openclaw models auth login --provider svc --method pair" ' +
  'or "openclaw svc pair" in a terminal. Do not ask for the key itself.';

/** The error of a pairing with its next step in the message: the host shows nothing else. */
export function explainPairing<Failure>(error: Failure, baseUrl: string): Failure | SvcError {
  if (!isSvcError(error)) return error;
  const { code, message, hint } = error;
  const text = isAway(error)
    ? `No service answers at ${baseUrl}. ${explainAbsence(baseUrl)}`
    : [message, hint].filter(Boolean).join(" ");
  return new SvcError(code, text, { cause: error });
}

/** The next step when nothing answers at an address; `setBaseUrl` is the command that sets another one. */
export function explainAbsence(
  baseUrl: string,
  setBaseUrl = "openclaw config set plugins.entries.svc.config.baseUrl <address>",
): string {
  const isHere = /^https?:\/\/(?:localhost|127\.|\[::1\])/.test(baseUrl);
  const start = isHere ? "Start one there with `svc serve`" : "Check the address and the network";
  return `${start}, or set another address: ${setBaseUrl}`;
}
