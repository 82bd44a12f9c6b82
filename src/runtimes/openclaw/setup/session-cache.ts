import { join } from "node:path";
import { sha256Hex } from "../../../base/hash.ts";
import { listMediaPlaces } from "../files/media-places.ts";
import { createResultSaver } from "../files/save-result-files.ts";
import type { Places } from "../host/places.ts";
import type { AccountSession, OwnedAccountSession } from "./account-session.ts";
import type { PluginSettings } from "./plugin-settings.ts";

/** The open sessions, one per account. */
export interface SessionCache {
  /** The account of this account, opened with these settings; an open one with other settings is closed when it is idle. */
  open(key: Key, settings: PluginSettings): Promise<AccountSession>;
  /** Keys in use, to be kept out of logs. */
  readonly secrets: readonly string[];
  /** Closes all sessions, each when it is idle. */
  close(): Promise<void>;
}

/** Address and key. */
interface Key {
  readonly baseUrl: string;
  readonly apiKey: string;
}

interface Entry {
  readonly key: Key;
  readonly setup: string;
  readonly account: Promise<OwnedAccountSession>;
}

/** More accounts than a host has agents with accounts of their own; the least recently used one is closed. */
const MOST = 16;

/** Sessions keep their files below `places.state`, in a folder per account. */
export function createSessionCache(places: Places): SessionCache {
  const entries = new Map<string, Entry>();
  const retire = async (name: string, entry: Entry) => {
    if (entries.get(name) === entry) entries.delete(name);
    const account = await entry.account.catch(() => undefined);
    await account?.retire();
  };
  const retireOldest = async () => {
    const [oldest] = entries;
    if (entries.size > MOST && oldest !== undefined) await retire(...oldest);
  };
  return {
    get secrets() {
      return [...entries.values()].map(({ key }) => key.apiKey);
    },
    async open(key, settings) {
      const name = nameKey(key);
      const known = entries.get(name);
      const setup = JSON.stringify([settings.mediaRoots, settings.upload, settings.validation]);
      const entry = known?.setup === setup ? known : { key, setup, account: openEntry(key, settings, places) };
      // Deleted first, so that the map stays in the order of last use.
      entries.delete(name);
      entries.set(name, entry);
      // Not waited for: a call may run in an old account for as long as a human thinks about it.
      if (known !== undefined && known !== entry) void retire(name, known);
      void retireOldest();
      try {
        return await entry.account;
      } catch (error) {
        await retire(name, entry);
        throw error;
      }
    },
    async close() {
      await Promise.all([...entries].map(([name, entry]) => retire(name, entry)));
    },
  };
}

async function openEntry(key: Key, settings: PluginSettings, places: Places): Promise<OwnedAccountSession> {
  const { openAccount } = await import("./account-session.ts");
  return openAccount({
    ...key,
    stateDir: join(places.state, "accounts", nameKey(key)),
    ...listMediaPlaces(places, settings.mediaRoots),
    receiveResult: createResultSaver(),
    upload: settings.upload,
    validation: settings.validation,
  });
}

/** Says nothing about the key, which has far more than 64 random bits. */
function nameKey({ baseUrl, apiKey }: Key): string {
  return sha256Hex(`${baseUrl}\n${apiKey}`).slice(0, 16);
}
