import { afterChange, refuseValue } from "../../service/service-error.ts";
import { makeOnce } from "../../shared/base/concurrency.ts";
import { foldText, toSearchWords } from "../../shared/base/text.ts";
import type { Zone } from "../../shared/base/zones.ts";
import type { CollectionStore, StoredItem } from "../collections/collection-store.ts";
import type { ContentBlock } from "../collections/content-tree.ts";
import type { ItemPart, KeptItem } from "../collections/kept-item.ts";
import { settleItem } from "../collections/settle-item.ts";
import { type ItemLook, planItemUndo } from "../collections/undo-item.ts";
import { createItem, removeItem, replaceItem } from "../collections/write-item.ts";
import type { ActionContext } from "../port/integration.ts";
import { sayNotShown } from "../port/not-shown.ts";
import type { Agenda, AgendaSpan, ANSWERS, EventTarget, WorkingHours } from "./agenda.ts";
import { readOwnZone, readSettingZone } from "./calendar-settings.ts";
import {
  type ComposedChange,
  composeAnswer,
  composeChange,
  composeNew,
  composeRemoval,
  type WriteContext,
} from "./compose-write.ts";
import type { PreviewLook } from "./event-effects.ts";
import { findEvent, findInstances, findWritten, pickInstance, toPlace } from "./find-events.ts";
import type { Series } from "./ics/calendar-file.ts";
import {
  describeDetails,
  listPeople,
  readEventText,
  readTitle,
  summariseInstance,
  takesTime,
} from "./ics/describe-event.ts";
import type { Instance } from "./ics/instances.ts";
import { listOddities } from "./ics/series-oddities.ts";
import { callEvent, previewAnswer, previewChange, previewNew, previewRemoval } from "./preview-event.ts";
import { listFreeSpans } from "./time/free-time.ts";
import { readSpan, readZone } from "./time/read-time.ts";
import { sayTimes, writeTime } from "./time/words.ts";
import { previewUndo } from "./undo-event.ts";

const MAX_LISTED_DAYS = 400;
const MAX_FREE_DAYS = 100;

type Composed = ComposedChange & { readonly bytes: Buffer };

/** The agenda of calendars that are collections of files. */
export class StoredAgenda implements Agenda {
  readonly #store: CollectionStore;
  readonly #context: ActionContext;
  readonly #writing: WriteContext;
  /** Addresses of the account, asked for once. */
  readonly #listOwn: () => Promise<ReadonlySet<string>>;

