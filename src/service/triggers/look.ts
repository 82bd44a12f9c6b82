import { z } from "zod";
import type { AppEvent, Found, Wanted, Watch } from "../../apps/port/integration.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import { describeRule, findRule } from "../access/rules.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { Connection } from "../connections/connection.ts";
import { findDefaultConnection } from "../connections/connections.ts";
import { checkConnection } from "../executions/choose-connection.ts";
import { runAction } from "../executions/run-action.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { Cursor, Trigger } from "./trigger.ts";
import { type TriggerParts, toRowTime } from "./trigger-parts.ts";
import { addEvents, requireLease } from "./write-events.ts";

/** What arrives late, or with a clock that is slow, by up to this many milliseconds is still new. */
const WINDOW_MS = 6 * 60 * 60 * 1000;
/** Events of one answer of an app, and answers of one look. */
const PAGE = 50;
const MAX_PAGES = 200;
/** Rows of one statement. */
const BATCH = 500;

/**
 * Looks into an app and writes down what is new, each thing once. The first look of a trigger only learns what is there.
 *
 * @throws ServiceError when the app cannot be asked; `LeaseLostError`.
 */
export async function lookForEvents(parts: TriggerParts, trigger: Trigger, signal: AbortSignal): Promise<void> {
  const { row, cursor } = trigger;
  const startedAt = parts.now();
  const since = (cursor.seenAt ?? startedAt) - WINDOW_MS;
  const app = await openApp(parts, trigger);
  const known = await readMarks(parts.store, row.id);
  const isKnown = (place: string) => known.has(markOf("place", place));
  let found: Found;
  let epoch = cursor.epoch;
  let isWhole = false;
  for (let page = 1; ; page += 1) {
    signal.throwIfAborted();
    found = await ask(parts, app, { ...wantedOf(trigger), since, limit: PAGE, isKnown }, signal);
    for (const { place } of found.events) known.add(markOf("place", place));
    await keep(parts, trigger, { found, since });
    epoch = found.events[0]?.epoch ?? epoch;
    isWhole = !found.more || found.events.length === 0;
    if (isWhole || page === MAX_PAGES) break;
  }
  const next: Cursor = { ...(epoch === undefined ? {} : { epoch }), seenAt: isWhole ? startedAt : cursor.seenAt };
  await finish(parts, trigger, { next, since, places: found.places });
}

interface WatchedApp {
  readonly watch: Watch;
  readonly entry: CatalogEntry;
  readonly connection: Connection;
}

/** The account that a trigger looks into, by the checks that the calls of agents pass. */
async function openApp({ access }: TriggerParts, { on, row }: Trigger): Promise<WatchedApp> {
  const view = await access.view({ apiKeyId: row.id });
  const apps = view.catalog.integrations.filter(({ watch }) => watch?.kind === on.kind);
  const own = (await Promise.all(apps.map(({ slug }) => view.connections.list(slug)))).flat();
  const named = "account" in on ? on.account : undefined;
  const connection = named === undefined ? findDefaultConnection(own) : own.find(({ id }) => id === named);
  const watch = apps.find(({ slug }) => slug === connection?.integration)?.watch;
  const entry = connection && watch && view.catalog.findAction(connection.integration, watch.like);
  if (connection === undefined || watch === undefined || entry === undefined) {
    const why =
      named === undefined ? "No account is connected, or none is the default." : "The account is not connected.";
    throw new ServiceError(409, "needs_connection", why, { type: "auth" });
  }
  const rule = findRule(view.rules, { entry, connectionId: connection.id, subject: row.id });
  if (rule !== undefined && rule.effect !== "allow") {
    throw new ServiceError(403, "blocked_by_rule", `A rule forbids to look: ${describeRule(rule)}.`, {
      type: "policy",
    });
  }
  checkConnection(entry, connection);
  return { watch, entry, connection };
}

function wantedOf({ on }: Trigger): Pick<Wanted, "query" | "folder"> {
  switch (on.kind) {
    case "mail":
      return { query: on.query, folder: "" };
    case "file":
      return { query: on.pattern, folder: on.folder };
    default:
      throw new Error(`A trigger of the kind ${on.kind} looks into no app.`);
  }
}

const foundSchema = z.object({
  events: z.array(
    z.object({
      id: z.string(),
      place: z.string(),
      at: z.number(),
      epoch: z.string().optional(),
      madeAt: z.number().optional(),
      values: z.record(z.string(), z.string()),
    }),
  ),
  more: z.boolean(),
  places: z.array(z.string()).optional(),
});

