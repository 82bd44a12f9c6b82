import { shortenText, toOneLine } from "../../shared/base/text.ts";
import type { Zone } from "../../shared/base/zones.ts";
import type { PreviewEffect } from "../../shared/wire/preview.ts";
import type { CollectionStore } from "../collections/collection-store.ts";
import { lookAside } from "../collections/look-aside.ts";
import { quoteName } from "../port/preview.ts";
import { beganBefore, type EventView, findNext, viewEvent } from "./event-view.ts";
import { type FoundInstance, findInstances } from "./find-events.ts";
import { type Person, readOwnAnswer, takesTime } from "./ics/describe-event.ts";

/** What a preview is looked at with, and shown in. */
export interface PreviewLook {
  readonly store: CollectionStore;
  /** Of the times that are shown. */
  readonly zone: Zone;
  /** True where the owner did not name it. */
  readonly namesZone: boolean;
  /** Addresses of the account, in lower case. */
  readonly own: ReadonlySet<string>;
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What is done to an event that others know of. */
type EventWrite = "change" | "removal" | "answer" | "return" | "earlier answer" | "no answer";

const SHOWN_PEOPLE = 5;
const SHOWN_EVENTS = 2;

/** Who else hears of it: a server may tell them by itself, this service never does. */
export async function tellPeople(view: EventView, write: EventWrite, look: PreviewLook): Promise<PreviewEffect[]> {
  const { own, store } = look;
  const { organizer, others } = view;
  const isForeign = organizer !== undefined && !own.has(organizer.address);
  const isListed = others.some(({ address }) => address === organizer?.address);
  const people = isForeign && !isListed ? [organizer, ...others] : others;
  if (people.length === 0) return [];
  const all = namePeople(people);
  const tells = await store.tellsPeople();
  if (tells === undefined || (tells && own.size === 0))
    return [{ code: "notifies_perhaps", text: `Whether the calendar server tells ${all} of it is not known.` }];
  if (!tells || organizer === undefined) return [{ code: "notifies_nobody", text: `Nobody tells ${all} of it.` }];
  if (!isForeign) return [{ code: "notifies", text: `The calendar server tells ${all} of it.` }];
  const who = namePeople([organizer]);
  if (write === "change")
    return [{ code: "notifies_nobody", text: `It is ${who} who invites: only your calendar changes.` }];
  const what = ANSWERS_SENT[write];
  return [{ code: "notifies", text: `The calendar server tells ${who} ${what}.` }];
}

/** What an organizer is told of what somebody who is invited does. */
const ANSWERS_SENT = {
  removal: "that you do not come",
  answer: "the answer",
  return: "your answer again",
  "earlier answer": "the answer that you had given before",
  "no answer": "that your answer is taken back",
} as const;

/** Whether effects of {@link tellPeople} say that somebody is told, or may be. */
export function isTold(effects: readonly PreviewEffect[]): boolean {
  return effects.some(({ code }) => code === "notifies" || code === "notifies_perhaps");
}

/** Who is told that a write is taken back. */
export async function tellPeopleAgain(view: EventView, write: EventWrite, look: PreviewLook): Promise<PreviewEffect[]> {
  const told = await tellPeople(view, write, look);
  if (!isTold(told)) return told;
  return [...told, { code: "stays_said", text: "What others were told before cannot be unsaid." }];
}

function namePeople(people: readonly Person[]): string {
  const names = people.slice(0, SHOWN_PEOPLE).map(({ name, address }) => shortenText(toOneLine(name || address), 25));
  if (people.length === 1) return names.join("");
  const rest = people.length - names.length;
  return `the ${people.length} others (${names.join(", ")}${rest > 0 ? ` and ${rest} more` : ""})`;
}

/** What a write of a whole series does to times that are over, and to those that differ. */
export function tellSeries(
  found: FoundInstance,
  write: "change" | "move" | "removal",
  look: PreviewLook,
): PreviewEffect[] {
  const { length } = found.series.overrides;
  const isPast = beganBefore(found, look.zone, look.now);
  const began = `it began on ${viewEvent(found, look).start}.`;
  const past = `Times that are over ${write === "removal" ? "go" : "change"}, too: ${began}`;
  const what = length === 1 ? "1 time of it that differs" : `${length} times of it that differ`;
  const changed = {
    change: `What is changed now does not reach ${what}.`,
    move: `With it ${length === 1 ? "moves" : "move"} ${what}, but for times of their own.`,
    removal: `With it ${length === 1 ? "goes" : "go"} ${what}.`,
  }[write];
  return [
    ...(isPast ? [{ code: "past_too", text: past }] : []),
    ...(length > 0 ? [{ code: "changed_times", text: changed }] : []),
  ];
}

/** Answers to single times that the answer to a whole series replaces. */
export function tellReplacedAnswers(
  { series }: FoundInstance,
  answer: string,
  own: ReadonlySet<string>,
): PreviewEffect[] {
  const usual = series.master && readOwnAnswer(series.master, own);
  const others = series.overrides.filter((event) => ![undefined, usual, answer].includes(readOwnAnswer(event, own)));
  if (others.length === 0) return [];
  const what =
    others.length === 1 ? "another answer to 1 single time" : `other answers to ${others.length} single times`;
  return [{ code: "replaces", text: `It replaces ${what}.` }];
}

/** What else takes place at the time of an event; where all of a series is meant, at its next time. */
export async function tellOverlaps(found: FoundInstance, isSeries: boolean, o: PreviewLook): Promise<PreviewEffect[]> {
  const { store, zone, own, signal } = o;
  const { instance } = (isSeries ? findNext(found, o) : undefined) ?? found;
  const when = isSeries ? "at its next time" : "at that time";
  if (!takesTime(instance.event, own)) return [];
  const span = { from: instance.startsAt, to: Math.max(instance.endsAt, instance.startsAt + 1) };
  const look = (end: AbortSignal) => findInstances(store, { calendars: undefined }, { span, zone, signal: end });
  const looked = await lookAside(look, signal);
  if (looked === undefined)
    return [{ code: "not_looked", text: `Whether something else takes place ${when} could not be read.` }];
  const isOther = (one: FoundInstance) => one.item.id !== found.item.id || one.series.uid !== found.series.uid;
  const others = looked.found.filter((one) => isOther(one) && takesTime(one.instance.event, own));
  const unread = looked.notShown.length > 0 ? " Not all of the calendars could be read." : "";
  if (others.length === 0) return [{ code: "is_free", text: `Nothing else takes place ${when}.${unread}` }];
  const shown = others.slice(0, SHOWN_EVENTS).map((one) => {
    const { title, span: time } = viewEvent(one, o);
    return `${quoteName(title, 30)} (${time})`;
  });
  const rest = others.length - shown.length;
  const more = rest > 0 ? ` and ${rest} more` : "";
  return [{ code: "overlaps", text: `Also ${when}: ${shown.join(", ")}${more}.${unread}` }];
}
