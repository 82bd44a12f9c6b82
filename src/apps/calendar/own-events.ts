import { setImmediate as takeBreath } from "node:timers/promises";
import { DAY_MS, type Zone } from "../../shared/base/zones.ts";
import type { AuthoredPart } from "../../shared/seen/evidence.ts";
import type { CollectionStore, StoredItem } from "../collections/collection-store.ts";
import { createAuthors } from "../port/authored.ts";
import type { JudgeContext } from "../port/integration.ts";
import { tellEvent } from "./authored-event.ts";
import { listAccountAddresses, readSettingZone } from "./calendar-settings.ts";
import { pickInstance, toPlace } from "./find-events.ts";
import { parseCalendarFile } from "./ics/calendar-file.ts";
import { describeDetails, summariseInstance } from "./ics/describe-event.ts";
import { repeats } from "./ics/instances.ts";
import type { Span } from "./time/read-time.ts";

/** How far back and ahead events are looked at. */
const SPAN_MS = 366 * DAY_MS;
const MAX_EVENTS = 5000;
/** Files that are read before others get their turn. */
const FILES_AT_ONCE = 50;

/** Addresses of the account, and its own events of the year before and after now, as `read_event` shows them. */
export async function* walkOwnEvents(
  store: CollectionStore,
  { connection, signal, now }: JudgeContext,
): AsyncGenerator<AuthoredPart, void, undefined> {
  const own = await listAccountAddresses(store, connection);
  if (own.size > 0) yield createAuthors("calendar").yours("account", { addresses: [...own] });
  const zone = readSettingZone(connection.settings);
  const span = { from: now() - SPAN_MS, to: now() + SPAN_MS };
  const { items } = await store.read(await store.list(), { span });
  let told = 0;
  for (const [index, item] of items.entries()) {
    if (index % FILES_AT_ONCE === 0) await takeBreath();
    for (const { part, isNear } of tellItem(item, { own, zone, span })) {
      if (signal.aborted || told >= MAX_EVENTS) return;
      if (part.source.whose !== "yours" || !isNear) continue;
      told += 1;
      yield part;
    }
  }
}

/** The events of a file; none of one that cannot be read. */
function tellItem(
  item: StoredItem,
  { own, zone, span }: { readonly own: ReadonlySet<string>; readonly zone: Zone; readonly span: Span },
) {
  try {
    const file = parseCalendarFile(item.bytes);
    return file.series.flatMap((series) => {
      const instance = pickInstance({ file, series }, { name: undefined, zone });
      const summary = summariseInstance(instance, { ...toPlace({ item, file, series }), zone, own });
      const parts = tellEvent({ ...summary, ...describeDetails(file, instance, { zone, own }) });
      // A store may give more than it was asked for; what repeats may have begun long ago.
      const isNear = instance.startsAt < span.to && (instance.endsAt > span.from || repeats(series));
      return parts.map((part) => ({ part, isNear }));
    });
  } catch {
    return [];
  }
}
