import { createId } from "../../auth/secrets.ts";
import type { ServiceLog } from "../../service-log.ts";
import type { Store } from "../../store/open-store.ts";
import { createHeartbeat } from "./heartbeat.ts";

/** This process among those that share a store. */
export interface Node {
  /** New with every start. */
  readonly id: string;
  /** False while the store could not be reached by the last sign of life. */
  isReachable(): boolean;
  /** Gives a sign of life now and does what is done with each; never rejects. */
  beat(): Promise<void>;
  /** Ids of the processes that live, this one included. */
  listAlive(): Promise<string[]>;
  /** Adds work for after each sign of life, and for the start of the beating. */
  onBeat(work: () => Promise<void>): void;
  /** Begins to beat, where others share the store. */
  start(): Promise<void>;
  /** Beats no more and tells the others at once. */
  close(): Promise<void>;
}

/** What a node is made of. */
export interface NodeOptions {
  readonly store: Store;
  /** True when other processes may use the store; otherwise whoever was there before is gone for certain. */
  readonly isShared: boolean;
  /** Milliseconds between two signs of life. One who gives none for three of them is dead. */
  readonly heartbeatMs: number;
  readonly now: () => number;
  readonly log: ServiceLog;
}

/** Enters this process into the store. */
export async function openNode({ store, isShared, heartbeatMs, now, log }: NodeOptions): Promise<Node> {
  const id = createId("node");
  const started_at = new Date(now()).toISOString();
  const works: (() => Promise<void>)[] = [];
  const { beat, listAlive, forgetOthers } = createHeartbeat({ store, id, started_at, now });
  let reachable = true;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let beating = Promise.resolve();

  if (!isShared) await store.deleteFrom("nodes").execute();
  await beat();

  async function round(): Promise<void> {
    try {
      if (isShared) await beat();
      for (const work of works) await work();
      if (!reachable) log({ level: "info", message: "The database can be reached again." });
      reachable = true;
    } catch (cause) {
      forgetOthers();
      if (reachable) log({ level: "warn", message: "A sign of life could not be given to the database.", cause });
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

  return {
    id,
    isReachable: () => reachable,
    beat: queueRound,
    listAlive,
    onBeat: (work) => void works.push(work),
    async start() {
      await queueRound();
      arm();
    },
    async close() {
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
