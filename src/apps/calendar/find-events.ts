import { setImmediate as takeBreath } from "node:timers/promises";
import { refuseMissing, refuseValue } from "../../service/service-error.ts";
import { toOneLine } from "../../shared/base/text.ts";
import type { Zone } from "../../shared/base/zones.ts";
import { findCollection } from "../collections/choose-collection.ts";
import {
  type CollectionStore,
  refuseDamaged,
  refuseUnreadable,
  type StoredItem,
  splitItemId,
} from "../collections/collection-store.ts";
import type { NotShown } from "../port/not-shown.ts";
import type { AgendaSpan, EventTarget } from "./agenda.ts";
import { CALENDARS } from "./calendar-settings.ts";
import { type CalendarFile, parseCalendarFile, type Series } from "./ics/calendar-file.ts";
import { readTitle } from "./ics/describe-event.ts";
import { findInstance, type Instance, listInstances, repeats } from "./ics/instances.ts";
import { readFirstMoment } from "./ics/moment.ts";
import { listOddities } from "./ics/series-oddities.ts";
import { readGivenTime, type Span } from "./time/read-time.ts";

/** Steps of the rules of one call, of which events that need more than the first ones share the second: tenths of a second. */
const MAX_STEPS = { first: 1_000_000, further: 200_000 };
/** Steps that each event gets before one gets more: each day of a range. */
const FIRST_STEPS = 500;
/** Steps of the rules of one event: each hour of a range. */
const MOST_STEPS = 10_000;
/** Instances of one call: some tenths of a second. */
const MAX_FOUND = 20_000;
/** Files that are read, and steps that are made, before others get their turn. */
const FILES_AT_ONCE = 50;
const STEPS_AT_ONCE = 10_000;
/** A clock of no known zone shows a time up to so much before it is that time in UTC, or after. */
const FARTHEST_ZONE = 14 * 60 * 60_000;

/** An event, and the file of a calendar that has it. */
export interface FoundEvent {
  readonly item: StoredItem;
  readonly file: CalendarFile;
  readonly series: Series;
}

/** One time of it. */
export interface FoundInstance extends FoundEvent {
  readonly instance: Instance;
}

/** Ids of an event and of its calendar. */
export function toPlace({ item, file, series }: FoundEvent) {
  const eventId = file.series.length > 1 ? `${item.id}#${series.mark}` : item.id;
  return { eventId, calendarId: item.collection.id };
}

/** What a look finds. */
interface Look {
  readonly found: FoundInstance[];
  readonly notShown: NotShown[];
  /** Times that may be taken by what could not be read; `of` is the event that may take them. */
  readonly busy: (Span & { of?: FoundEvent })[];
}

/** All instances of a span, in the order of time. */
export async function findInstances(
  store: CollectionStore,
  given: Pick<AgendaSpan, "calendars">,
  { span, zone, signal }: { readonly span: Span; readonly zone: Zone; readonly signal: AbortSignal },
): Promise<Look> {
  const all = await store.list();
  const calendars = given.calendars?.map((name) => findCollection(all, name, "calendar")) ?? all;
  const { items, left } = await store.read([...new Map(calendars.map((one) => [one.id, one])).values()], {
    span,
  });
  const look: Look = { found: [], notShown: [...left], busy: left.length > 0 ? [span] : [] };
  const events: FoundEvent[] = [];
  for (const [index, item] of items.entries()) {
    if (index % FILES_AT_ONCE === 0) await takeBreath();
    signal.throwIfAborted();
    const file = tryParse(item);
    if (file === undefined) look.notShown.push({ where: item.id, why: "It is no iCalendar file that can be read." });
    else {
      look.notShown.push(...file.oddities.map((why) => ({ where: item.id, why })));
      events.push(...file.series.map((series) => ({ item, file, series })));
    }
  }
  await expandAll(events, look, { span, zone, signal });
  look.found.sort((a, b) => a.instance.startsAt - b.instance.startsAt || a.instance.endsAt - b.instance.endsAt);
  return look;
}

/** Each event gets a few steps; then those that need more share what is left, so that none hides another. */
async function expandAll(
  events: readonly FoundEvent[],
  look: Look,
  { span, zone, signal }: { readonly span: Span; readonly zone: Zone; readonly signal: AbortSignal },
): Promise<void> {
  let [left, sinceBreath] = [MAX_STEPS.first, 0];
  const expand = async (event: FoundEvent, most: number) => {
    const budget = { steps: Math.min(most, left) };
    const given = budget.steps;
    const instances = listInstances(event.file, event.series, { ...span, zone, budget });
    const used = given - budget.steps;
    left -= used;
    sinceBreath += used + 1;
    if (sinceBreath > STEPS_AT_ONCE) {
      sinceBreath = 0;
      await takeBreath();
      signal.throwIfAborted();
    }
    return { instances, isCut: budget.steps <= 0 };
  };
  const long: FoundEvent[] = [];
  for (const event of events) {
    const { instances, isCut } = await expand(event, FIRST_STEPS);
    if (isCut) long.push(event);
    else addFound(event, instances, look, { span, zone });
  }
  left = Math.min(left, MAX_STEPS.further);
  for (const event of long) {
    const { instances, isCut } = await expand(event, MOST_STEPS);
    addFound(event, instances, look, { span, zone });
    if (!isCut) continue;
    look.notShown.push({
      where: toPlace(event).eventId,
      why: "Its rule has too many times to list them all; ask for a shorter range.",
    });
    look.busy.push({ ...span, of: event });
  }
}

