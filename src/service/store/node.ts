import { createId } from "../../shared/base/ids.ts";
import type { ServiceLog } from "../service-error.ts";
import type { Store } from "./open-store.ts";

/** This process among those that share a store. */
export type Node = Awaited<ReturnType<typeof openNode>>;

interface NodeOptions {
  readonly store: Store;
  /** True when other processes may use the store; otherwise every earlier process is gone for certain. */
  readonly isShared: boolean;
  /** Milliseconds between two heartbeats. A process that misses three of them is dead. */
  readonly heartbeatMs: number;
  readonly log: ServiceLog;
}

/** Own heartbeats without one of another process, after which that one is dead: the third missing one is our own. */
const MISSED_BEATS = 2;

/**
 * Enters this process into the store. Others are judged by whether their count goes on between own heartbeats, so that
 * neither clocks have to agree nor an outage of the store looks like the death of those it cut off.
 */
export async function openNode({ store, isShared, heartbeatMs, log }: NodeOptions) {
  const id = createId("node");
  const others = new Map<string, { beats: number; missed: number }>();
  const works: (() => Promise<void>)[] = [];
  let reachable = true;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let beating = Promise.resolve();

  /** Tells the others that this process lives. */
  async function enter(db: Store): Promise<void> {
    await db
      .insertInto("nodes")
      .values({ id, beats: 0 })
      .onConflict((c) => c.column("id").doUpdateSet((e) => ({ beats: e("nodes.beats", "+", 1) })))
      .execute();
  }

  /** The same, and removes those that are dead. */
  async function beat(): Promise<void> {
    await enter(store);
    for (const node of await store.selectFrom("nodes").select(["id", "beats"]).where("id", "!=", id).execute()) {
      const before = others.get(node.id);
      const missed = before?.beats === node.beats ? before.missed + 1 : 0;
      others.set(node.id, { beats: node.beats, missed });
      if (missed < MISSED_BEATS) continue;
      others.delete(node.id);
      // Only as it was seen: it may have come back this moment.
      await store.deleteFrom("nodes").where("id", "=", node.id).where("beats", "=", node.beats).execute();
    }
  }

  async function round(): Promise<void> {
    try {
      if (isShared) await beat();
      for (const work of works) await work();
      if (!reachable) log({ level: "info", message: "The database can be reached again." });
      reachable = true;
    } catch (cause) {
      // While the store was away, nobody could beat.
      others.clear();
      if (reachable) log({ level: "warn", message: "Heartbeat failed.", cause });
      reachable = false;
    }
  }

  const queueRound = () => {
    beating = beating.then(round);
    return beating;
  };
  const arm = () => {
    if (isShared && !isClosed) timer = setTimeout(() => void queueRound().then(arm), heartbeatMs).unref();
  };

  if (isShared) await beat();
  else
    await store.transaction().execute(async (transaction) => {
      await transaction.deleteFrom("nodes").execute();
      await enter(transaction);
    });
  return {
    /** New with every start. */
    id,
    isShared,
    /** False while the store could not be reached by the last heartbeat. */
    isReachable: () => reachable,
    /** Sends a heartbeat now and does the work of each; never rejects. */
    beat: queueRound,
    /** Ids of the processes that live, this one included. */
    listAlive: async () => (await store.selectFrom("nodes").select("id").execute()).map((node) => node.id),
    /** Adds work for after each heartbeat, and for the start. */
    onBeat: (work: () => Promise<void>) => void works.push(work),
    /** Starts the heartbeat, if the store is shared. */
    async start(): Promise<void> {
      await queueRound();
      arm();
    },
    /** Stops the heartbeat and tells the others at once. */
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await queueRound();
      await store
        .deleteFrom("nodes")
        .where("id", "=", id)
        .execute()
        .catch((cause) => log({ level: "warn", message: "The database was not told of the stop.", cause }));
    },
  };
}
