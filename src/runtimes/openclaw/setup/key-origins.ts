import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Hex } from "../../../base/hash.ts";
import { isRecord } from "../../../base/json.ts";
import type { Places } from "../host/places.ts";

/** Which service issued a key. Holds no secret. */
export interface KeyOrigin {
  /** Origin and path, no trailing slash: the only address this key may be sent to. */
  readonly baseUrl: string;
  /** ISO time. */
  readonly pairedAt: string;
  /** Name of the key in the dashboard of the service. */
  readonly apiKeyId?: string;
  readonly deviceLabel?: string;
}

type Origins = Readonly<Record<string, KeyOrigin>>;

/** More pairings than anybody remembers; the oldest give way. */
const MOST = 50;

/**
 * Where `apiKey` was issued, by the pairings of this host; undefined for a key that came another way. The host's store
 * keeps the key alone, so the address is kept beside it, under a hash of the key.
 */
export async function readKeyOrigin(places: Pick<Places, "state">, apiKey: string): Promise<KeyOrigin | undefined> {
  return (await readOrigins(places))[nameKey(apiKey)];
}

/** Remembers where `apiKey` was issued (file of mode 0600, replaced atomically). */
export async function rememberKeyOrigin(
  places: Pick<Places, "state">,
  apiKey: string,
  origin: KeyOrigin,
): Promise<void> {
  const name = nameKey(apiKey);
  const { [name]: _replaced, ...others } = await readOrigins(places);
  await write(places, Object.fromEntries([...Object.entries(others), [name, origin] as const].slice(-MOST)));
}

/** Forgets where `apiKey` was issued; nothing happens when it is not known. */
export async function forgetKeyOrigin(places: Pick<Places, "state">, apiKey: string): Promise<void> {
  const { [nameKey(apiKey)]: forgotten, ...others } = await readOrigins(places);
  if (forgotten !== undefined) await write(places, others);
}

async function write(places: Pick<Places, "state">, keys: Origins): Promise<void> {
  const { replaceFile } = await import("../../../base/disk.ts");
  await replaceFile(fileOf(places), `${JSON.stringify({ version: 1, keys }, null, 2)}\n`);
}

/** A key has far more than 128 random bits, so its hash tells nothing about it. */
function nameKey(apiKey: string): string {
  return sha256Hex(`svc key origin\n${apiKey}`).slice(0, 32);
}

function fileOf({ state }: Pick<Places, "state">): string {
  return join(state, "key-origins.json");
}

/** A missing or damaged file knows no key. */
async function readOrigins(places: Pick<Places, "state">): Promise<Origins> {
  try {
    const content: unknown = JSON.parse(await readFile(fileOf(places), "utf8"));
    const keys = isRecord(content) && content.version === 1 && isRecord(content.keys) ? content.keys : {};
    return Object.fromEntries(Object.entries(keys).filter((entry): entry is [string, KeyOrigin] => isOrigin(entry[1])));
  } catch {
    return {};
  }
}

function isOrigin(value: unknown): value is KeyOrigin {
  return isRecord(value) && typeof value.baseUrl === "string" && typeof value.pairedAt === "string";
}
