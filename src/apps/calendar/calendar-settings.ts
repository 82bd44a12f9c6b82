import { z } from "zod";
import { refuseSetting } from "../../service/service-error.ts";
import { findZone, type Zone } from "../../shared/base/zones.ts";
import type { CollectionKind } from "../collections/collection-store.ts";
import type { SettingField } from "../port/integration.ts";

/** Calendars as collections of files. */
export const CALENDARS: CollectionKind = {
  ending: ".ics",
  mimetype: "text/calendar; charset=utf-8",
  app: "The calendar server",
  accountType: "caldav",
  first: { id: "personal", name: "personal" },
};

/** Fields of the connect form beside those of the place where the calendars are. */
export const CALENDAR_FIELDS: readonly SettingField[] = [
  {
    name: "timeZone",
    label: "Your time zone",
    kind: "text",
    optional: true,
    help: "For example Europe/Berlin: agents are answered in it unless they ask for another. Default: that of this machine.",
  },
];

const schema = z.looseObject({ timeZone: z.string().trim().optional() });

/** The zone that the owner named, or that of this machine. Throws ServiceError 422 `integration_misconfigured`. */
export function readSettingZone(settings: Readonly<Record<string, unknown>>): Zone {
  return readOwnZone(settings) ?? findNamed(Intl.DateTimeFormat().resolvedOptions().timeZone);
}

/** The zone that the owner named; undefined for none. Throws as {@link readSettingZone} does. */
export function readOwnZone(settings: Readonly<Record<string, unknown>>): Zone | undefined {
  const name = schema.safeParse(settings).data?.timeZone;
  return name ? findNamed(name) : undefined;
}

function findNamed(name: string): Zone {
  const zone = findZone(name);
  if (zone !== undefined) return zone;
  throw refuseSetting("timeZone", "must be the name of a time zone, for example Europe/Berlin.");
}
