import { keepNewest } from "../../shared/base/newest.ts";
import type { Origin } from "../../shared/wire/origin.ts";
import type { Access } from "../access/access-view.ts";
import type { Principal } from "../auth/api-keys.ts";
import { createSecret } from "../auth/secrets.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { Connection } from "../connections/connection.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { ServiceKeys } from "../secrets/service-keys.ts";
import type { ServiceLog } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import { findCarried, findLeaks, mayLeak } from "./carried-values.ts";
import { createDigest, type Digest } from "./digest-table.ts";
import type { CallFile } from "./file-texts.ts";
import { judgeValues, type KnownValues } from "./judge-origins.ts";
import { createNoteQueue, waitAtMost } from "./note-queue.ts";
import { type EndedCall, findNewValues, hashAnswer } from "./note-results.ts";
import { createOwnIndexes, type OwnIndexes, type WalkOwn } from "./own-index.ts";
import { createSeenIndexes, type SeenIndexes } from "./seen-index.ts";
import { openSeenRows, type SeenPart, type SeenRows } from "./seen-rows.ts";

/** Where the values of a call come from. */
export interface JudgedOrigins {
  readonly origins: readonly Origin[];
  /** True where not all of the owner's data could be looked at: what is `unseen` may stand in the rest. */
  readonly isPartial: boolean;
}

/** A call that is judged. */
interface JudgedCall {
  readonly principal: Principal;
  readonly args: Readonly<Record<string, unknown>>;
  readonly said: readonly string[];
  readFiles(): Promise<readonly CallFile[]>;
}

/** Remembers what answers of tools held, and says where the values of calls come from. */
export interface Seen {
  /** Notes what a call brought, later and beside everything else. Never throws. */
  note(call: EndedCall): void;
  /** In at most four seconds. Undefined where it could not be found out; never throws. */
  judge(call: JudgedCall): Promise<JudgedOrigins | undefined>;
  /** Resolves when everything is noted. */
  idle(): Promise<void>;
  /** Ends walks through the owner's data, once everything is noted. */
  close(): Promise<void>;
}

interface SeenParts {
  readonly store: Store;
  readonly box: SecretBox;
  readonly serviceKeys: ServiceKeys;
  readonly access: Pick<Access, "show">;
  readonly walk: WalkOwn;
  /** Marks the row of a read that took something of somebody else to its app. */
  markRead(executionId: string, carries: string): Promise<void>;
  readonly now: () => number;
  readonly log: ServiceLog;
}

/** Name of the key of the digests. */
const KEY_NAME = "seen-values";
/** Longest waits of a judgement, in milliseconds: for what is being noted, for the owner's data, and for all of it. */
const NOTING_MS = 1500;
const OWN_MS = 2500;
const JUDGING_MS = 4000;
/** Answers that are known to hold nothing new, and for how long, in milliseconds. */
const MAX_EQUAL = 500;
const EQUAL_MS = 60 * 60 * 1000;

/** Opens what was seen by the keys of a store. */
export async function openSeen(parts: SeenParts): Promise<Seen> {
  const digest = createDigest(await parts.serviceKeys.read(KEY_NAME, createSecret));
  return createSeen(parts, digest);
}

/** The same with a key of its own. */
export function createSeen(parts: SeenParts, digest: Digest): Seen {
  const own = createOwnIndexes({ ...parts, digest });
  const rows = openSeenRows(parts);
  const indexes = createSeenIndexes(rows, parts.now);
  const noting = createNoting(parts, { own, rows, indexes, digest });
  const queue = createNoteQueue<EndedCall>((call) =>
    noting(call).catch(tell(parts, "What a tool answered could not be noted.")),
  );

  async function judge({ principal, args, said, readFiles }: JudgedCall): Promise<JudgedOrigins> {
    const isNoted = await waitAtMost(queue.settle(), NOTING_MS);
    const accounts = await listAccounts(parts.access, principal);
    const [index, mine, files] = await Promise.all([
      indexes.read(principal.apiKeyId),
      own.read(accounts, OWN_MS),
      readFiles(),
    ]);
    const origins = judgeValues({ args, files, said }, { index, own: mine, digest });
    return { origins, isPartial: mine.isPartial || !isNoted };
  }

  return {
    note: queue.add,
    async judge(call) {
      const judging = judge(call).catch(tell(parts, "Where the values of a call come from could not be found out."));
      return (await waitAtMost(judging, JUDGING_MS)) ? judging : undefined;
    },
    idle: queue.settle,
    async close() {
      await queue.settle();
      await own.close();
    },
  };
}

function tell({ log }: SeenParts, message: string) {
  return (cause: unknown): undefined => {
    log({ level: "error", message, cause });
  };
}

interface Memory {
  readonly own: OwnIndexes;
  readonly rows: SeenRows;
  readonly indexes: SeenIndexes;
  readonly digest: Digest;
}

/** Notes one call after another. */
function createNoting(parts: SeenParts, { own, rows, indexes, digest }: Memory) {
  const answers = createAnswers(parts.now);
  /** As far as it is in memory: for a write, as it was before. */
  const readKnown = async (principal: Principal): Promise<KnownValues> => {
    const accounts = await listAccounts(parts.access, principal);
    return { index: await indexes.read(principal.apiKeyId), own: own.peek(accounts), digest };
  };

  async function find(call: EndedCall): Promise<SeenPart[]> {
    const { principal, args, said, connection, error, entry } = call;
    if (entry.action.level === "read") {
      const leaks = mayLeak(args) ? findLeaks(args, await readKnown(principal)) : [];
      if (leaks.length > 0) await parts.markRead(call.executionId, JSON.stringify(leaks));
      if (answers.isKnown(call)) return [];
      const found = await findNewValues(call, { index: await indexes.read(principal.apiKeyId), digest });
      // A write may follow what somebody else wrote: by then the owner's data is looked through.
      if (found.some(({ kind }) => kind === "seen")) await own.read(await listAccounts(parts.access, principal), 0);
      return found;
    }
    const known = await readKnown(principal);
    own.touch(connection.id);
    const carried =
      error === undefined ? findCarried(principal, { args, said, files: await call.readFiles() }, known) : [];
    return [...carried, ...(await findNewValues(call, known))];
  }

  return async (call: EndedCall): Promise<void> => {
    const found = await find(call);
    if (found.length > 0) await rows.add(found);
  };
}

/** Remembers answers in which there is nothing new. */
function createAnswers(now: () => number) {
  const known = new Map<string, number>();
  return {
    isKnown(call: EndedCall): boolean {
      const hash = hashAnswer(call);
      const at = keepNewest(known, hash, MAX_EQUAL, () => 0);
      if (now() - at < EQUAL_MS) return true;
      known.set(hash, now());
      return false;
    },
  };
}

/** Accounts with own data that this caller may read; it is told nothing of others. */
async function listAccounts(access: SeenParts["access"], principal: Principal): Promise<Connection[]> {
  const { catalog, connections } = await access.show(principal);
  const readable = new Set(
    catalog.integrations
      .filter(({ slug, ownValues }) => ownValues !== undefined && catalog.listEntries(slug).some(isRead))
      .map(({ slug }) => slug),
  );
  return (await connections.list()).filter(({ integration }) => readable.has(integration));
}

function isRead({ action }: CatalogEntry): boolean {
  return action.level === "read";
}
