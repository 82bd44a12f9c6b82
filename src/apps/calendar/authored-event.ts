import { z } from "zod";
import type { AuthoredPart } from "../../shared/seen/evidence.ts";
import { createAuthors, tellOthers } from "../port/authored.ts";

const { yours, somebody } = createAuthors("calendar");

const text = z.string().optional().catch(undefined);
const organizerSchema = z.looseObject({ address: text, name: text, you: z.boolean().optional().catch(undefined) });
const eventSchema = z.looseObject({
  title: text,
  start: text,
  created: text,
  /** Left out where the event is the account's own, or with `you`. */
  organizer: organizerSchema.optional(),
});
const listSchema = z.looseObject({ events: z.array(eventSchema) });

function partEvent(event: z.output<typeof eventSchema>): AuthoredPart {
  const { title, start, created, organizer } = event;
  const facts = { title, at: created ?? start };
  if (organizer === undefined || organizer.you === true) return yours("event", event, facts);
  const { name, address = "" } = organizer;
  return somebody("invitation", event, { ...facts, by: name === undefined ? address : `${name} <${address}>` });
}

/** Whose the events of a list are: of whoever brought them. */
export function tellEvents(result: unknown): AuthoredPart[] {
  const { data } = listSchema.safeParse(result);
  return data?.events.map(partEvent) ?? [somebody("invitation", result)];
}

/** Whose one event is. */
export function tellEvent(result: unknown): AuthoredPart[] {
  const { data } = eventSchema.safeParse(result);
  return [data === undefined ? somebody("invitation", result) : partEvent(data)];
}

/** An event as a write leaves it. */
export function tellChanged(result: unknown): AuthoredPart[] {
  return tellOthers(tellEvent(result));
}

/** Calendars and free times are the owner's, whoever made the events between them. */
export function tellOwn(result: unknown): AuthoredPart[] {
  return [yours("event", result)];
}
