import { z } from "zod";
import { findZone, type Zone } from "../../../base/zones.ts";
import { refuseSetting } from "../../service-error.ts";
import type { CollectionKind } from "../collections/collection-store.ts";
import type { SettingField } from "../integration.ts";

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

/** The zone of these settings, or ServiceError 422 `integration_misconfigured`. */
export function readSettingZone(settings: Readonly<Record<string, unknown>>): Zone {
  const name = schema.safeParse(settings).data?.timeZone || Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zone = findZone(name);
  if (zone !== undefined) return zone;
  throw refuseSetting("timeZone", "must be the name of a time zone, for example Europe/Berlin.");
}
