import { setImmediate as nextTurn } from "node:timers/promises";
import { sha256Hex } from "../../shared/base/hash.ts";
import { keepNewest } from "../../shared/base/newest.ts";
import { collectForms } from "../../shared/seen/collect-forms.ts";
import type { AuthoredPart, Evidence, SeenSource } from "../../shared/seen/evidence.ts";
import type { KnownPlaces } from "../../shared/seen/look-alikes.ts";
import { isOnlyNamed } from "../../shared/wire/origin.ts";
import type { Connection } from "../connections/connection.ts";
import { createDigestTable, type Digest } from "./digest-table.ts";
import { waitAtMost } from "./note-queue.ts";

/** Most forms of one account, and most addresses and hosts of it in clear. */
const MAX_FORMS = 200_000;
const MAX_KNOWN = 5000;
/** Accounts in memory. */
const MAX_ACCOUNTS = 32;
/** Longest walk of one account, in milliseconds. */
const WALK_MS = 20_000;
/** After this time an account is walked again, in milliseconds; after a failure, and where it was cut short, sooner. */
const FRESH_MS = 10 * 60 * 1000;
const RETRY_MS = 60 * 1000;
/** Longest work between two turns of the event loop, in milliseconds. */
const TURN_MS = 15;

/** Gives the parts of an account's own data to `use`, by reads alone, until the signal aborts. */
export type WalkOwn = (
  connection: Connection,
  signal: AbortSignal,
  use: (part: AuthoredPart) => Promise<void>,
) => Promise<void>;

/** The own data of some accounts. */
export interface OwnEvidence extends Evidence {
  /** Addresses and hosts in it, in clear. */
  readonly known: KnownPlaces;
  /** True where not everything of them could be looked at. */
  readonly isPartial: boolean;
}

/** The own data of the owner, of each account, in memory. */
export type OwnIndexes = ReturnType<typeof createOwnIndexes>;

interface OwnParts {
  readonly walk: WalkOwn;
  readonly digest: Digest;
  readonly now: () => number;
}

/** Creates the indexes of one process. Accounts are walked when they are asked for. */
export function createOwnIndexes(parts: OwnParts) {
  const kept = new Map<string, OwnAccount>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  const open = (connection: Connection) => {
    // Other settings are another account.
    const mark = sha256Hex(JSON.stringify([connection.settings, connection.scopes, connection.state]));
    return keepNewest(kept, `${connection.id} ${mark}`, MAX_ACCOUNTS, () => createAccount(parts));
  };

  return {
    /** The own data of these accounts, after at most so many milliseconds. */
    async read(connections: readonly Connection[], waitMs: number): Promise<OwnEvidence> {
      const accounts = connections.map((connection) => {
        const account = open(connection);
        const walk = account.refresh(connection, stopping.signal);
        if (walk !== undefined) {
          running.add(walk);
          void walk.finally(() => running.delete(walk));
        }
        return account;
      });
      await waitAtMost(Promise.all(accounts.map((account) => account.walking())), waitMs);
      return joinAccounts(accounts, parts.digest);
    },
    /** As far as they were looked at by now. */
    peek: (connections: readonly Connection[]): OwnEvidence => joinAccounts(connections.map(open), parts.digest),
    /** Lets the account be walked again, because something was written there. */
    touch(connectionId: string): void {
      for (const [key, account] of kept) if (key.startsWith(`${connectionId} `)) account.touch();
    },
    /** Ends all walks. */
    async close(): Promise<void> {
      stopping.abort();
      await Promise.allSettled(running);
    },
  };
}

type OwnAccount = ReturnType<typeof createAccount>;

function createAccount({ walk, digest, now }: OwnParts) {
  let ready: OwnValues | undefined;
  let growing: OwnValues | undefined;
  let walking: Promise<void> | undefined;
  let dueAt = 0;

  async function build(connection: Connection, stop: AbortSignal): Promise<void> {
    const values = createOwnValues(digest);
    growing = values;
    // What is written from now on is for the next walk.
    dueAt = now() + FRESH_MS;
    const signal = AbortSignal.any([stop, AbortSignal.timeout(WALK_MS)]);
    let turnEnds = performance.now() + TURN_MS;
    try {
      await walk(connection, signal, async (part) => {
        values.note(part);
        if (performance.now() < turnEnds) return;
        await nextTurn();
        turnEnds = performance.now() + TURN_MS;
      });
      if (signal.aborted) values.cutShort();
    } catch {
      // An account that cannot be opened now is looked at later.
      values.cutShort();
    }
    if (values.isPartial()) dueAt = Math.min(dueAt, now() + RETRY_MS);
    // One that could be looked at as a whole before is better than a part of it.
    if (ready === undefined || !values.isPartial()) ready = values;
    growing = undefined;
  }

  return {
    /** Begins a walk where one is due; undefined where none is. */
    refresh(connection: Connection, stop: AbortSignal): Promise<void> | undefined {
      if (walking !== undefined || now() < dueAt || stop.aborted) return undefined;
      walking = build(connection, stop).finally(() => {
        walking = undefined;
      });
      return walking;
    },
    walking: () => walking,
    touch: () => {
      dueAt = 0;
    },
    /** The last walk, or what the first one has found by now. */
    values: () => ready ?? growing,
    isPartial: () => ready?.isPartial() ?? true,
  };
}

type OwnValues = ReturnType<typeof createOwnValues>;

function createOwnValues(digest: Digest) {
  const table = createDigestTable();
  const sources: SeenSource[] = [];
  const known = { addresses: new Set<string>(), hosts: new Set<string>() };
  let isPartial = false;
  return {
    known,
    note({ source, content }: AuthoredPart): void {
      const at = sources.push(source) - 1;
      for (const form of collectForms(content)) {
        if (table.size >= MAX_FORMS) {
          isPartial = true;
          return;
        }
        table.add(digest(form), 0, at);
        if (form.startsWith(ADDRESS)) addKnown(known.addresses, form.slice(ADDRESS.length));
        else if (form.startsWith(HOST)) addKnown(known.hosts, form.slice(HOST.length));
      }
    },
    find(bytes: Uint8Array): SeenSource | undefined {
      return sources[table.find(bytes) ?? -1];
    },
    isPartial: () => isPartial,
    cutShort: () => {
      isPartial = true;
    },
  };
}

const ADDRESS = "address:";
const HOST = "host:";

function addKnown(known: Set<string>, value: string): void {
  if (known.size < MAX_KNOWN) known.add(value);
}

function joinAccounts(accounts: readonly OwnAccount[], digest: Digest): OwnEvidence {
  const all = accounts.flatMap((account) => account.values() ?? []);
  return {
    find(form) {
      const bytes = digest(form);
      const found = all.flatMap((values) => values.find(bytes) ?? []);
      return found.find((source) => !isOnlyNamed(source)) ?? found[0];
    },
    known: {
      addresses: all.flatMap(({ known }) => [...known.addresses]),
      hosts: all.flatMap(({ known }) => [...known.hosts]),
    },
    isPartial: accounts.some((account) => account.isPartial()),
  };
}
