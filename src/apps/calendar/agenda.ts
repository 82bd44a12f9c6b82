import type { KeepsItems } from "../collections/kept-item.ts";
import { createActionDefiner, type PlaceAction } from "../port/define-action.ts";
import type { PreviewDraft } from "../port/preview.ts";

/** Which span is looked at, as the arguments name it. */
export interface AgendaSpan {
  /** A day or a time; a day begins at midnight. */
  readonly from: string;
  /** Included where it is a day. */
  readonly to: string;
  /** Name of the zone of the answer; undefined: the one of the connection. */
  readonly zone: string | undefined;
  /** Ids or names of calendars; undefined for all. */
  readonly calendars: readonly string[] | undefined;
}

/** Which event is meant, and what whoever approves saw of it. */
export interface EventTarget {
  readonly eventId: string;
  /** Has to be the present one. */
  readonly title: string;
  /** When the series has the instance, as an earlier answer said. */
  readonly instance: string | undefined;
  readonly wholeSeries: boolean;
  readonly zone: string | undefined;
}

/** Start and end as the arguments name them. */
export interface GivenTimes {
  readonly start?: string | undefined;
  /** The last day where it is one. */
  readonly end?: string | undefined;
  /** Name of the weekday of the start. */
  readonly weekday?: string | undefined;
}

/** Texts of an event; an empty one is taken away. */
interface GivenTexts {
  readonly location?: string | undefined;
  readonly description?: string | undefined;
  readonly rrule?: string | undefined;
}

/** Part of a day in which free time is looked for, as `09:00`, and on which weekdays. */
export interface WorkingHours {
  readonly from: string;
  readonly to: string;
  readonly days: readonly string[];
}

/** What an invited person can answer. */
export const ANSWERS = ["accepted", "declined", "tentative"] as const;

type Answer = Readonly<Record<string, unknown>>;

/**
 * The calendars of one connection for the length of one call. Every method gives the answer of its action, and throws
 * ServiceError for failures it can name; arguments are named as the actions name them.
 */
export interface Agenda extends KeepsItems {
  listCalendars(): Promise<Answer>;
  listEvents(span: AgendaSpan, o: { readonly query: string; readonly limit: number }): Promise<Answer>;
  findFreeTime(
    span: AgendaSpan,
    o: { readonly minutes: number; readonly hours: WorkingHours | undefined; readonly limit: number },
  ): Promise<Answer>;
  read(
    eventId: string,
    o: { readonly instance: string | undefined; readonly zone: string | undefined },
  ): Promise<Answer>;
  create(
    o: {
      readonly title: string;
      readonly calendar: string | undefined;
      readonly zone: string | undefined;
    } & GivenTimes &
      GivenTexts,
  ): Promise<Answer>;
  change(
    target: EventTarget,
    change: { readonly newTitle?: string | undefined } & GivenTimes & GivenTexts,
  ): Promise<Answer>;
  remove(target: EventTarget): Promise<Answer>;
  answer(target: EventTarget, answer: (typeof ANSWERS)[number]): Promise<Answer>;
  /** What `create` would do; like the other previews by reads alone, refused as that would be. */
  previewCreate(o: Parameters<Agenda["create"]>[0]): Promise<PreviewDraft>;
  previewChange(target: EventTarget, change: Parameters<Agenda["change"]>[1]): Promise<PreviewDraft>;
  previewRemoval(target: EventTarget): Promise<PreviewDraft>;
  previewAnswer(target: EventTarget, answer: (typeof ANSWERS)[number]): Promise<PreviewDraft>;
}

/** Opens the calendars of the connection in `context`; does no I/O yet. */
export type OpenAgenda = Parameters<PlaceAction<Agenda>>[0];

/** Defines an action on the calendars of the connection it is called with. */
export const defineCalendarAction = createActionDefiner<Agenda>();
