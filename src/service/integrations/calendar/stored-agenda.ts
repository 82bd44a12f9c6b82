import { randomUUID } from "node:crypto";
import { foldText, toSearchWords } from "../../../base/text.ts";
import { DAY_MS, type Zone } from "../../../base/zones.ts";
import { refuseValue } from "../../service-error.ts";
import { chooseCollection } from "../collections/choose-collection.ts";
import { type CollectionStore, refuseUnreadable, type StoredItem } from "../collections/collection-store.ts";
import { type ContentBlock, type ContentFile, writeContent } from "../collections/content-tree.ts";
import type { ActionContext } from "../integration.ts";
import { sayNotShown } from "../not-shown.ts";
import type { Agenda, AgendaSpan, ANSWERS, EventTarget, GivenTimes, WorkingHours } from "./agenda.ts";
import { readSettingZone } from "./calendar-settings.ts";
import { chooseEvent, findEvent, findInstances, pickInstance, toPlace } from "./find-events.ts";
import { answerInvitation } from "./ics/answer-invitation.ts";
import { type CalendarFile, parseCalendarFile, type Series } from "./ics/calendar-file.ts";
import {
  type ChangeContext,
  changeInstance,
  changeSeries,
  composeEventFile,
  type EventChange,
  removeInstance,
  removeSeries,
} from "./ics/change-series.ts";
import {
  describeDetails,
  isCancelled,
  isFree,
  listPeople,
  readEventText,
  readOwnAnswer,
  summariseInstance,
} from "./ics/describe-event.ts";
import type { Instance } from "./ics/instances.ts";
import type { Moment } from "./ics/moment.ts";
import { listOddities } from "./ics/series-oddities.ts";
import { listFreeSpans } from "./time/free-time.ts";
import { readGivenTime, readSpan, readZone } from "./time/read-time.ts";
import { nameWeekday, sayTimes, writeTime } from "./time/words.ts";

const MAX_LISTED_DAYS = 400;
const MAX_FREE_DAYS = 100;

/** The agenda of calendars that are collections of files. */
export class StoredAgenda implements Agenda {
  readonly #store: CollectionStore;
  readonly #context: ActionContext;

  constructor(store: CollectionStore, context: ActionContext) {
    this.#store = store;
    this.#context = context;
  }