  constructor(store: CollectionStore, context: ActionContext) {
    this.#store = store;
    this.#context = context;
    this.#listOwn = makeOnce(() => listOwnAddresses(store, context));
    this.#writing = { connection: context.connection, now: context.now, listOwn: this.#listOwn };
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
    const { zone, span, found, notShown } = await this.#find(given, MAX_LISTED_DAYS);
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
    const { zone, span, found, notShown, busy: maybeBusy } = await this.#find(given, MAX_FREE_DAYS);
    const own = await this.#listOwn();
    const known = found.filter(({ instance }) => takesTime(instance.event, own));
    const isBusy = (event: ContentBlock) => takesTime(event, own);
    const unread = maybeBusy.filter(({ of }) => of === undefined || listEvents(of.series).some(isBusy));
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
    const { id, calendar, title, bytes, zone, seen } = await composeNew(this.#store, o, this.#writing);
    const facts = { called: callEvent(title), part: { index: 0, zone: o.zone }, seen, context: this.#context };
    const written = await createItem(this.#store, { id, collection: calendar, bytes }, facts);
    return afterChange(facts.called, () => this.#show(written, 0, zone));
  }

  async change(target: EventTarget, change: Parameters<Agenda["change"]>[1]) {
    return this.#replace(await composeChange(this.#store, { target, change }, this.#writing), target, "change");
  }

  async remove(target: EventTarget) {
    const composed = await composeRemoval(this.#store, target, this.#writing);
    const { item, bytes, zone } = composed;
    const summary = summariseInstance(composed.instance, { ...toPlace(composed), zone, own: new Set() });
    const facts = this.#say(composed, target);
    if (bytes !== undefined) await replaceItem(this.#store, item, { ...facts, write: "remove", bytes });
    const trashedTo = bytes === undefined ? await removeItem(this.#store, item, facts) : undefined;
    return { zone: zone.id, ...summary, deleted: true, ...(trashedTo !== undefined && { trashed_to: trashedTo }) };
  }

  async answer(target: EventTarget, answer: (typeof ANSWERS)[number]) {
    return this.#replace(await composeAnswer(this.#store, { target, answer }, this.#writing), target, "answer");
  }

  async planUndo(kept: KeptItem) {
    return planItemUndo(kept, this.#store, this.#lookAtItems());
  }

  async settle(kept: KeptItem) {
    return settleItem(kept, this.#store, this.#lookAtItems());
  }

  async previewCreate(o: Parameters<Agenda["create"]>[0]) {
    return previewNew(await composeNew(this.#store, o, this.#writing), await this.#look(o.zone));
  }

  async previewChange(target: EventTarget, change: Parameters<Agenda["change"]>[1]) {
    const composed = await composeChange(this.#store, { target, change }, this.#writing);
    return previewChange(composed, target, await this.#look(target.zone));
  }

  async previewRemoval(target: EventTarget) {
    const composed = await composeRemoval(this.#store, target, this.#writing);
    return previewRemoval(composed, target, await this.#look(target.zone));
  }

  async previewAnswer(target: EventTarget, answer: (typeof ANSWERS)[number]) {
    const composed = await composeAnswer(this.#store, { target, answer }, this.#writing);
    return previewAnswer(composed, { ...target, answer }, await this.#look(target.zone));
  }

  #defaultZone(): Zone {
    return readSettingZone(this.#context.connection.settings);
  }

  /** All instances of a span, in the order of time. */
  async #find(given: AgendaSpan, most: number) {
    const zone = readZone(given.zone, this.#defaultZone());
    const span = readSpan(given, zone, most);
    const { signal } = this.#context;
    return { zone, span, ...(await findInstances(this.#store, given, { span, zone, signal })) };
  }

  /** What a preview is looked at with, and shown in. */
  async #look(zone: string | undefined): Promise<PreviewLook> {
    const { connection, signal, now } = this.#context;
    const set = readOwnZone(connection.settings);
    const shown = set ?? readZone(zone, this.#defaultZone());
    const own = await this.#listOwn();
    return { store: this.#store, zone: shown, namesZone: set === undefined, own, signal, now: now() };
  }

  #lookAtItems(): ItemLook {
    const zoneOf = ({ zone }: ItemPart) => readZone(zone, this.#defaultZone());
    return {
      kind: "event",
      preview: async (undone) => previewUndo(undone, zoneOf(undone.part), await this.#look(undone.part.zone)),
      show: async (item, part) => this.#show(item, part.index, zoneOf(part), part.instance),
    };
  }

  async #replace(composed: Composed, target: EventTarget, write: "change" | "answer") {
    const { item, bytes, zone } = composed;
    const facts = this.#say(composed, target);
    const written = await replaceItem(this.#store, item, { ...facts, write, bytes });
    return afterChange(facts.called, () => this.#show(written, facts.part.index, zone, target.instance));
  }

  /** What is kept of a write. */
  #say({ instance, file, series, seen }: ComposedChange, target: EventTarget) {
    const part: ItemPart = { index: file.series.indexOf(series), instance: target.instance, zone: target.zone };
    return { called: callEvent(readTitle(instance.event)), part, seen, context: this.#context };
  }

  /** An event as it is after a change. */
  async #show(item: StoredItem, index: number, zone: Zone, name?: string) {
    const found = findWritten(item, index, { name, zone });
    return {
      zone: zone.id,
      ...summariseInstance(found.instance, { ...toPlace(found), zone, own: await this.#listOwn() }),
    };
  }
}

async function listOwnAddresses(store: CollectionStore, { connection }: ActionContext): Promise<ReadonlySet<string>> {
  const { address } = connection.settings;
  const known = await store.listOwnAddresses();
  return new Set([...(typeof address === "string" ? [address] : []), ...known].map((one) => one.trim().toLowerCase()));
}

function listEvents({ master, overrides }: Series): ContentBlock[] {
  return [...(master === undefined ? [] : [master]), ...overrides];
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
