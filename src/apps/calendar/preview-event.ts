import { diffLines } from "../../shared/base/line-diff.ts";
import type { PreviewChange, PreviewEffect, PreviewObject } from "../../shared/wire/preview.ts";
import { tellRemoved } from "../collections/tell-removed.ts";
import { changeText, changeValue, type PreviewDraft, quoteName } from "../port/preview.ts";
import type { ANSWERS, EventTarget } from "./agenda.ts";
import type { ComposedChange, ComposedEvent } from "./compose-write.ts";
import {
  isTold,
  type PreviewLook,
  tellOverlaps,
  tellPeople,
  tellReplacedAnswers,
  tellSeries,
} from "./event-effects.ts";
import { type EventView, findNext, sayPerson, viewEvent } from "./event-view.ts";
import { type FoundInstance, findWritten } from "./find-events.ts";
import { repeats } from "./ics/instances.ts";

const MAX_SUMMARY = 120;
const SHOWN_PEOPLE = 10;
const NAMELESS = "an event without a title";

/** An event by its title, in a sentence. */
export function callEvent(title: string): string {
  return title === "" ? NAMELESS : quoteName(title);
}

/** Of an event: all of it, one of its times, or all of them. */
export type Scope = "event" | "instance" | "series";

/** The preview of a new event. */
export async function previewNew(composed: ComposedEvent, look: PreviewLook): Promise<PreviewDraft> {
  const { calendar, bytes, zone, seen } = composed;
  const found = findWritten({ id: "", collection: calendar, etag: "", bytes }, 0, { zone });
  const after = viewEvent(found, look);
  const to = quoteName(after.calendar, 24);
  const when = `${after.span}${sayZone(after, look)}`;
  const often = after.recurrence === "" ? when : `${after.recurrence}, from ${after.start}${sayZone(after, look)}`;
  return {
    summary: summarise(after, (name) => [`Add ${name} to ${to}: ${often}`, `Add ${name} to ${to}: ${when}, repeating`]),
    objects: [describe(found, after, look)],
    changes: changeText("Text", "", after.description),
    effects: [
      { code: "notifies_nobody", text: "Nobody is invited." },
      ...tellPast(found, look),
      ...(await tellOverlaps(found, after.recurrence !== "", look)),
    ],
    undo: { possible: true },
    seen,
  };
}

/** The preview of a changed event. */
export async function previewChange(
  composed: ComposedChange & { readonly bytes: Buffer },
  target: EventTarget,
  look: PreviewLook,
): Promise<PreviewDraft> {
  const { item, file, series, bytes, zone, seen } = composed;
  const index = file.series.indexOf(series);
  const found = findWritten({ ...item, bytes }, index, { name: target.instance, zone });
  const [before, after] = [viewEvent(composed, look), viewEvent(found, look)];
  const scope = readScope(composed, target);
  const changes = compare(before, after);
  const isMoved = before.time !== after.time;
  const [people, overlaps] = await Promise.all([
    changes.length === 0 ? [] : tellPeople(before, "change", look),
    isMoved ? tellOverlaps(found, scope === "series", look) : [],
  ]);
  return {
    summary: summariseChange({ before, after, changes, scope }, look),
    objects: [describe(composed, before, look, scope)],
    changes,
    effects: [
      ...people,
      ...tellLost(before, after, changes),
      ...(scope === "series" ? tellSeries(composed, isMoved ? "move" : "change", look) : []),
      ...(isMoved ? tellPast(found, look) : []),
      ...overlaps,
    ],
    undo: sayUndo(people),
    seen,
  };
}

/** The preview of a deleted event. */
export async function previewRemoval(
  composed: ComposedChange,
  target: EventTarget,
  look: PreviewLook,
): Promise<PreviewDraft> {
  const { item, bytes, seen } = composed;
  const before = viewEvent(composed, look);
  const scope = readScope(composed, target);
  const from = quoteName(before.calendar, 24);
  const when = `${before.span}${sayZone(before, look)}`;
  const left = look.store.sayLeft(item, bytes);
  const people = await tellPeople(before, "removal", look);
  return {
    summary: summarise(before, (name) => {
      const what = nameScope(name, scope);
      if (scope !== "series" || before.recurrence === "") return [`Delete ${what} from ${from} (${when})`];
      return [`Delete ${what} from ${from} (${before.recurrence})`, `Delete ${what} from ${from}`];
    }),
    objects: [describe(composed, before, look, scope)],
    changes: changeValue("Text", before.description, undefined),
    effects: [
      ...tellRemoved(left, {
        rest: bytes && `The other ${scope === "instance" ? "times of it" : "events of its file"} stay.`,
        hasUndo: true,
      }),
      ...people,
      ...(scope === "series" ? tellSeries(composed, "removal", look) : []),
    ],
    undo: sayUndo(people),
    seen,
  };
}

/** The preview of an answer to an invitation. */
export async function previewAnswer(
  composed: ComposedChange,
  target: EventTarget & { readonly answer: (typeof ANSWERS)[number] },
  look: PreviewLook,
): Promise<PreviewDraft> {
  const before = viewEvent(composed, look);
  const { answer } = target;
  const scope = readScope(composed, target);
  const { organizer } = before;
  const from = organizer === undefined ? "" : ` from ${quoteName(organizer.name || organizer.address, 24)}`;
  const when = `${before.start}${sayZone(before, look)}`;
  const people = await tellPeople(before, "answer", look);
  return {
    summary: summarise(before, (name) => [
      `${VERBS[answer]} ${nameScope(`the invitation ${name}`, scope)}${from} (${when})`,
    ]),
    objects: [describe(composed, before, look, scope)],
    changes: changeValue("Your answer", sayAnswer(before.ownAnswer), sayAnswer(answer)),
    effects: [...people, ...(scope === "series" ? tellReplacedAnswers(composed, answer, look.own) : [])],
    undo: sayUndo(people),
    seen: composed.seen,
  };
}

