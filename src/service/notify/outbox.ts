import { createId } from "../../shared/base/ids.ts";
import { type Store, takeTurn } from "../store/open-store.ts";
import type { NoteRow, NoteTargetRow } from "../store/schema.ts";
import type { Target } from "./targets.ts";

/** Shortest time between two messages to a target: requests that come meanwhile go into one. */
const BUNDLE_MS = 60_000;
/** Pauses after failures in a row, in milliseconds; the last one repeats. */
const PAUSES_MS = [5_000, 20_000, 80_000, 320_000, 1_200_000] as const;
/** A note that could not be sent for so long is given up, in milliseconds. */
const GIVE_UP_MS = 6 * 60 * 60 * 1000;
/** Failures in a row after which the owner is told on the home page. */
const TOLD_FAILURES = 3;

/** One message to one target: the notes that it bundles. */
export interface Message {
  /** The same however often it is sent. */
  readonly id: string;
  /** Ids of the waiting requests, the oldest first; each once. */
  readonly subjects: readonly string[];
}

/** How sending ended. */
export type Sent =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** One sentence; no topic, no secret. */
      readonly reason: string;
      /** The target wants no more notes. */
      readonly isGone?: boolean;
      readonly retryAfterSeconds?: number | undefined;
    };

interface OutboxParts {
  readonly store: Store;
  readonly targets: readonly Target[];
  /** Id of this process among `nodes`. */
  readonly nodeId: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Notes that wait to be sent. */
export type Outbox = ReturnType<typeof createOutbox>;

/** Opens the outbox of a process. */
export function createOutbox({ store, targets, nodeId, now }: OutboxParts) {
  const at = (offset = 0) => new Date(now() + offset).toISOString();
  let wake = () => {};

  async function claim({ key }: Target): Promise<Message | undefined> {
    return store.transaction().execute(async (db) => {
      await takeTurn(db, "notes");
      const target = await findTarget(db, key);
      if (target !== undefined && (target.next_at > at() || (await isLeased(db, target)))) return undefined;
      if (target?.is_gone) await db.deleteFrom("notes").where("target", "=", key).execute();
      const notes = await selectWaiting(db, key, at());
      const isSent = ({ message_id }: NoteRow) => message_id !== null && message_id === target?.message_id;
      // A message that may have arrived already is repeated as it was, without decided requests.
      const repeated = notes.filter(isSent);
      const chosen = repeated.length > 0 ? repeated : notes;
      if (chosen.length === 0) return undefined;
      const id = repeated.length > 0 ? (target?.message_id ?? "") : createId("msg");
      const ids = chosen.map((note) => note.id);
      await db.updateTable("notes").set({ message_id: id }).where("id", "in", ids).execute();
      await putTarget(db, key, { message_id: id, leased_by: nodeId });
      return { id, subjects: [...new Set(chosen.map(({ subject }) => subject))] };
    });
  }

  /** A target of a process that died is free again. */
  async function isLeased(db: Store, { leased_by }: NoteTargetRow): Promise<boolean> {
    if (leased_by === null || leased_by === nodeId) return false;
    const node = db.selectFrom("nodes").select("id").where("id", "=", leased_by);
    return (await node.executeTakeFirst()) !== undefined;
  }

  async function settle({ key }: Target, message: Message, sent: Sent): Promise<void> {
    await store.transaction().execute(async (db) => {
      await takeTurn(db, "notes");
      const own = db.deleteFrom("notes").where("target", "=", key);
      if (sent.ok) {
        await own.where("message_id", "=", message.id).execute();
        await putTarget(db, key, { ...WORKING, next_at: at(BUNDLE_MS) });
        return;
      }
      const failures = ((await findTarget(db, key))?.failures ?? 0) + 1;
      const pause = Math.max(PAUSES_MS[failures - 1] ?? PAUSES_MS[4], (sent.retryAfterSeconds ?? 0) * 1000);
      const next_at = at(Math.min(pause, GIVE_UP_MS));
      const is_gone = sent.isGone ? 1 : 0;
      await putTarget(db, key, { leased_by: null, failures, next_at, is_gone, error: sent.reason });
      await (sent.isGone ? own : own.where("created_at", "<", at(-GIVE_UP_MS))).execute();
    });
  }

  return {
    /** Notes that an approval or a flow waits for the owner from now on, in the transaction that lets it wait. */
    async add(transaction: Store, id: string): Promise<void> {
      const rows = targets.map(({ key }) => ({
        id: createId("note"),
        target: key,
        subject: id,
        created_at: at(),
        message_id: null,
      }));
      if (rows.length > 0) await transaction.insertInto("notes").values(rows).execute();
    },
    /** Says that such a transaction has ended. */
    wake: () => wake(),
    /** Hears of it, in this process. */
    onWake(listener: () => void): void {
      wake = listener;
    },
    /** Takes the next message of a target, which belongs to this process until it is settled; undefined when none is due. */
    claim,
    /** Removes a message that arrived, or plans its repetition. */
    settle,
    /** True for a target with notes. */
    async hasNotes({ key }: Target): Promise<boolean> {
      const notes = store.selectFrom("notes").select("id").where("target", "=", key).limit(1);
      return (await notes.executeTakeFirst()) !== undefined;
    },
    /** Ends the state of a target that failed, because a test note has arrived. */
    revive: ({ key }: Target) => putTarget(store, key, { ...WORKING, next_at: at() }),
    /** States of targets that the owner should know of, by key. */
    async listFailing(): Promise<NoteTargetRow[]> {
      const rows = await store.selectFrom("note_targets").selectAll().where("error", "is not", null).execute();
      return rows.filter(({ failures, is_gone }) => is_gone === 1 || failures >= TOLD_FAILURES);
    },
  };
}

const WORKING = { message_id: null, leased_by: null, failures: 0, is_gone: 0, error: null };

function findTarget(db: Store, key: string): Promise<NoteTargetRow | undefined> {
  return db.selectFrom("note_targets").selectAll().where("target", "=", key).executeTakeFirst();
}

async function putTarget(db: Store, target: string, change: Partial<NoteTargetRow>): Promise<void> {
  await db
    .insertInto("note_targets")
    .values({ ...WORKING, next_at: "", target, ...change })
    .onConflict((conflict) => conflict.column("target").doUpdateSet(change))
    .execute();
}

/** Notes of a target about requests that still wait; the others are removed. */
async function selectWaiting(db: Store, key: string, at: string): Promise<NoteRow[]> {
  await db
    .deleteFrom("notes")
    .where("target", "=", key)
    .where((e) => {
      const calls = e.selectFrom("approvals").select("id").whereRef("id", "=", "notes.subject");
      const flows = e.selectFrom("flows").select("id").whereRef("id", "=", "notes.subject");
      // A timed wait has a `wake_at`; an approval has none.
      const waiting = flows.where("status", "=", "waiting").where("wake_at", "is", null);
      const pending = calls.where("status", "=", "pending").where("expires_at", ">", at);
      return e.not(e.or([e.exists(pending), e.exists(waiting)]));
    })
    .execute();
  return db.selectFrom("notes").selectAll().where("target", "=", key).orderBy("created_at").orderBy("id").execute();
}
