import type { Store } from "../../store/open-store.ts";

/** Looks at another process without a new sign of life, after which it is dead: the third missing sign is one of the own. */
const MISSED_BEATS = 2;

/** Signs of life in a store. */
export interface Heartbeat {
  /** Gives a sign of life and removes processes that gave none for long enough. */
  beat(): Promise<void>;
  /** Ids of the processes that live. */
  listAlive(): Promise<string[]>;
  /** Begins to watch the others anew: while the store was away, nobody could give a sign. */
  forgetOthers(): void;
}

/**
 * Creates the signs of life of one process. Others are judged by whether their count goes on between own signs of
 * life, so that neither clocks have to agree nor an outage of the store looks like the death of those it cut off.
 */
export function createHeartbeat(o: { store: Store; id: string; started_at: string; now: () => number }): Heartbeat {
  const { store, id } = o;
  const others = new Map<string, { beats: number; missed: number }>();

  async function bury(): Promise<void> {
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

  return {
    async beat() {
      const last_seen_at = new Date(o.now()).toISOString();
      await store
        .insertInto("nodes")
        .values({ id, beats: 0, started_at: o.started_at, last_seen_at })
        .onConflict((c) => c.column("id").doUpdateSet((e) => ({ beats: e("nodes.beats", "+", 1), last_seen_at })))
        .execute();
      await bury();
    },
    async listAlive() {
      const nodes = await store.selectFrom("nodes").select("id").execute();
      return nodes.map((node) => node.id);
    },
    forgetOthers: () => others.clear(),
  };
}
