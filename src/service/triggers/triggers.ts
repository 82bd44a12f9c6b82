import { createId } from "../../shared/base/ids.ts";
import { ServiceError } from "../service-error.ts";
import { type Store, takeTurn } from "../store/open-store.ts";
import type { TriggerEventRow, TriggerRow } from "../store/schema.ts";
import { lookForEvents } from "./look.ts";
import { createPace, receiveHook } from "./receive-hook.ts";
import { explainLook } from "./run-due.ts";
import { createTriggerRunner } from "./run-triggers.ts";
import { checkSchedule, nextRun } from "./schedule.ts";
import { makeSecrets, openSecrets, sealSecrets, type TriggerSecrets } from "./secrets.ts";
import { readValues, toFlowStart } from "./to-flow-start.ts";
import { type EventValues, type Trigger, type TriggerContent, toTrigger } from "./trigger.ts";
import { type TriggerParts, toRowTime } from "./trigger-parts.ts";
import { addEvents } from "./write-events.ts";

/** The owner's triggers. */
export type Triggers = ReturnType<typeof openTriggers>;

/** Most triggers of an account: each look costs an app something. */
const MAX_TRIGGERS = 500;
/** Webhooks of one trigger that one process takes. */
const PACE = { burst: 300, perSecond: 10 } as const;
/** Events of one trigger that its page shows. */
const SHOWN = 20;

/** A trigger as its owner makes it. */
export interface NewTrigger {
  readonly content: TriggerContent;
  /** Access token of the hooks of an OpenClaw gateway; empty for anything else. */
  readonly token: string;
  /** Name of its author. */
  readonly by: string;
}

/** What became of the events of a trigger. */
export interface TriggerEvent {
  readonly row: TriggerEventRow;
  readonly values: EventValues;
}

/** Opens the triggers and runs them from now on. */
export function openTriggers(parts: TriggerParts) {
  const { store, box, accountId } = parts;
  const runner = createTriggerRunner(parts);
  const ofAccount = () => store.selectFrom("triggers").selectAll().where("account_id", "=", accountId);
  const read = async (id: string): Promise<Trigger> => {
    const row = await ofAccount().where("id", "=", id).executeTakeFirst();
    if (row === undefined)
      throw new ServiceError(404, "unknown_trigger", "There is no such trigger, or it is deleted.");
    return toTrigger(row);
  };
  const change = async (id: string, set: Partial<TriggerRow>): Promise<void> => {
    await store.updateTable("triggers").set(set).where("id", "=", id).where("account_id", "=", accountId).execute();
    runner.wake();
  };
  const pace = createPace({ ...PACE, now: parts.now });
  runner.wake();
  return {
    /** The oldest first. */
    list: async (): Promise<Trigger[]> => (await ofAccount().orderBy("made_at").orderBy("id").execute()).map(toTrigger),
    /** @throws ServiceError 404. */
    read,
    /** The events of each trigger that has some, by the id of the trigger. */
    summariseEvents: () => summariseEvents(store),
    /** The latest events of a trigger. */
    async listEvents(id: string): Promise<TriggerEvent[]> {
      const own = store.selectFrom("trigger_events").selectAll().where("trigger_id", "=", id);
      const rows = await own.orderBy("at", "desc").orderBy("id", "desc").limit(SHOWN).execute();
      return rows.map((row) => ({ row, values: readValues(row) }));
    },
    /**
     * Makes a trigger; only what comes later counts. One that looks into an app looks at once, to learn what is there.
     *
     * @returns it, with the secrets that were made: they are shown once.
     * @throws ServiceError when the app cannot be asked, or the flow could not be started; there is no trigger act.
     */
    async make(made: NewTrigger): Promise<{ trigger: Trigger; secrets: TriggerSecrets }> {
      const { row, secrets } = await writeNew(parts, made);
      const trigger = toTrigger(row);
      await learn(parts, trigger).catch(async (error: unknown) => {
        await removeTrigger(store, row.id);
        throw error;
      });
      runner.wake();
      return { trigger: await read(row.id), secrets };
    },
    /** Nothing happens while it is paused; events that wait do so until it goes on. */
    pause: (id: string) => change(id, { paused_at: toRowTime(parts) }),
    /**
     * Lets it go on. What came while it was paused does not count.
     *
     * @returns false when its app cannot be asked: it stays paused, and its row says why.
     * @throws ServiceError 404.
     */
    async resume(id: string): Promise<boolean> {
      const { row } = await read(id);
      if (row.paused_at === null) return true;
      const fresh = { cursor: "{}", leased_by: parts.node.id, failures: 0, error: null, note: null };
      await store.updateTable("triggers").set(fresh).where("id", "=", id).execute();
      const trigger = await read(id);
      try {
        await learn(parts, trigger);
      } catch (error) {
        await change(id, { leased_by: null, failures: 1, error: explainLook(parts, error) });
        return false;
      }
      await change(id, { paused_at: null });
      return true;
    },
    /**
     * Acts as for an event, now; its facts are empty but for the time.
     *
     * @param press names the press of the button: the same one acts once.
     * @throws ServiceError 404.
     */
    async runNow(id: string, press: string): Promise<void> {
      const trigger = await read(id);
      const at = toRowTime(parts);
      await addEvents(parts, store, trigger, [{ key: `now ${press}`, at, values: { at } }]);
      runner.wake();
    },
    /** Events that wait are dropped with it; flows that it started go on. */
    remove: (id: string) => removeTrigger(store, id),
    /** Takes a webhook, see {@link receiveHook}. */
    receive: async (hook: Parameters<typeof receiveHook>[1]) => {
      const isNew = await receiveHook({ ...parts, pace }, hook);
      if (isNew) runner.wake();
      return isNew;
    },
    /** False when the secrets of a trigger cannot be read: their key is lost. */
    hasSecrets: ({ row }: Trigger) => row.secrets === null || Object.keys(openSecrets(box, row)).length > 0,
    /** Looks at what is due, now. Otherwise done by a timer. */
    wake: () => runner.wake(),
    /** Resolves when nothing is due or under way in this process. */
    idle: () => runner.idle(),
    close: () => runner.close(),
  };
}