/** Asks the app as for a call of an agent, but without an entry in the log: a look each minute would hide the others. */
async function ask(parts: TriggerParts, app: WatchedApp, wanted: Wanted, signal: AbortSignal): Promise<Found> {
  const run: CatalogEntry["action"]["run"] = (_args, context) => app.watch.look(wanted, context);
  const entry = { ...app.entry, action: { ...app.entry.action, run } };
  const { connection } = app;
  const { value } = await runAction(parts, { entry, connection, args: {}, ...FILELESS, clientGone: signal });
  const { places, ...found } = foundSchema.parse(value);
  return places === undefined ? found : { ...found, places };
}

const FILELESS = {
  file(): never {
    throw new Error("A look has no files.");
  },
  keepFile: () => Promise.reject(new Error("A look keeps no files.")),
};

const markOf = (kind: "place" | "event", name: string) => sha256Hex(`${kind} ${name}`);

async function readMarks(store: Store, triggerId: string): Promise<Set<string>> {
  const rows = await store.selectFrom("trigger_marks").select("mark").where("trigger_id", "=", triggerId).execute();
  return new Set(rows.map(({ mark }) => mark));
}

interface Finds {
  readonly found: Found;
  readonly since: number;
}

/** Marks what was found as known, and makes events of what was not known before. */
async function keep(parts: TriggerParts, trigger: Trigger, { found, since }: Finds): Promise<void> {
  const { events, places } = found;
  const isFirst = trigger.cursor.seenAt === undefined;
  if (events.length === 0 && !(isFirst && places !== undefined)) return;
  await parts.store.transaction().execute(async (db) => {
    await requireLease(parts, db, trigger);
    const at = toRowTime(parts);
    if (isFirst && places !== undefined)
      await mark(
        db,
        trigger,
        places.map((place) => [markOf("place", place), at]),
      );
    const places_ = events.map((event): Mark => [markOf("place", event.place), toTime(event.at)]);
    const freshPlaces = await mark(db, trigger, places_);
    const ids = places === undefined ? events.map((event): Mark => [markOf("event", event.id), toTime(event.at)]) : [];
    const freshIds = await mark(db, trigger, ids);
    const isNew = (event: AppEvent) =>
      places === undefined ? freshIds.has(markOf("event", event.id)) : freshPlaces.has(markOf("place", event.place));
    const fresh = events.filter((event) => !isFirst && isNew(event) && !isOnlyRenumbered(trigger, event, since));
    await addEvents(
      parts,
      db,
      trigger,
      fresh.map(({ id, at, values }) => ({ key: id, at: toTime(at), values })),
    );
  });
}

/** After the app has numbered everything anew, what was written before the last look is no news, whatever its time now. */
function isOnlyRenumbered({ cursor }: Trigger, { epoch, madeAt }: AppEvent, since: number): boolean {
  const isRenumbered = cursor.epoch !== undefined && epoch !== undefined && epoch !== cursor.epoch;
  return isRenumbered && (madeAt === undefined || madeAt < since);
}

type Mark = readonly [mark: string, at: string];

/** Adds marks; the answer has those that are new. */
async function mark(db: Store, { row }: Trigger, marks: readonly Mark[]): Promise<Set<string>> {
  const added = new Set<string>();
  for (let from = 0; from < marks.length; from += BATCH) {
    const rows = marks.slice(from, from + BATCH).map(([mark, at]) => ({ trigger_id: row.id, mark, at }));
    const insert = db.insertInto("trigger_marks").values(rows);
    for (const one of await insert
      .onConflict((c) => c.doNothing())
      .returning("mark")
      .execute())
      added.add(one.mark);
  }
  return added;
}

/** Ends a look: moves the cursor on and forgets what no later look can find. */
async function finish(
  parts: TriggerParts,
  trigger: Trigger,
  { next, since, places }: { next: Cursor; since: number; places: readonly string[] | undefined },
): Promise<void> {
  const { id } = trigger.row;
  await parts.store.transaction().execute(async (db) => {
    await requireLease(parts, db, trigger);
    const own = db.deleteFrom("trigger_marks").where("trigger_id", "=", id);
    if (places === undefined) await own.where("at", "<", toTime(since)).execute();
    else await forgetPlaces(db, id, new Set(places.map((place) => markOf("place", place))));
    const change = { cursor: JSON.stringify(next), failures: 0, error: null };
    await db.updateTable("triggers").set(change).where("id", "=", id).execute();
  });
}

async function forgetPlaces(db: Store, id: string, there: ReadonlySet<string>): Promise<void> {
  const gone = [...(await readMarks(db, id))].filter((mark) => !there.has(mark));
  for (let from = 0; from < gone.length; from += BATCH) {
    const some = gone.slice(from, from + BATCH);
    await db.deleteFrom("trigger_marks").where("trigger_id", "=", id).where("mark", "in", some).execute();
  }
}

const toTime = (ms: number) => new Date(ms).toISOString();
