import { z } from "zod";
import { parseExactly } from "../../shared/base/exact-number.ts";
import { isRecord } from "../../shared/base/json.ts";
import { readWebhookSecret, verifyWebhook } from "../notify/standard-webhook.ts";
import { refuseBare, ServiceError } from "../service-error.ts";
import { openSecrets } from "./secrets.ts";
import { type EventValues, toTrigger } from "./trigger.ts";
import { type TriggerParts, toRowTime } from "./trigger-parts.ts";
import { addEvents } from "./write-events.ts";

/** Events of one trigger that may wait: a sender that is faster has to try again later. */
const MAX_WAITING = 1000;
const RETRY_AFTER_SECONDS = 30;
/** Facts that are taken from a body, and the longest name and value in characters. */
const MAX_VALUES = 30;
const MAX_NAME = 64;
const MAX_VALUE = 2000;

/** A webhook that arrived. */
export interface Hook {
  readonly id: string;
  readonly headers: Headers;
  readonly body: Buffer;
}

/**
 * Writes the event of a signed webhook down; false for one that is known already.
 *
 * @throws ServiceError bare: 401 for an unknown trigger and for everything that its secret has not signed within five
 *   minutes; 400 for a body that is no JSON object; 503 while the trigger is paused; 429 when they come too fast, or too many wait.
 */
export async function receiveHook(
  parts: TriggerParts & { readonly pace: Pace },
  { id, headers, body }: Hook,
): Promise<boolean> {
  const { store, box } = parts;
  const row = await store
    .selectFrom("triggers")
    .selectAll()
    .where("id", "=", id)
    .where("account_id", "=", parts.accountId)
    .where("kind", "=", "webhook")
    .executeTakeFirst();
  const secret = readWebhookSecret(row && openSecrets(box, row).hook);
  const key = secret && verifyWebhook(secret, { headers, body, now: parts.now() });
  if (row === undefined || key === undefined) throw refuseForged();
  if (row.paused_at !== null) {
    throw new ServiceError(503, "trigger_paused", "The owner has paused this trigger.", LATER);
  }
  if (!parts.pace(id)) throw tooMany("Webhooks of this trigger come too fast.");
  const values = readFacts(body);
  const waiting = store.selectFrom("trigger_events").select((e) => e.fn.countAll<number | string>().as("count"));
  const { count } = await waiting
    .where("trigger_id", "=", id)
    .where("status", "=", "pending")
    .executeTakeFirstOrThrow();
  if (Number(count) >= MAX_WAITING) throw tooMany(`${MAX_WAITING} events of this trigger wait.`);
  return store.transaction().execute(async (db) => {
    // Held to the end, so that nothing is left of a trigger that is deleted meanwhile.
    const held = await db.updateTable("triggers").set({ kind: "webhook" }).where("id", "=", id).executeTakeFirst();
    if (held.numUpdatedRows === 0n) throw refuseForged();
    const added = await addEvents(parts, db, toTrigger(row), [{ key: `hook ${key}`, at: toRowTime(parts), values }]);
    return added.length > 0;
  });
}

/** The same for a trigger that is not there: nobody learns which ones are. */
function refuseForged(): ServiceError {
  const message = "This webhook has no signature of its trigger's secret, or is older than five minutes.";
  return refuseBare(401, "invalid_signature", message);
}

const LATER = { bare: true, retryAfterSeconds: RETRY_AFTER_SECONDS } as const;

function tooMany(message: string): ServiceError {
  return new ServiceError(429, "too_many_events", message, LATER);
}

const bodySchema = z.looseObject({ type: z.string().optional(), data: z.unknown().optional() });

/** Texts and numbers of `data`, or else of the whole body, by name; everything else is left out. */
function readFacts(body: Buffer): EventValues {
  let sent: unknown;
  try {
    sent = parseExactly(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (cause) {
    throw refuseBare(400, "invalid_json", "The body is not valid JSON.", cause);
  }
  const read = bodySchema.safeParse(sent);
  if (!read.success) throw refuseBare(400, "invalid_body", "The body must be a JSON object.");
  const { type, data, ...rest } = read.data;
  const facts = Object.entries(isRecord(data) ? data : rest).flatMap(([name, value]) => {
    const isFact = ["string", "number", "boolean"].includes(typeof value) && name.length <= MAX_NAME;
    return isFact ? [[name, String(value).slice(0, MAX_VALUE)] as const] : [];
  });
  return {
    ...(type === undefined ? {} : { type: type.slice(0, MAX_VALUE) }),
    ...Object.fromEntries(facts.slice(0, MAX_VALUES)),
  };
}

/** Says whether one more may come now; counted for each name, in this process. */
type Pace = (name: string) => boolean;

/** Lets `burst` through at once, and from then on `perSecond`. `now` gives milliseconds since the epoch. */
export function createPace(o: { burst: number; perSecond: number; now: () => number }): Pace {
  const buckets = new Map<string, { left: number; at: number }>();
  return (name) => {
    const now = o.now();
    const { left, at } = buckets.get(name) ?? { left: o.burst, at: now };
    const filled = Math.min(o.burst, left + (Math.max(now - at, 0) / 1000) * o.perSecond);
    buckets.set(name, { left: Math.max(filled - 1, 0), at: now });
    return filled >= 1;
  };
}