/** The undo of a write that others may be told of. */
function sayUndo(people: readonly PreviewEffect[]): PreviewDraft["undo"] {
  return { possible: true, ...(isTold(people) && { why: "What others are told of it cannot be unsaid." }) };
}

const VERBS = { accepted: "Accept", declined: "Decline", tentative: "Tentatively accept" } as const;

/** Said where no answer is given yet. */
export const NO_ANSWER = "no answer";

/** An answer as it is stored, in words. */
export function sayAnswer(answer: string | undefined): string {
  return answer === undefined || answer === "needs-action" ? NO_ANSWER : answer;
}

/** What of an event a call names. */
export function readScope({ series }: FoundInstance, { instance }: { readonly instance?: string | undefined }): Scope {
  if (instance !== undefined) return "instance";
  return repeats(series) || (series.master === undefined && series.overrides.length > 1) ? "series" : "event";
}

/** The same in a sentence. */
export function nameScope(name: string, scope: Scope): string {
  return { event: name, instance: `one time of ${name}`, series: `the whole series ${name}` }[scope];
}

/** The zone of a short time, where the owner did not say which one theirs is. */
export function sayZone({ isDay }: EventView, { namesZone, zone }: PreviewLook): string {
  return namesZone && !isDay ? `, ${zone.id}` : "";
}

/** The first sentence that is short enough; its last form, with ever less of the title, where none is. */
export function summarise({ title }: EventView, write: (name: string) => readonly string[]): string {
  const name = (longest: number) => (title === "" ? NAMELESS : quoteName(title, longest));
  const [whole, shorter] = [write(name(40)), write(name(25))];
  const texts = whole.flatMap((text, at) => [text, shorter[at] ?? text]);
  return texts.find((text) => text.length <= MAX_SUMMARY) ?? write(name(12)).at(-1) ?? "";
}

function summariseChange(
  o: {
    readonly before: EventView;
    readonly after: EventView;
    changes: readonly PreviewChange[];
    readonly scope: Scope;
  },
  look: PreviewLook,
): string {
  const { before, after, changes, scope } = o;
  const [first, ...others] = changes;
  if (first === undefined) return summarise(before, (name) => [`Leave ${name} as it is`]);
  const rest =
    others.length === 0 ? "" : `, and change ${others.length} more ${others.length === 1 ? "field" : "fields"}`;
  return summarise(before, (name) => {
    const what = nameScope(name, scope);
    const zone = sayZone(after, look);
    if (before.start !== after.start) return [`Move ${what} from ${before.start} to ${after.start}${zone}${rest}`];
    const fields = others.length === 0 ? first.field.toLowerCase() : `${changes.length} fields`;
    return [`Change ${fields} of ${what} (${before.start}${sayZone(before, look)})`];
  });
}

/** The fields that change. */
export function compare(before: EventView, after: EventView): PreviewChange[] {
  return [
    ...changeValue("Time", before.time, after.time),
    ...changeValue("Repetition", before.recurrence || "none", after.recurrence || "none"),
    ...changeValue("Title", before.title, after.title),
    ...changeValue("Place", before.location, after.location),
    ...changeText("Text", before.description, after.description),
  ];
}

/** The text that goes, and fields that are empty afterwards. */
export function tellLost(before: EventView, after: EventView, changes: readonly PreviewChange[]): PreviewEffect[] {
  const { removed } = diffLines(before.description, after.description);
  const isEmptied = before.description !== "" && after.description === "";
  const gone = changes.filter((one) => one.after === undefined && one.diff === undefined).map(({ field }) => field);
  const fields = [...gone, ...(isEmptied ? ["Text"] : [])].map((field) => field.toLowerCase());
  const lines = `${removed} ${removed === 1 ? "line" : "lines"}`;
  return [
    ...(fields.length > 0 ? [{ code: "removes", text: `Removed: ${fields.join(", ")}.` }] : []),
    ...(removed > 0 && !isEmptied ? [{ code: "replaces", text: `${lines} of the present text will be gone.` }] : []),
  ];
}

function tellPast({ instance, series }: FoundInstance, { now }: PreviewLook): PreviewEffect[] {
  return instance.endsAt <= now && !repeats(series) ? [{ code: "is_over", text: "That time is over already." }] : [];
}

/** The event as the object of a preview. */
export function describe(
  found: FoundInstance,
  view: EventView,
  look: PreviewLook,
  scope: Scope = "event",
): PreviewObject {
  const next = scope === "series" ? findNext(found, look) : undefined;
  const people = view.others.slice(0, SHOWN_PEOPLE).map(({ name, address }) => name || address);
  const rest = view.others.length - people.length;
  const details = [
    { label: "Calendar", value: view.calendar },
    { label: scope === "series" ? "First time" : "Time", value: view.time },
    { label: "In its own zone", value: view.ownTime },
    { label: "Next time", value: next === undefined ? "" : viewEvent(next, look).time },
    { label: "Repeats", value: view.recurrence },
    { label: "Place", value: view.location },
    { label: "Organizer", value: view.organizer === undefined ? "" : sayPerson(view.organizer) },
    { label: "Invited", value: `${people.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}` },
    { label: "Your answer", value: view.ownAnswer === undefined ? "" : sayAnswer(view.ownAnswer) },
  ];
  return { kind: "event", name: view.title || NAMELESS, details: details.filter(({ value }) => value !== "") };
}
