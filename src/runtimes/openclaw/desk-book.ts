import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Desk, OwnedDesk } from "./desk.ts";
import { listMediaPlaces } from "./media-places.ts";
import type { Places } from "./places.ts";
import type { PluginSettings } from "./plugin-settings.ts";
import { createResultSaver } from "./save-result-files.ts";

/** The open sessions, one per account. */
export interface DeskBook {
  /** The desk of this account, opened with these settings; an open one with other settings is closed when it is idle. */
  open(account: Account, settings: PluginSettings): Promise<Desk>;
  /** Keys in use, to be kept out of logs. */
  readonly secrets: readonly string[];
  /** Closes all desks, each when it is idle. */
  close(): Promise<void>;
}

/** Address and key. */
interface Account {
  readonly baseUrl: string;
  readonly apiKey: string;
}

interface Entry {
  readonly account: Account;
  readonly setup: string;
  readonly desk: Promise<OwnedDesk>;
}

/** More accounts than a host has agents with accounts of their own; the least recently used one is closed. */
const MOST = 16;

/** Creates the book; sessions keep their files below `places.state`, in a folder per account. */
export function createDeskBook(places: Places): DeskBook {
  const entries = new Map<string, Entry>();
  const retire = async (name: string, entry: Entry) => {
    if (entries.get(name) === entry) entries.delete(name);
    const desk = await entry.desk.catch(() => undefined);
    await desk?.retire();
  };
  const retireOldest = async () => {
    const [oldest] = entries;
    if (entries.size > MOST && oldest !== undefined) await retire(...oldest);
  };
  return {
    get secrets() {
      return [...entries.values()].map(({ account }) => account.apiKey);
    },
    async open(account, settings) {
      const name = nameAccount(account);
      const known = entries.get(name);
      const setup = JSON.stringify([settings.mediaRoots, settings.upload, settings.validation]);
      const entry = known?.setup === setup ? known : { account, setup, desk: openAccount(account, settings, places) };
      // Deleted first, so that the map stays in the order of last use.
      entries.delete(name);
      entries.set(name, entry);
      // Not waited for: a call may run in an old desk for as long as a human thinks about it.
      if (known !== undefined && known !== entry) void retire(name, known);
      void retireOldest();
      try {
        return await entry.desk;
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

async function openAccount(account: Account, settings: PluginSettings, places: Places): Promise<OwnedDesk> {
  const { openDesk } = await import("./open-desk.ts");
  return openDesk({
    ...account,
    stateDir: join(places.state, "accounts", nameAccount(account)),
    ...listMediaPlaces(places, settings.mediaRoots),
    receiveResult: createResultSaver(),
    upload: settings.upload,
    validation: settings.validation,
  });
}

/** Says nothing about the key, which has far more than 64 random bits. */
function nameAccount({ baseUrl, apiKey }: Account): string {
  return createHash("sha256").update(`${baseUrl}\n${apiKey}`).digest("hex").slice(0, 16);
}
