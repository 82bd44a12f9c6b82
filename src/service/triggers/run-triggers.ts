import { createGate, makeOnce } from "../../shared/base/concurrency.ts";
import type { TriggerEventRow } from "../store/schema.ts";
import { createAlarm } from "./alarm.ts";
import type { Attempt } from "./deliver.ts";
import { createEventQueue } from "./event-queue.ts";
import { claimDue, runDue } from "./run-due.ts";
import { toTrigger } from "./trigger.ts";
import type { TriggerParts } from "./trigger-parts.ts";

/** Looks, and deliveries, of this process at one time. */
const LOOKS = 4;
const DELIVERIES = 8;
/** Longest answer of a receiver, in milliseconds. */
const SILENCE_MS = 15_000;

/** Loads what acts; the owner chose the addresses: private ones are allowed. */
async function openSender() {
  const { createAppAgent } = await import("../fetch/guarded-connector.ts");
  const { explainFailure } = await import("../notify/post-json.ts");
  const { deliver } = await import("./deliver.ts");
  return { ...createAppAgent({ isPrivate: true, silenceMs: SILENCE_MS }), deliver, explainFailure };
}

/** Runs the triggers of a store. While there is none, there is no timer. */
export function createTriggerRunner(parts: TriggerParts) {
  const { store, node, log } = parts;
  const queue = createEventQueue(parts);
  const attempts = createAttempts(parts);
  const looks = createGate(LOOKS);
  const deliveries = createGate(DELIVERIES);
  const closing = new AbortController();
  const active = new Map<string, Promise<void>>();
  let isFailing = false;

  const report = (cause: unknown) => {
    if (!isFailing && !closing.signal.aborted) {
      log({ level: "warn", message: "Triggers could not be looked after.", cause });
    }
    isFailing = true;
  };
  const isFull = () => [...active.keys()].filter((id) => id.startsWith("evt_")).length >= DELIVERIES;

  /** Does work under an id, which nobody else does here meanwhile; looks again when it has ended. */
  function begin(id: string, work: () => Promise<void>): void {
    const end = () => {
      active.delete(id);
      alarm.ring();
    };
    active.set(id, work().catch(report).finally(end));
  }

  async function act(event: TriggerEventRow): Promise<void> {
    const attempt = await attempts.make(event, closing.signal);
    // It was cut off, and the next process repeats it.
    if (closing.signal.aborted && attempt.ok === false) return;
    await queue.settle(event, attempt);
    if (attempt.ok === false) {
      log({ level: "warn", message: `The trigger ${event.trigger_id} failed: ${attempt.reason}` });
    }
  }

  async function sweep(): Promise<void> {
    const alive = await node.listAlive();
    const ids = new Set(active.keys());
    for (const trigger of await claimDue(parts, alive, ids)) {
      begin(trigger.row.id, () => looks.run(() => runDue(parts, trigger, closing.signal)));
    }
    if (isFull()) return;
    for (const event of await queue.claim(alive, ids)) begin(event.id, () => deliveries.run(() => act(event)));
    isFailing = false;
  }

  async function findNext(): Promise<number | undefined> {
    const ids = [...active.keys()];
    const own = store
      .selectFrom("triggers")
      .select((e) => e.fn.min("due_at").as("at"))
      .where("paused_at", "is", null);
    const free = own
      .where((e) => e.or([e("leased_by", "is", null), e("leased_by", "=", node.id)]))
      .where("id", "not in", ["", ...ids]);
    // Each delivery that ends looks for the next ones.
    const times = [(await free.executeTakeFirst())?.at, isFull() ? undefined : await queue.findNext(ids)];
    const known = times.flatMap((at) => (at ? [Date.parse(at)] : []));
    return known.length === 0 ? undefined : Math.min(...known);
  }

  const alarm = createAlarm({ work: sweep, findNext, now: parts.now, report });
  // Other processes make triggers and leave work behind; a heartbeat must not wait for it.
  if (node.isShared) node.onBeat(async () => alarm.ring());
  return {
    /** Looks at what is due, now; call it after a change. */
    wake: () => alarm.ring(),
    /** Resolves when nothing is due or under way here any more. */
    async idle(): Promise<void> {
      while (alarm.current() !== undefined || active.size > 0) {
        await Promise.all([alarm.current(), ...active.values()]);
      }
    },
    /** Lets what is under way end; what waits is left for the next start. */
    async close(): Promise<void> {
      closing.abort();
      await alarm.close();
      await Promise.all(active.values());
      await attempts.close();
    },
  };
}

/** Acts on events. */
function createAttempts(parts: TriggerParts) {
  const getSender = makeOnce(openSender);
  return {
    /** One attempt; never throws for what the trigger or the other side does. */
    async make(event: TriggerEventRow, signal: AbortSignal): Promise<Attempt> {
      const own = parts.store.selectFrom("triggers").selectAll().where("id", "=", event.trigger_id);
      const row = await own.executeTakeFirst();
      if (row === undefined) return { ok: "gone" };
      const { dispatcher, deliver, explainFailure } = await getSender();
      try {
        return await deliver({ ...parts, dispatcher }, { trigger: toTrigger(row), event }, signal);
      } catch (error) {
        return { ok: false, reason: explainFailure(error) };
      }
    },
    async close(): Promise<void> {
      await (await getSender.peek())?.close();
    },
  };
}