  async listCalendars() {
    const calendars = await this.#store.list();
    return {
      zone: this.#defaultZone().id,
      now: writeTime(this.#context.now(), this.#defaultZone()),
      calendars: calendars.map(({ id, name }) => ({ calendar_id: id, name })),
    };
  }

  async listEvents(given: AgendaSpan, { query, limit }: { readonly query: string; readonly limit: number }) {
    const { zone, span, found, notShown } = await this.#look(given, MAX_LISTED_DAYS);
    const own = await this.#listOwn();
    const words = toSearchWords(query);
    const matching = found.filter(({ instance }) => words.every((word) => findIn(instance).includes(word)));
    const events = matching
      .slice(0, limit)
      .map((one) => summariseInstance(one.instance, { ...toPlace(one), zone, own }));
    const note = matching.length > limit && {
      note: `Only the first ${limit} events are shown; ask for a shorter range.`,
    };
    return { ...sayRange(span, zone), events, total: matching.length, ...note, ...sayNotShown(notShown) };
  }

  async findFreeTime(
    given: AgendaSpan,
    o: { readonly minutes: number; readonly hours: WorkingHours | undefined; readonly limit: number },
  ) {
    const { zone, span, found, notShown, busy: maybeBusy } = await this.#look(given, MAX_FREE_DAYS);
    const own = await this.#listOwn();
    const takesTime = (event: ContentBlock) =>
      !isFree(event) && !isCancelled(event) && readOwnAnswer(event, own) !== "declined";
    const known = found.filter(({ instance }) => takesTime(instance.event));
    const unread = maybeBusy.filter(({ of }) => of === undefined || listEvents(of.series).some(takesTime));
    const busy = [...known.map(({ instance }) => ({ from: instance.startsAt, to: instance.endsAt })), ...unread];
    const hours = o.hours && { from: readClock(o.hours.from), to: readClock(o.hours.to), days: o.hours.days };
    if (hours !== undefined && hours.to <= hours.from) throw refuseValue("working_hours.to", "is not after from.");
    const free = listFreeSpans(span, busy, { least: o.minutes * 60_000, hours, zone });
    const times = free.slice(0, o.limit).map(({ from, to }) => ({
      when: sayTimes(from, to, zone),
      start: writeTime(from, zone),
      end: writeTime(to, zone),
      minutes: Math.floor((to - from) / 60_000),
    }));
    const note = unread.length > 0 && { note: "What could not be read counts as busy; see not_shown." };
    return { ...sayRange(span, zone), free: times, total: free.length, ...note, ...sayNotShown(notShown) };
  }

  async read(eventId: string, o: { readonly instance: string | undefined; readonly zone: string | undefined }) {
    const zone = readZone(o.zone, this.#defaultZone());
    const { item, file, series, others } = await findEvent(this.#store, eventId);
    const instance = pickInstance({ file, series }, { name: o.instance, zone });
    const summary = summariseInstance(instance, {
      ...toPlace({ item, file, series }),
      zone,
      own: await this.#listOwn(),
    });
    const { startsAt, endsAt } = instance;
    const oddities = listOddities(file, series, { span: { from: startsAt, to: endsAt + 1 }, zone });
    const whys = [...file.oddities, ...oddities.map(({ why }) => why)];
    const more = others.map((one) => ({
      where: toPlace({ item, file, series: one }).eventId,
      why: "It is in the same file.",
    }));
    const notShown = [...whys.map((why) => ({ where: summary.event_id, why })), ...more];
    return { zone: zone.id, ...summary, ...describeDetails(file, instance, zone), ...sayNotShown(notShown) };
  }

  async create(o: Parameters<Agenda["create"]>[0]) {
    const zone = readZone(o.zone, this.#defaultZone());
    const { start, end } = readTimes(o, zone);
    if (start === undefined || end === undefined) throw refuseValue("start", "and end are needed.");
    const calendar = chooseCollection(await this.#store.list(), o.calendar, { what: "calendar", field: "calendar" });
    const { title, location, description, rrule } = o;
    const uid = randomUUID();
    const draft = { title, location, description, rrule, start, end };
    const content = composeEventFile(draft, uid, this.#change(zone, true));
    const item = await this.#store.create(calendar, { name: uid, bytes: writeContent(content) });
    return this.#show(item, 0, zone);
  }

  async change(target: EventTarget, given: Parameters<Agenda["change"]>[1]) {
    const zone = readZone(target.zone, this.#defaultZone());
    const { item, file, series, instance } = await chooseEvent(this.#store, target, zone);
    const { newTitle: title, location, description, rrule } = given;
    const change: EventChange = { title, location, description, rrule, ...readTimes(given, zone) };
    const context = this.#change(zone, isOnly(file, series) && (await this.#isOwnEvent(instance)));
    const content =
      target.instance === undefined
        ? changeSeries(file, series, { change, context })
        : changeInstance(file, instance, { change, context });
    return this.#show(await this.#save(item, content), file.series.indexOf(series), zone, target.instance);
  }

  async remove(target: EventTarget) {
    const zone = readZone(target.zone, this.#defaultZone());
    const chosen = await chooseEvent(this.#store, target, zone);
    const { item, file, series, instance } = chosen;
    const context = this.#change(zone, isOnly(file, series) && (await this.#isOwnEvent(instance)));
    const summary = summariseInstance(instance, { ...toPlace(chosen), zone, own: new Set() });
    const left = target.instance === undefined ? removeSeries(file, series) : removeInstance(file, instance, context);
    const trashedTo = left === undefined ? await this.#store.remove(item) : undefined;
    if (left !== undefined) await this.#save(item, left);
    return { zone: zone.id, ...summary, deleted: true, ...(trashedTo !== undefined && { trashed_to: trashedTo }) };
  }

  async answer(target: EventTarget, answer: (typeof ANSWERS)[number]) {
    const zone = readZone(target.zone, this.#defaultZone());
    const { item, file, series, instance } = await chooseEvent(this.#store, target, zone);
    const one = target.instance === undefined ? undefined : instance;
    const own = await this.#listOwn();
    const content = answerInvitation(file, { series, instance: one, answer, own, context: this.#change(zone, false) });
    return this.#show(await this.#save(item, content), file.series.indexOf(series), zone, target.instance);
  }

  #defaultZone(): Zone {
    return readSettingZone(this.#context.connection.settings);
  }

  #change(zone: Zone, counts: boolean): ChangeContext {
    return { now: this.#context.now(), zone, counts };
  }

  async #listOwn(): Promise<ReadonlySet<string>> {
    const { address } = this.#context.connection.settings;
    const known = await this.#store.listOwnAddresses();
    return new Set(
      [...(typeof address === "string" ? [address] : []), ...known].map((one) => one.trim().toLowerCase()),
    );
  }

  /** True where nobody else organizes the event. */
  async #isOwnEvent({ event }: Instance): Promise<boolean> {
    const [organizer] = listPeople(event, "ORGANIZER");
    return organizer === undefined || (await this.#listOwn()).has(organizer.address);
  }

  /** All instances of a span, in the order of time. */
  async #look(given: AgendaSpan, most: number) {
    const zone = readZone(given.zone, this.#defaultZone());
    const span = readSpan(given, zone, most);
    const { signal } = this.#context;
    return { zone, span, ...(await findInstances(this.#store, given, { span, zone, signal })) };
  }

  #save(item: StoredItem, content: ContentFile): Promise<StoredItem> {
    return this.#store.replace(item, writeContent(content));
  }

  /** An event as it is after a change. */
  async #show(item: StoredItem, index: number, zone: Zone, name?: string) {
    const file = parseCalendarFile(item.bytes);
    const series = file.series[index];
    if (series === undefined) throw refuseUnreadable(item.id);
    const instance = pickInstance({ file, series }, { name, zone });
    const place = toPlace({ item, file, series });
    return { zone: zone.id, ...summariseInstance(instance, { ...place, zone, own: await this.#listOwn() }) };
  }
}

function listEvents({ master, overrides }: Series): ContentBlock[] {
  return [...(master === undefined ? [] : [master]), ...overrides];
}

/** False where others of its file have the same UID: a higher number would hide them. */
function isOnly({ series: all }: CalendarFile, { uid }: Series): boolean {
  return all.filter((one) => one.uid === uid).length === 1;
}

/** Everything of an event that is searched. */
function findIn({ event }: Instance): string {
  const texts = ["SUMMARY", "LOCATION", "DESCRIPTION"].map((name) => readEventText(event, name) ?? "");
  const people = [...listPeople(event, "ATTENDEE"), ...listPeople(event, "ORGANIZER")];
  return foldText([...texts, ...people.map(({ name = "", address }) => `${name} ${address}`)].join(" "));
}

function sayRange({ from, to }: { readonly from: number; readonly to: number }, zone: Zone) {
  return { zone: zone.id, from: writeTime(from, zone), to: writeTime(to, zone) };
}

function readClock(text: string): number {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return (hours * 60 + minutes) * 60_000;
}

/** Start and end that a call names, checked against each other; the last day becomes the day after it. */
function readTimes({ start, end, weekday }: GivenTimes, zone: Zone): { start?: Moment; end?: Moment } {
  const begin = start === undefined ? undefined : readGivenTime(start, zone, "start");
  const last = end === undefined ? undefined : readGivenTime(end, zone, "end");
  const finish = last?.isDay ? { ...last, at: last.at + DAY_MS } : last;
  if (begin !== undefined && weekday !== undefined && nameWeekday(begin.at) !== weekday)
    throw refuseValue("weekday", `is wrong: ${start} is a ${nameWeekday(begin.at)}.`, "Check the date of start.");
  if (begin !== undefined && finish !== undefined) {
    if (begin.isDay !== finish.isDay) throw refuseValue("end", "must be of the same kind as start: a day, or a time.");
    if (finish.at < begin.at) throw refuseValue("end", "is before start.");
  }
  return { ...(begin !== undefined && { start: begin }), ...(finish !== undefined && { end: finish }) };
}