/** The refusal of what the owner typed into a field: 400, with its name in `extra`. */
function refuseField(field: string, text: string): ServiceError {
  return new ServiceError(400, "invalid_trigger", text, { type: "validation", extra: { field } });
}

async function writeNew(parts: TriggerParts, { content, token, by }: NewTrigger) {
  const id = createId("trg");
  const { on, act } = content;
  const problem = on.kind === "schedule" ? await checkSchedule(on) : undefined;
  if (problem !== undefined) throw refuseField(problem.field, problem.text);
  const probe = Object.fromEntries(Object.values(act.does === "flow" ? act.take : {}).map((name) => [name, "event"]));
  if (act.does === "flow") await parts.flows.check(toFlowStart(parts, { row: { id }, on, act }, probe));
  const secrets = makeSecrets(content, token);
  const row: TriggerRow = {
    id,
    account_id: parts.accountId,
    name: content.name,
    content: JSON.stringify({ on, act }),
    kind: on.kind,
    secrets: sealSecrets(parts.box, id, secrets),
    made_by: by,
    made_at: toRowTime(parts),
    paused_at: null,
    // One that is cut off before it knows what is there learns it then.
    due_at: await findFirstTime(parts, content),
    leased_by: looksIntoApp(content) ? parts.node.id : null,
    cursor: "{}",
    failures: 0,
    error: null,
    note: null,
  };
  await parts.store.transaction().execute(async (db) => {
    await takeTurn(db, "triggers");
    const counted = db.selectFrom("triggers").select((e) => e.fn.countAll<number | string>().as("count"));
    if (Number((await counted.executeTakeFirstOrThrow()).count) >= MAX_TRIGGERS) {
      throw new ServiceError(409, "too_many_triggers", `There are ${MAX_TRIGGERS} triggers: delete one first.`);
    }
    await db.insertInto("triggers").values(row).execute();
  });
  return { row, secrets };
}

const looksIntoApp = ({ on }: Pick<TriggerContent, "on">) => on.kind === "mail" || on.kind === "file";

/** The next run, or the next look; null for a trigger that has none. */
async function findFirstTime(parts: TriggerParts, { on }: Pick<TriggerContent, "on">): Promise<string | null> {
  if (on.kind === "webhook") return null;
  if (on.kind !== "schedule") return toRowTime(parts, parts.lookEveryMs);
  const next = await nextRun(on, parts.now());
  return next === undefined ? null : new Date(next).toISOString();
}

/** Learns what is in the app now, and plans the next time. @throws ServiceError when the app cannot be asked. */
async function learn(parts: TriggerParts, trigger: Trigger): Promise<void> {
  if (looksIntoApp(trigger)) await lookForEvents(parts, trigger, AbortSignal.timeout(parts.providerTimeoutMs));
  const plan = { due_at: await findFirstTime(parts, trigger), leased_by: null };
  await parts.store.updateTable("triggers").set(plan).where("id", "=", trigger.row.id).execute();
}

/** The events of a trigger in numbers. */
export interface EventSummary {
  /** When the latest took place. */
  readonly last: string;
  /** Those whose attempts fail, and those that were given up. */
  readonly failing: number;
  readonly failed: number;
}

async function summariseEvents(store: Store): Promise<ReadonlyMap<string, EventSummary>> {
  // By each trigger: the events of all of them may be very many.
  const rows = await store
    .selectFrom("triggers")
    .select((e) => {
      const own = e.selectFrom("trigger_events").whereRef("trigger_id", "=", "triggers.id");
      const counted = own.select(e.fn.countAll<number | string>().as("count"));
      return [
        "id",
        own.select((one) => one.fn.max("at").as("at")).as("last"),
        counted.where("status", "=", "failed").as("failed"),
        counted.where("status", "=", "pending").where("attempts", ">", 0).as("failing"),
      ];
    })
    .execute();
  const known = rows.flatMap(({ id, last, failed, failing }) =>
    last === null ? [] : [[id, { last, failed: Number(failed), failing: Number(failing) }] as const],
  );
  return new Map(known);
}

async function removeTrigger(store: Store, id: string): Promise<void> {
  await store.transaction().execute(async (db) => {
    await db.deleteFrom("triggers").where("id", "=", id).execute();
    for (const table of ["trigger_marks", "trigger_events"] as const) {
      await db.deleteFrom(table).where("trigger_id", "=", id).execute();
    }
  });
}
