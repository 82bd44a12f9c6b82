import { randomUUID } from "node:crypto";
import { refuseValue } from "../../service/service-error.ts";
import { DAY_MS, type Zone } from "../../shared/base/zones.ts";
import { seeCollection, seeItem } from "../collections/act-on-seen.ts";
import { chooseCollection } from "../collections/choose-collection.ts";
import type { Collection, CollectionStore } from "../collections/collection-store.ts";
import { type ContentFile, writeContent } from "../collections/content-tree.ts";
import type { ActionContext } from "../port/integration.ts";
import type { Agenda, ANSWERS, EventTarget, GivenTimes } from "./agenda.ts";
import { readSettingZone } from "./calendar-settings.ts";
import { chooseEvent, type FoundInstance } from "./find-events.ts";
import { answerInvitation } from "./ics/answer-invitation.ts";
import type { CalendarFile, Series } from "./ics/calendar-file.ts";
import {
  type ChangeContext,
  changeInstance,
  changeSeries,
  composeEventFile,
  type EventChange,
  removeInstance,
  removeSeries,
} from "./ics/change-series.ts";
import { listPeople } from "./ics/describe-event.ts";
import type { Instance } from "./ics/instances.ts";
import type { Moment } from "./ics/moment.ts";
import { readGivenTime, readZone } from "./time/read-time.ts";
import { nameWeekday } from "./time/words.ts";

/** What writes of one call are worked out from. */
export interface WriteContext extends Pick<ActionContext, "connection" | "now"> {
  /** Addresses of the account, in lower case. */
  readonly listOwn: () => Promise<ReadonlySet<string>>;
}

/** A new event, worked out and not written yet. */
export interface ComposedEvent {
  readonly id: string;
  readonly zone: Zone;
  readonly calendar: Collection;
  readonly title: string;
  readonly bytes: Buffer;
  /** See `PreviewDraft.seen`. */
  readonly seen: unknown;
}

/** A change of an event, worked out and not written yet. */
export interface ComposedChange extends FoundInstance {
  readonly zone: Zone;
  /** The file afterwards; undefined where nothing is left in it. */
  readonly bytes: Buffer | undefined;
  /** See `PreviewDraft.seen`. */
  readonly seen: unknown;
}

/** Throws ServiceError for what the arguments, or the calendars, do not allow. */
export async function composeNew(
  store: CollectionStore,
  o: Parameters<Agenda["create"]>[0],
  context: WriteContext,
): Promise<ComposedEvent> {
  const zone = readCallZone(o.zone, context);
  const { start, end } = readTimes(o, zone);
  if (start === undefined || end === undefined) throw refuseValue("start", "and end are needed.");
  const calendar = chooseCollection(await store.list(), o.calendar, { what: "calendar", field: "calendar" });
  const { title, location, description, rrule } = o;
  const uid = randomUUID();
  const draft = { title, location, description, rrule, start, end };
  const content = composeEventFile(draft, uid, { now: context.now(), zone, counts: true });
  const bytes = writeContent(content);
  return { id: store.nameNew(calendar, uid), zone, calendar, title, bytes, seen: seeCollection(calendar) };
}

/** Throws as {@link composeNew} does. */
export async function composeChange(
  store: CollectionStore,
  o: { readonly target: EventTarget; readonly change: Parameters<Agenda["change"]>[1] },
  context: WriteContext,
): Promise<ComposedChange & { readonly bytes: Buffer }> {
  const { target, change: given } = o;
  const zone = readCallZone(target.zone, context);
  const found = await chooseEvent(store, target, zone);
  const { newTitle: title, location, description, rrule } = given;
  const change: EventChange = { title, location, description, rrule, ...readTimes(given, zone) };
  const { file, series, instance } = found;
  const how = { change, context: await createChangeContext(found, zone, context) };
  const content = target.instance === undefined ? changeSeries(file, series, how) : changeInstance(file, instance, how);
  return { ...found, zone, bytes: writeContent(content), seen: seeItem(found.item) };
}

/** Throws as {@link composeNew} does. */
export async function composeRemoval(
  store: CollectionStore,
  target: EventTarget,
  context: WriteContext,
): Promise<ComposedChange> {
  const zone = readCallZone(target.zone, context);
  const found = await chooseEvent(store, target, zone);
  const { file, series, instance } = found;
  const left =
    target.instance === undefined
      ? removeSeries(file, series)
      : removeInstance(file, instance, await createChangeContext(found, zone, context));
  return { ...found, zone, bytes: left && writeContent(left), seen: seeItem(found.item) };
}

/** Throws as {@link composeNew} does. */
export async function composeAnswer(
  store: CollectionStore,
  o: { readonly target: EventTarget; readonly answer: (typeof ANSWERS)[number] },
  context: WriteContext,
): Promise<ComposedChange & { readonly bytes: Buffer }> {
  const { target, answer } = o;
  const zone = readCallZone(target.zone, context);
  const found = await chooseEvent(store, target, zone);
  const { file, series, instance } = found;
  const own = await context.listOwn();
  const content: ContentFile = answerInvitation(file, {
    series,
    instance: target.instance === undefined ? undefined : instance,
    answer,
    own,
    context: { now: context.now(), zone, counts: false },
  });
  const invited = listPeople(instance.event, "ATTENDEE").map(({ address }) => address);
  const seen = [seeItem(found.item), invited.filter((address) => own.has(address))];
  return { ...found, zone, bytes: writeContent(content), seen };
}

function readCallZone(name: string | undefined, { connection }: WriteContext): Zone {
  return readZone(name, readSettingZone(connection.settings));
}

async function createChangeContext(
  { file, series, instance }: Pick<ComposedChange, "file" | "series" | "instance">,
  zone: Zone,
  { now, listOwn }: WriteContext,
): Promise<ChangeContext> {
  return { now: now(), zone, counts: isOnly(file, series) && (await isOwnEvent(instance, listOwn)) };
}

/** True where nobody else organizes the event. */
async function isOwnEvent({ event }: Instance, listOwn: WriteContext["listOwn"]): Promise<boolean> {
  const [organizer] = listPeople(event, "ORGANIZER");
  return organizer === undefined || (await listOwn()).has(organizer.address);
}

/** False where others of its file have the same UID: a higher number would hide them. */
function isOnly({ series: all }: CalendarFile, { uid }: Series): boolean {
  return all.filter((one) => one.uid === uid).length === 1;
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
