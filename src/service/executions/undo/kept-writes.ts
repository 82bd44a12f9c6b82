import { sql } from "kysely";
import type { KeptWrite } from "../../../apps/port/undo.ts";
import { parseExactly } from "../../../shared/base/exact-number.ts";
import type { SecretBox } from "../../secrets/secret-box.ts";
import { inSoftTransaction, type Store } from "../../store/open-store.ts";
import type { KeptWriteRow } from "../../store/schema.ts";

/** How long a write can be taken back, in days. */
const UNDO_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Longest record of one write, in bytes of JSON: a larger one is not kept, and its write cannot be undone. */
const MAX_RECORD_BYTES = 8 * 1024 * 1024;

/** What one execution keeps. */
interface Keeping {
  /** See `ActionContext`. */
  keep(intent: unknown): Promise<void>;
  leave(after: unknown): void;
  /** Notes that it took effect, and how it left things. True when it was kept. Call it before its end is logged. */
  end(): Promise<boolean>;
  /** Forgets it: nothing was done. */
  drop(): Promise<void>;
}

/** A kept write and where it stands. */
interface FoundWrite extends KeptWrite {
  readonly state: KeptWriteRow["state"];
  /** ISO 8601. */
  readonly keptAt: string;
}

/** Records of writes, by which they are settled and undone. */
export type KeptWrites = ReturnType<typeof createKeptWrites>;

/** Until when what is kept at this moment can be undone, as ISO 8601. */
export function undoUntil(now: number): string {
  return new Date(now + UNDO_DAYS * DAY_MS).toISOString();
}

interface KeptParts {
  readonly store: Store;
  readonly box: SecretBox;
  readonly now: () => number;
  /** True where nothing is to be kept. */
  readonly isOff: boolean;
}

/** Opens the records of a store. */
export function createKeptWrites({ store, box, now, isOff }: KeptParts) {
  const seal = createRecordSeal(box);
  const change = (work: (transaction: Store) => Promise<unknown>) => inSoftTransaction(store, work);
  const set = (id: string, values: Partial<KeptWriteRow>) =>
    change((transaction) => transaction.updateTable("kept_writes").set(values).where("id", "=", id).execute());
  const drop = async (id: string) => {
    await change((transaction) => transaction.deleteFrom("kept_writes").where("id", "=", id).execute());
  };
  const add = async (id: string, intent: string) => {
    const kept_at = new Date(now()).toISOString();
    const row: KeptWriteRow = { id, state: "acting", intent, after: null, bytes: intent.length, kept_at };
    // An action runs once more where a refused access token was renewed: nothing had been done.
    await store
      .insertInto("kept_writes")
      .values(row)
      .onConflict((c) => c.column("id").doUpdateSet(row))
      .execute();
  };

  return {
    /** For an execution that is about to run. */
    open(id: string): Keeping {
      let isKept = false;
      let after: string | null = null;
      return {
        async keep(intent) {
          const sealed = isOff ? null : seal.close(id, "intent", intent);
          if (sealed !== null) await add(id, sealed);
          isKept = sealed !== null;
        },
        leave(left) {
          after = seal.close(id, "after", left);
        },
        async end() {
          if (isKept) await set(id, { state: "done", after });
          return isKept;
        },
        async drop() {
          if (isKept) await drop(id);
        },
      };
    },

    /** The record of an execution; undefined where there is none, or it was sealed with another key. */
    async find(executionId: string): Promise<FoundWrite | undefined> {
      const row = await store.selectFrom("kept_writes").selectAll().where("id", "=", executionId).executeTakeFirst();
      const intent = row && seal.open(row.id, "intent", row.intent);
      if (row === undefined || intent === undefined) return undefined;
      return { intent, after: seal.open(row.id, "after", row.after), state: row.state, keptAt: row.kept_at };
    },

    /** Where the record of an execution stands; its content stays closed. */
    async findState(executionId: string): Promise<Pick<FoundWrite, "state" | "keptAt"> | undefined> {
      return store
        .selectFrom("kept_writes")
        .select(["state", "kept_at as keptAt"])
        .where("id", "=", executionId)
        .executeTakeFirst();
    },

    listUnsettled: (nodeId: string) => listUnsettled(store, nodeId),

    /** Notes what was found out about a write, or that it was undone. */
    async settle(
      id: string,
      { state, after }: { readonly state: "done" | "lost" | "undone"; readonly after?: unknown },
    ): Promise<void> {
      await set(id, { state, ...(after !== undefined && { after: seal.close(id, "after", after) }) });
    },
    drop,
  };
}

/** Encrypts the parts of a record, each for its place. */
function createRecordSeal(box: SecretBox) {
  type Part = "intent" | "after";
  const place = (id: string, part: Part) => `kept_writes.${part}.${id}`;
  return {
    /** Null for a value that is too long. */
    close(id: string, part: Part, value: unknown): string | null {
      const json = JSON.stringify(value ?? null);
      return Buffer.byteLength(json) > MAX_RECORD_BYTES ? null : box.seal(json, place(id, part));
    },
    open(id: string, part: Part, sealed: string | null): unknown {
      const json = sealed === null ? undefined : box.open(sealed, place(id, part));
      return json === undefined ? undefined : parseExactly(json);
    },
  };
}

/**
 * Forgets what is too old to be undone, and the oldest above so many bytes; `time` as in `forgetExpired`.
 */
export async function forgetKeptWrites(store: Store, time: number, maxBytes: number): Promise<void> {
  await store
    .deleteFrom("kept_writes")
    .where("kept_at", "<", new Date(time - UNDO_DAYS * DAY_MS).toISOString())
    .execute();
  const { bytes } = await store
    .selectFrom("kept_writes")
    .select((e) => e.fn.sum<number | string | null>("bytes").as("bytes"))
    .executeTakeFirstOrThrow();
  let over = Number(bytes ?? 0) - maxBytes;
  while (over > 0) {
    const oldest = await store
      .selectFrom("kept_writes")
      .select(["id", "bytes"])
      .where("state", "!=", "acting")
      .orderBy("kept_at")
      .limit(MAX_LOOKS)
      .execute();
    const ids: string[] = [];
    for (const row of oldest) {
      if (over <= 0) break;
      ids.push(row.id);
      over -= row.bytes;
    }
    if (ids.length === 0) return;
    await store.deleteFrom("kept_writes").where("id", "in", ids).execute();
  }
}

/** Most writes that are looked for in one go. */
const MAX_LOOKS = 50;

/** Executions whose outcome is not known, and that can be looked for: those of this process, and of dead ones. */
function listUnsettled(store: Store, nodeId: string) {
  return (
    store
      .selectFrom("kept_writes")
      .innerJoin("executions", "executions.id", "kept_writes.id")
      .select(["executions.id", "executions.tool_name", "executions.connection_id", "executions.finished_at"])
      // Not as a parameter: only so is it the condition of the index.
      .where("kept_writes.state", "=", sql.lit("acting"))
      .where("executions.status", "=", "failed")
      .where((e) =>
        e.or([
          e("executions.node_id", "is", null),
          e("executions.node_id", "=", nodeId),
          e("executions.node_id", "not in", e.selectFrom("nodes").select("nodes.id")),
        ]),
      )
      .limit(MAX_LOOKS)
      .execute()
  );
}