function addFound(
  event: FoundEvent,
  instances: readonly Instance[],
  look: Look,
  { span, zone }: { span: Span; zone: Zone },
): void {
  const where = toPlace(event).eventId;
  const shown = instances.slice(0, Math.max(0, MAX_FOUND - look.found.length));
  look.found.push(...shown.map((instance) => ({ ...event, instance })));
  const oddities = listOddities(event.file, event.series, { span, zone });
  look.notShown.push(...oddities.map(({ why }) => ({ where, why })));
  look.busy.push(...oddities.flatMap(({ busy }) => busy.map((one) => ({ ...one, of: event }))));
  const guess = instances.find(({ start, end }) => start.isGuess || end.isGuess);
  if (guess !== undefined) {
    const name = (guess.start.isGuess ? guess.start : guess.end).tzid || "X-WR-TIMEZONE";
    look.notShown.push({ where, why: `The zone "${name}" is not known: its times are taken as those of ${zone.id}.` });
    const spans = instances.map(({ startsAt, endsAt }) => ({
      from: startsAt - FARTHEST_ZONE,
      to: endsAt + FARTHEST_ZONE,
    }));
    look.busy.push(...spans.map((one) => ({ ...one, of: event })));
  }
  if (shown.length === instances.length) return;
  look.notShown.push({ where, why: `There are more than ${MAX_FOUND} times to list; ask for a shorter range.` });
  look.busy.push({ ...span, of: event });
}

/** The event with an id, and others that the id may mean. `title` chooses among those of a file that is named alone. */
export async function findEvent(store: CollectionStore, eventId: string, title?: string) {
  const { itemId, mark } = splitItemId(eventId, CALENDARS);
  const item = await store.find(itemId, "event_id");
  const file = tryParse(item);
  if (file === undefined || file.series.length === 0) throw refuseUnreadable(item.id);
  const named = file.series.filter((one) => mark === undefined || one.mark === mark);
  const all = named.length > 0 ? named : file.series.filter((one) => one.uid === mark);
  const meant = all.length > 1 && title !== undefined ? all.filter((one) => hasTitle(one, title)) : all;
  const [series, ...others] = meant.length > 0 ? meant : all;
  if (series === undefined) throw refuseMissing(`There is no event "${eventId}".`, "Look it up with list_events.");
  return { item, file, series, others };
}

function hasTitle({ master, overrides }: Series, title: string): boolean {
  const events = [...(master === undefined ? [] : [master]), ...overrides];
  return events.some((event) => toOneLine(readTitle(event)) === toOneLine(title));
}

/** The event that is to be changed, as whoever approved knows it. */
export async function chooseEvent(store: CollectionStore, target: EventTarget, zone: Zone): Promise<FoundInstance> {
  const { others, ...found } = await findEvent(store, target.eventId, target.title);
  if (others.length > 0)
    throw refuseValue(
      "event_id",
      `names ${others.length + 1} events.`,
      `Take event_id as list_events shows it: ${[found.series, ...others]
        .slice(0, 5)
        .map((series) => toPlace({ ...found, series }).eventId)
        .join(", ")}.`,
    );
  const { master, overrides } = found.series;
  const events = [...(master === undefined ? [] : [master]), ...overrides];
  if (events.some((event) => event.end === "" || found.file.rootOf(event).end === "")) throw refuseDamaged("event_id");
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
  const { master } = series;
  const start = master && readFirstMoment(master, "DTSTART", file.zonesOf(master));
  // Without an offset it counts where the series has its times.
  const original = o.name === undefined ? undefined : readGivenTime(o.name, start?.zone ?? o.zone, "instance");
  const found = findInstance(file, series, { original, zone: o.zone, budget: { steps: MOST_STEPS } });
  if (found !== undefined) return found;
  if (original === undefined) throw refuseUnreadable(series.uid);
  throw refuseMissing(
    `The event has no instance "${o.name}".`,
    "Take `instance` as list_events shows it; an event that does not repeat has none.",
  );
}

/** An event as it is in a file that was written; `index` is its place there. */
export function findWritten(
  item: StoredItem,
  index: number,
  o: { readonly name?: string | undefined; readonly zone: Zone },
): FoundInstance {
  const file = parseCalendarFile(item.bytes);
  const series = file.series[index];
  if (series === undefined) throw refuseUnreadable(item.id);
  const instance = pickInstance({ file, series }, { name: o.name, zone: o.zone });
  return { item, file, series, instance };
}

function tryParse({ bytes }: StoredItem): CalendarFile | undefined {
  try {
    return parseCalendarFile(bytes);
  } catch {
    return undefined;
  }
}
