import { z } from "zod";
import { createId } from "../../shared/base/ids.ts";
import type { SeenSource } from "../../shared/seen/evidence.ts";
import type { Principal } from "../auth/api-keys.ts";
import { hasLostAccess } from "../auth/live-caller.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import { inSoftTransaction, type Store } from "../store/open-store.ts";
import type { SeenValuesRow } from "../store/schema.ts";
import { DIGEST_BYTES, packDigests } from "./digest-table.ts";

/** How long values are kept, in days. */
const KEPT_DAYS = 7;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Most values of one key. */
export const MAX_VALUES = 200_000;
/** What stays when a key has more, so that not every further value makes room for itself. */
const KEPT_VALUES = 180_000;

/** See `seen_values`. */
export type SeenKind = SeenValuesRow["kind"];

/** Values of one source that are new to a key. */
export interface SeenPart {
  readonly principal: Principal;
  readonly kind: SeenKind;
  readonly source: SeenSource;
  readonly digests: readonly Uint8Array[];
}

/** A row with its digests; the source is opened when it is needed. */
export type FoundRow = Pick<SeenValuesRow, "id" | "seen_at" | "kind" | "source" | "digests">;

const sourceSchema = z.object({
  whose: z.enum(["yours", "somebody"]),
  app: z.string(),
  kind: z.string(),
  by: z.string().optional(),
  title: z.string().optional(),
  at: z.string().optional(),
});

/** The kept values of a store. */
export type SeenRows = ReturnType<typeof openSeenRows>;

/** Opens the kept values. `now` gives milliseconds since the epoch. */
export function openSeenRows({ store, box, now }: { store: Store; box: SecretBox; now: () => number }) {
  return {
    /** Writes parts together; a power cut may undo it. */
    async add(parts: readonly SeenPart[]): Promise<void> {
      const seen_at = new Date(now()).toISOString();
      const rows = parts.map(({ principal, kind, source, digests }): SeenValuesRow => {
        const id = createId("seen");
        return {
          id,
          account_id: principal.accountId,
          api_key_id: principal.apiKeyId,
          seen_at,
          kind,
          source: box.seal(JSON.stringify(source), placeOf(id)),
          digests: packDigests(digests),
          count: digests.length,
        };
      });
      await inSoftTransaction(store, async (transaction) => {
        for (const row of rows) await transaction.insertInto("seen_values").values(row).execute();
      });
    },

    /** Rows of a key that are young enough, the first seen first, but for those that are known; `after`: ISO 8601. */
    async list(apiKeyId: string, after: string, known: ReadonlyMap<string, unknown>): Promise<FoundRow[]> {
      const oldest = findOldest(now());
      const found = await store
        .selectFrom("seen_values")
        .select("id")
        .where("api_key_id", "=", apiKeyId)
        .where("seen_at", ">=", after > oldest ? after : oldest)
        .orderBy("seen_at")
        .orderBy("id")
        .execute();
      const rows: FoundRow[] = [];
      const wanted = found.filter(({ id }) => !known.has(id)).map(({ id }) => id);
      for (let at = 0; at < wanted.length; at += BATCH) {
        const some = store
          .selectFrom("seen_values")
          .select(["id", "seen_at", "kind", "source", "digests"])
          .where("id", "in", wanted.slice(at, at + BATCH))
          .orderBy("seen_at")
          .orderBy("id");
        rows.push(...(await some.execute()));
      }
      return rows;
    },

    /** The source of a row; undefined where it was sealed with another key. */
    openSource({ id, source }: Pick<FoundRow, "id" | "source">): SeenSource | undefined {
      const json = box.open(source, placeOf(id));
      return json === undefined ? undefined : sourceSchema.safeParse(JSON.parse(json)).data;
    },

    /** Forgets the oldest rows of a key with too many values. */
    trim: (apiKeyId: string) => trimKey(store, apiKeyId, MAX_VALUES),
  };
}

/** Rows in one statement. */
const BATCH = 200;

function placeOf(id: string): string {
  return `seen_values.${id}`;
}

function findOldest(time: number): string {
  return new Date(Math.max(0, time - KEPT_DAYS * DAY_MS)).toISOString();
}

async function trimKey(store: Store, apiKeyId: string, most: number): Promise<void> {
  const ofKey = store.selectFrom("seen_values").where("api_key_id", "=", apiKeyId);
  const rows = await ofKey.select(["id", "count"]).orderBy("seen_at", "desc").orderBy("id", "desc").execute();
  if (rows.reduce((sum, { count }) => sum + count, 0) <= most) return;
  let left = KEPT_VALUES;
  const gone = rows.filter(({ count }) => {
    left -= count;
    return left < 0;
  });
  for (let at = 0; at < gone.length; at += BATCH) {
    const ids = gone.slice(at, at + BATCH).map(({ id }) => id);
    await inSoftTransaction(store, (transaction) =>
      transaction.deleteFrom("seen_values").where("id", "in", ids).execute(),
    );
  }
}

/**
 * Forgets values after seven days, those above the limit of a key, and those of keys that have ended; `time` as in
 * `forgetExpired`.
 */
export async function forgetSeen(store: Store, time: number): Promise<void> {
  await store.deleteFrom("seen_values").where("seen_at", "<", findOldest(time)).execute();
  const keys = await store
    .selectFrom("seen_values")
    .select((e) => ["api_key_id", e.fn.sum<number | string>("count").as("count")])
    .groupBy("api_key_id")
    .execute();
  for (const { api_key_id: id, count } of keys) {
    const isOver = await hasLostAccess(store, id, new Date(time).toISOString());
    if (isOver) await store.deleteFrom("seen_values").where("api_key_id", "=", id).execute();
    else if (Number(count) > MAX_VALUES) await trimKey(store, id, MAX_VALUES);
  }
}

/** Digests of a row, by their places. */
export function countDigests({ digests }: Pick<FoundRow, "digests">): number {
  return Math.floor(digests.length / DIGEST_BYTES);
}
