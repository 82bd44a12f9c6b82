import { setImmediate as takeBreath } from "node:timers/promises";
import { toOneLine } from "../../../base/text.ts";
import type { Zone } from "../../../base/zones.ts";
import { refuseMissing, refuseValue } from "../../service-error.ts";
import { findCollection } from "../collections/choose-collection.ts";
import { type CollectionStore, refuseUnreadable, type StoredItem } from "../collections/collection-store.ts";
import type { AgendaSpan, EventTarget } from "./agenda.ts";
import { type CalendarFile, parseCalendarFile, type Series } from "./ics/calendar-file.ts";
import { readTitle } from "./ics/describe-event.ts";
import { findInstance, type Instance, listInstances, repeats } from "./ics/instances.ts";
import { readFirstMoment } from "./ics/moment.ts";
import { readGivenTime, type Span } from "./time/read-time.ts";

/** Steps of the rule of one event: each hour of a range. */
const MAX_STEPS = 10_000;
/** Instances of one call: some tenths of a second. */
const MAX_FOUND = 20_000;
/** Files that are read before others get their turn. */
const FILES_AT_ONCE = 50;
/** Characters between the id of an item and the UID of one of its events, where it has several. */
const UID_MARK = "#";

/** An event, and the file of a calendar that has it. */
export interface FoundEvent {
  readonly item: StoredItem;
  readonly file: CalendarFile;
  readonly series: Series;
}

/** Ids of an event and of its calendar. */
export function toPlace({ item, file, series }: FoundEvent) {
  const eventId = file.series.length > 1 ? `${item.id}${UID_MARK}${series.uid}` : item.id;
  return { eventId, calendarId: item.collection.id };
}

/** All instances of a span, in the order of time. */
export async function findInstances(
  store: CollectionStore,
  given: Pick<AgendaSpan, "calendars">,
  { span, zone, signal }: { readonly span: Span; readonly zone: Zone; readonly signal: AbortSignal },
) {
  const all = await store.list();
  const calendars = given.calendars?.map((name) => findCollection(all, name, "calendar")) ?? all;
  const { items, left } = await store.read([...new Map(calendars.map((one) => [one.id, one])).values()], {
    span,
  });
  const found: (FoundEvent & { instance: Instance })[] = [];
  let [unread, isCut] = [left, false];
  for (const [index, item] of items.entries()) {
    if (index % FILES_AT_ONCE === 0) await takeBreath();
    signal.throwIfAborted();
    if (found.length >= MAX_FOUND) break;
    const file = tryParse(item);
    if (file === undefined) {
      unread += 1;
      continue;
    }
    for (const series of file.series) {
      const budget = { steps: MAX_STEPS };
      for (const instance of listInstances(file, series, { ...span, zone, budget }))
        found.push({ item, file, series, instance });
      isCut ||= budget.steps <= 0 || found.length >= MAX_FOUND;
    }
  }
  found.sort((a, b) => a.instance.startsAt - b.instance.startsAt || a.instance.endsAt - b.instance.endsAt);
  const notes = [
    ...(unread > 0 ? [`${unread} file(s) could not be read, so that events may be missing.`] : []),
    ...(isCut ? ["There are too many instances to list them all; ask for a shorter range."] : []),
  ];
  return { found, notes };
}

/** The event with an id. */
export async function findEvent(store: CollectionStore, eventId: string): Promise<FoundEvent> {
  const mark = eventId.indexOf(UID_MARK);
  const item = await store.find(mark < 0 ? eventId : eventId.slice(0, mark), "event_id");
  const file = tryParse(item);
  if (file === undefined) throw refuseUnreadable(item.id);
  const uid = mark < 0 ? file.series[0]?.uid : eventId.slice(mark + 1);
  const series = file.series.find((one) => one.uid === uid);
  if (series === undefined) throw refuseMissing(`There is no event "${eventId}".`, "Look it up with list_events.");
  return { item, file, series };
}

/** The event that is to be changed, as whoever approved knows it. */
export async function chooseEvent(store: CollectionStore, target: EventTarget, zone: Zone) {
  const found = await findEvent(store, target.eventId);
  const instance = pickInstance(found, { name: target.instance, zone });
  const title = toOneLine(readTitle(instance.event));
  if (title !== toOneLine(target.title))
    throw refuseValue("title", `is not the title of this event, which is "${title}".`, "Check which event is meant.");
  if (target.instance === undefined && !target.wholeSeries && repeats(found.series))
    throw refuseValue(
      "instance",
      "is needed, as this event repeats.",
      "Name one instance, or set whole_series to true.",
    );
  return { ...found, instance };
}

/** One instance of an event by its name, or the first one. */
export function pickInstance(
  { file, series }: Pick<FoundEvent, "file" | "series">,
  o: { readonly name: string | undefined; readonly zone: Zone },
): Instance {
  const start = readFirstMoment(series.master ?? file.root, "DTSTART", file.findZone);
  // Without an offset it counts where the series has its times.
  const original = o.name === undefined ? undefined : readGivenTime(o.name, start?.zone ?? o.zone, "instance");
  const found = findInstance(file, series, { original, zone: o.zone, budget: { steps: MAX_STEPS } });
  if (found !== undefined) return found;
  if (original === undefined) throw refuseUnreadable(series.uid);
  throw refuseMissing(
    `The event has no instance "${o.name}".`,
    "Take `instance` as list_events shows it; an event that does not repeat has none.",
  );
}

function tryParse({ text }: StoredItem): CalendarFile | undefined {
  try {
    return parseCalendarFile(text);
  } catch {
    return undefined;
  }
}
