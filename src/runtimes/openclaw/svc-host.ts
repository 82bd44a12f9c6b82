import { redact } from "../../client/redact.ts";
import type { Books } from "./books.ts";
import type { Desk } from "./desk.ts";
import type { DeskBook } from "./desk-book.ts";
import type { AccountKey } from "./find-account-key.ts";
import type { HostApi } from "./host-api.ts";
import type { HostLogger } from "./host-config.ts";
import type { HostToolContext } from "./host-tool.ts";
import { createPlaces, type Places } from "./places.ts";
import { type PluginSettings, readPluginSettings } from "./plugin-settings.ts";
import { type Environment, readEnvironment } from "./read-environment.ts";

/** The host's log, with keys and tokens taken out. */
interface HostLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

/** What every registration of the plugin in this process shares. */
export interface SvcHost {
  readonly places: Places;
  /** Settings of the latest registration. Throws SvcError `invalid_config` naming the field. */
  settings(): PluginSettings;
  /** The key that applies in this context, with the address it goes to; undefined when there is none. */
  findKey(context: HostToolContext | undefined): Promise<AccountKey | undefined>;
  /**
   * The session of the account whose key applies in this context; one per account, opened on first use and shared.
   * Without a context, as in a chat command: the key of the host's default agent.
   *
   * @throws SvcError `credentials_missing` with the ways to pair, `invalid_config` for unusable settings
   */
  openDesk(context: HostToolContext | undefined): Promise<Desk>;
  /** What humans said and were shown. Loaded by the first call or command that needs it. */
  openBooks(): Promise<Books>;
  readonly log: HostLog;
  /** Closes every session as soon as no call runs in it; the next `openDesk` opens anew. */
  close(): Promise<void>;
}

/** Where registrations of one process meet: the host loads the plugin anew for each, from a copy it removes later. */
const SHARED = Symbol.for("svc-agent-plugin.openclaw");

/** A host together with the registration that owns it. */
interface SharedHost {
  readonly host: SvcHost;
  /** The copy of the plugin the host was made by: it must not be used after the host dropped that copy. */
  readonly code: symbol;
  readonly version: string | undefined;
  /** The books, once somebody has opened them; the next copy of the plugin takes them over. */
  readonly books: Promise<Books> | undefined;
  /** Owned by a registration that lasts, until the host drops it. */
  readonly isLasting: boolean;
  adopt(api: HostApi): void;
  leave(api: HostApi): Promise<void>;
}

const CODE = Symbol("svc host code");

/**
 * The shared host of this process and state folder, told of the latest registration. One that lasts replaces the host of
 * another copy of the plugin; one for a look at the plugin uses what is there.
 */
export function shareHost(api: HostApi, environment: Environment = readEnvironment()): SvcHost {
  const hosts = findHosts();
  const known = hosts.get(environment.stateDir);
  const isLasting = api.registrationMode === "full";
  if (known?.code === CODE) {
    known.adopt(api);
    return known.host;
  }
  if (known?.isLasting && !isLasting) return known.host;
  const made = createSharedHost(api, environment, known?.version === api.version ? known?.books : undefined);
  hosts.set(environment.stateDir, made);
  known?.host.close().catch((error: unknown) => made.host.log.warn(`Sessions could not be closed: ${String(error)}`));
  return made.host;
}

/**
 * Tells that the host program drops this registration: its sessions are closed, and the next registration starts anew
 * with the same books. Nothing happens when another registration has taken over.
 */
export async function leaveHost(host: SvcHost, api: HostApi): Promise<void> {
  for (const shared of findHosts().values()) if (shared.host === host) await shared.leave(api);
}

function findHosts(): Map<string, SharedHost> {
  const holder: typeof globalThis & { [SHARED]?: Map<string, SharedHost> } = globalThis;
  holder[SHARED] ??= new Map();
  return holder[SHARED];
}

/** The books and how they are opened: loaded once, or taken over from the copy of the plugin before. */
function createShelf(inherited: Promise<Books> | undefined) {
  let books = inherited;
  const open = async (): Promise<Books> => {
    books ??= import("./books.ts").then(({ createBooks }) => createBooks());
    const opening = books;
    try {
      return await opening;
    } catch (error) {
      // The host may have removed the copy of the plugin that loads them; this one can still try.
      if (books === opening) books = undefined;
      if (opening === inherited) return open();
      throw error;
    }
  };
  return {
    open,
    get books() {
      return books;
    },
  };
}

/** `current` is the latest registration. */
function createHost(current: () => HostApi, environment: Environment, openBooks: SvcHost["openBooks"]): SvcHost {
  const places = createPlaces(environment.stateDir, environment.mediaDir);
  /** Made by the first call: only then is loaded what it needs. */
  let desks: DeskBook | undefined;
  const settings = () => readPluginSettings(current().pluginConfig, environment);
  const findKey: SvcHost["findKey"] = async (context) => {
    const { findAccountKey } = await import("./find-account-key.ts");
    return findAccountKey({ settings: settings(), environment, places, context, api: current() });
  };
  return {
    places,
    settings,
    findKey,
    async openDesk(context) {
      const found = await findKey(context);
      if (found === undefined) throw (await import("./find-account-key.ts")).missingKey(environment);
      const { createDeskBook } = await import("./desk-book.ts");
      desks ??= createDeskBook(places);
      return desks.open(found, settings());
    },
    openBooks,
    log: createHostLog(
      () => current().logger,
      () => desks?.secrets ?? [],
    ),
    close: async () => desks?.close(),
  };
}

function createSharedHost(first: HostApi, environment: Environment, inherited: Promise<Books> | undefined): SharedHost {
  let api = first;
  let isLasting = first.registrationMode === "full";
  const shelf = createShelf(inherited);
  const host = createHost(() => api, environment, shelf.open);
  return {
    host,
    code: CODE,
    version: first.version,
    get books() {
      return shelf.books;
    },
    get isLasting() {
      return isLasting;
    },
    adopt(next) {
      if (isLasting && next.registrationMode !== "full") return;
      api = next;
      isLasting = next.registrationMode === "full";
    },
    async leave(left) {
      if (left !== api) return;
      isLasting = false;
      await host.close();
    },
  };
}

/** Logs through the host's current logger. `listSecrets` gives texts that are taken out whatever they look like. */
function createHostLog(getLogger: () => HostLogger, listSecrets: () => readonly string[]): HostLog {
  const clean = (message: string) => redact(message, listSecrets());
  return {
    info: (message) => getLogger().info(clean(message)),
    warn: (message) => getLogger().warn(clean(message)),
    error: (message) => getLogger().error(clean(message)),
  };
}
