import { sql } from "kysely";
import type { KeyScopes } from "../../../shared/wire/key-scopes.ts";
import { inSoftTransaction, type Store, takeTurn } from "../../store/open-store.ts";
import type { Grants } from "../grants.ts";

/** Sessions of each kind that may wait for the owner at one time. */
export const MAX_WAITING = 500;

/** Everything that anybody may start: its table, the key column, and the condition of rows that wait. */
const KINDS = {
  pairing: { table: "pairing_sessions", key: "token_hash", waits: sql<boolean>`status = 'awaiting_approval'` },
  bootstrap: { table: "bootstrap_sessions", key: "approval_hash", waits: sql<boolean>`status = 'awaiting_approval'` },
  client: { table: "oauth_records", key: "id_hash", waits: sql<boolean>`model = 'Client'` },
  authorization: { table: "oauth_records", key: "id_hash", waits: sql<boolean>`model = 'Interaction'` },
} as const;

/**
 * Adds a session that anybody may start. Nobody is refused, because a limit that refuses lets a stranger lock everybody
 * out: of {@link MAX_WAITING} sessions, the oldest one that the owner has not opened is dropped.
 */
export async function addWaiting(
  store: Store,
  { kind, now }: { kind: keyof typeof KINDS; now: number },
  insert: (transaction: Store) => Promise<unknown>,
): Promise<void> {
  const { table, key, waits } = KINDS[kind];
  // A power cut may lose a session: its client starts another.
  await inSoftTransaction(store, async (transaction) => {
    await takeTurn(transaction, kind);
    const waiting = transaction.selectFrom(table).where(waits).where("expires_at", ">", new Date(now).toISOString());
    const { count } = await waiting.select((e) => e.fn.countAll().as("count")).executeTakeFirstOrThrow();
    if (Number(count) >= MAX_WAITING) {
      const oldest = waiting.select(key).where("opened_at", "is", null).orderBy("created_at").limit(1);
      // The outer conditions spare a session that the owner opens at this moment.
      await transaction
        .deleteFrom(table)
        .where(waits)
        .where("opened_at", "is", null)
        .where(key, "in", oldest)
        .execute();
    }
    await insert(transaction);
  });
}

/** Notes that the owner has seen a session: from now on it is never dropped for another. */
export async function markOpened(
  store: Store,
  { kind, hash, now }: { kind: keyof typeof KINDS; hash: string; now: number },
): Promise<void> {
  const { table, key, waits } = KINDS[kind];
  await store
    .updateTable(table)
    .set({ opened_at: new Date(now).toISOString() })
    .where(waits)
    .where(key, "=", hash)
    .where("opened_at", "is", null)
    .execute();
}

/** The owner's decision on a session. */
export interface KeyDecision {
  readonly accountId: string;
  readonly decision: "approve" | "decline";
  /** Rights of the key when it is approved. */
  readonly scopes: KeyScopes;
}

/**
 * Carries out a decision, by the hash of the token of the page; false when the session no longer waits at `now`. The
 * approval and its grant are one transaction: the key of a session never has another.
 */
export async function decideWaiting(
  { store, grants }: { store: Store; grants: Grants },
  o: KeyDecision & { kind: "pairing" | "bootstrap"; hash: string; now: number },
): Promise<boolean> {
  const { table, key, waits } = KINDS[o.kind];
  const at = new Date(o.now).toISOString();
  const set =
    o.decision === "approve"
      ? ({ status: "approved", account_id: o.accountId, decided_at: at, scopes: JSON.stringify(o.scopes) } as const)
      : ({ status: "denied", account_id: null, decided_at: at } as const);
  return store.transaction().execute(async (transaction) => {
    const result = await transaction
      .updateTable(table)
      .set(set)
      .where(key, "=", o.hash)
      .where(waits)
      .where("expires_at", ">", at)
      .executeTakeFirst();
    const isDecided = result.numUpdatedRows > 0n;
    if (isDecided && o.decision === "approve") await grants.write(o.hash, o.scopes, { db: transaction });
    return isDecided;
  });
}

/** Status at a time, in milliseconds since the epoch: a session that is still open past its end is `expired`. */
export function readSessionStatus<Status extends string>(
  { status, expires_at }: { readonly status: Status; readonly expires_at: string },
  now: number,
): Status | "expired" {
  const isOpen = status === "awaiting_approval" || status === "approved";
  return isOpen && Date.parse(expires_at) <= now ? "expired" : status;
}
